; Function Attrs: mustprogress nounwind
define void @dot_product(ptr noalias readonly %arg) #0 {
entry:
  %tile = alloca [32 x i32], align 64
  %0 = getelementptr inbounds ptr, ptr %arg, i64 0
  %out = load ptr, ptr %0, align 8
  %1 = getelementptr inbounds ptr, ptr %arg, i64 1
  %x = load ptr, ptr %1, align 8
  %2 = getelementptr inbounds ptr, ptr %arg, i64 2
  %y = load ptr, ptr %2, align 8
  %3 = getelementptr inbounds i8, ptr %x, i32 0
  %x_value = load <4 x i8>, ptr %3, align 1
  %4 = getelementptr inbounds i8, ptr %y, i32 0
  %y_value = load <64 x i8>, ptr %4, align 1
  %5 = shufflevector <4 x i8> %x_value, <4 x i8> poison, <64 x i32> <i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3>
  %value = call <16 x i32> @etch_vpdpbusd(<16 x i32> zeroinitializer, <64 x i8> %5, <64 x i8> %y_value)
  %6 = getelementptr inbounds i8, ptr %x, i32 8
  %x_value1 = load <4 x i8>, ptr %6, align 1
  %7 = shufflevector <4 x i8> %x_value1, <4 x i8> poison, <64 x i32> <i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3>
  %value2 = call <16 x i32> @etch_vpdpbusd(<16 x i32> zeroinitializer, <64 x i8> %7, <64 x i8> %y_value)
  %8 = getelementptr inbounds i8, ptr %x, i32 4
  %x_value3 = load <4 x i8>, ptr %8, align 1
  %9 = getelementptr inbounds i8, ptr %y, i32 64
  %y_value4 = load <64 x i8>, ptr %9, align 1
  %10 = shufflevector <4 x i8> %x_value3, <4 x i8> poison, <64 x i32> <i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3>
  %value5 = call <16 x i32> @etch_vpdpbusd(<16 x i32> %value, <64 x i8> %10, <64 x i8> %y_value4)
  %11 = getelementptr inbounds i8, ptr %x, i32 12
  %x_value6 = load <4 x i8>, ptr %11, align 1
  %12 = shufflevector <4 x i8> %x_value6, <4 x i8> poison, <64 x i32> <i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3>
  %value7 = call <16 x i32> @etch_vpdpbusd(<16 x i32> %value2, <64 x i8> %12, <64 x i8> %y_value4)
  %13 = getelementptr inbounds i32, ptr %tile, i32 0
  store <16 x i32> %value5, ptr %13, align 4
  %14 = getelementptr inbounds i32, ptr %tile, i32 16
  store <16 x i32> %value7, ptr %14, align 4
  br label %lane.test

lane.test:                                        ; preds = %lane.body, %entry
  %lane = phi i32 [ 0, %entry ], [ %lane.next, %lane.body ]
  %15 = icmp slt i32 %lane, 16
  br i1 %15, label %lane.body, label %lane.end

lane.body:                                        ; preds = %lane.test
  %16 = getelementptr inbounds i32, ptr %tile, i32 %lane
  %tile_m0 = load i32, ptr %16, align 4
  %17 = getelementptr inbounds i32, ptr %out, i32 %lane
  store i32 %tile_m0, ptr %17, align 4
  %at = add nsw i32 %lane, 16
  %18 = getelementptr inbounds i32, ptr %tile, i32 %at
  %tile_m1 = load i32, ptr %18, align 4
  %19 = getelementptr inbounds i32, ptr %out, i32 %at
  store i32 %tile_m1, ptr %19, align 4
  %lane.next = add nsw i32 %lane, 1
  br label %lane.test

lane.end:                                         ; preds = %lane.test
  ret void
}

; Function Attrs: alwaysinline
define internal <16 x i32> @etch_vpdpbusd(<16 x i32> %0, <64 x i8> %1, <64 x i8> %2) #1 {
entry:
  %3 = shufflevector <64 x i8> %1, <64 x i8> poison, <16 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28, i32 32, i32 36, i32 40, i32 44, i32 48, i32 52, i32 56, i32 60>
  %4 = zext <16 x i8> %3 to <16 x i32>
  %5 = shufflevector <64 x i8> %2, <64 x i8> poison, <16 x i32> <i32 0, i32 4, i32 8, i32 12, i32 16, i32 20, i32 24, i32 28, i32 32, i32 36, i32 40, i32 44, i32 48, i32 52, i32 56, i32 60>
  %6 = sext <16 x i8> %5 to <16 x i32>
  %7 = mul <16 x i32> %4, %6
  %8 = add <16 x i32> %0, %7
  %9 = shufflevector <64 x i8> %1, <64 x i8> poison, <16 x i32> <i32 1, i32 5, i32 9, i32 13, i32 17, i32 21, i32 25, i32 29, i32 33, i32 37, i32 41, i32 45, i32 49, i32 53, i32 57, i32 61>
  %10 = zext <16 x i8> %9 to <16 x i32>
  %11 = shufflevector <64 x i8> %2, <64 x i8> poison, <16 x i32> <i32 1, i32 5, i32 9, i32 13, i32 17, i32 21, i32 25, i32 29, i32 33, i32 37, i32 41, i32 45, i32 49, i32 53, i32 57, i32 61>
  %12 = sext <16 x i8> %11 to <16 x i32>
  %13 = mul <16 x i32> %10, %12
  %14 = add <16 x i32> %8, %13
  %15 = shufflevector <64 x i8> %1, <64 x i8> poison, <16 x i32> <i32 2, i32 6, i32 10, i32 14, i32 18, i32 22, i32 26, i32 30, i32 34, i32 38, i32 42, i32 46, i32 50, i32 54, i32 58, i32 62>
  %16 = zext <16 x i8> %15 to <16 x i32>
  %17 = shufflevector <64 x i8> %2, <64 x i8> poison, <16 x i32> <i32 2, i32 6, i32 10, i32 14, i32 18, i32 22, i32 26, i32 30, i32 34, i32 38, i32 42, i32 46, i32 50, i32 54, i32 58, i32 62>
  %18 = sext <16 x i8> %17 to <16 x i32>
  %19 = mul <16 x i32> %16, %18
  %20 = add <16 x i32> %14, %19
  %21 = shufflevector <64 x i8> %1, <64 x i8> poison, <16 x i32> <i32 3, i32 7, i32 11, i32 15, i32 19, i32 23, i32 27, i32 31, i32 35, i32 39, i32 43, i32 47, i32 51, i32 55, i32 59, i32 63>
  %22 = zext <16 x i8> %21 to <16 x i32>
  %23 = shufflevector <64 x i8> %2, <64 x i8> poison, <16 x i32> <i32 3, i32 7, i32 11, i32 15, i32 19, i32 23, i32 27, i32 31, i32 35, i32 39, i32 43, i32 47, i32 51, i32 55, i32 59, i32 63>
  %24 = sext <16 x i8> %23 to <16 x i32>
  %25 = mul <16 x i32> %22, %24
  %26 = add <16 x i32> %20, %25
  ret <16 x i32> %26
}

attributes #0 = { mustprogress nounwind }
attributes #1 = { alwaysinline "etch-feature"="avx512vnni" "etch-intrinsic"="llvm.x86.avx512.vpdpbusd.512" }
