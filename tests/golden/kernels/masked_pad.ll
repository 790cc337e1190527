; Function Attrs: mustprogress nounwind
define void @masked_pad(ptr noalias readonly %arg) #0 {
entry:
  %0 = getelementptr inbounds ptr, ptr %arg, i64 0
  %out = load ptr, ptr %0, align 8
  %1 = getelementptr inbounds ptr, ptr %arg, i64 1
  %x = load ptr, ptr %1, align 8
  %2 = getelementptr inbounds float, ptr %out, i32 0
  store float 0.000000e+00, ptr %2, align 4
  %3 = getelementptr inbounds float, ptr %out, i32 7
  store float 0.000000e+00, ptr %3, align 4
  %4 = getelementptr inbounds float, ptr %out, i32 14
  store float 0.000000e+00, ptr %4, align 4
  %5 = getelementptr inbounds float, ptr %out, i32 21
  store float 0.000000e+00, ptr %5, align 4
  %6 = getelementptr inbounds float, ptr %out, i32 1
  store float 0.000000e+00, ptr %6, align 4
  %7 = getelementptr inbounds float, ptr %x, i32 0
  %x_m1_n1 = load float, ptr %7, align 4
  %8 = getelementptr inbounds float, ptr %out, i32 8
  store float %x_m1_n1, ptr %8, align 4
  %9 = getelementptr inbounds float, ptr %x, i32 5
  %x_m2_n1 = load float, ptr %9, align 4
  %10 = getelementptr inbounds float, ptr %out, i32 15
  store float %x_m2_n1, ptr %10, align 4
  %11 = getelementptr inbounds float, ptr %out, i32 22
  store float 0.000000e+00, ptr %11, align 4
  %12 = getelementptr inbounds float, ptr %out, i32 2
  store float 0.000000e+00, ptr %12, align 4
  %13 = getelementptr inbounds float, ptr %x, i32 1
  %x_m1_n2 = load float, ptr %13, align 4
  %14 = getelementptr inbounds float, ptr %out, i32 9
  store float %x_m1_n2, ptr %14, align 4
  %15 = getelementptr inbounds float, ptr %x, i32 6
  %x_m2_n2 = load float, ptr %15, align 4
  %16 = getelementptr inbounds float, ptr %out, i32 16
  store float %x_m2_n2, ptr %16, align 4
  %17 = getelementptr inbounds float, ptr %out, i32 23
  store float 0.000000e+00, ptr %17, align 4
  %18 = getelementptr inbounds float, ptr %out, i32 3
  store float 0.000000e+00, ptr %18, align 4
  %19 = getelementptr inbounds float, ptr %x, i32 2
  %x_m1_n3 = load float, ptr %19, align 4
  %20 = getelementptr inbounds float, ptr %out, i32 10
  store float %x_m1_n3, ptr %20, align 4
  %21 = getelementptr inbounds float, ptr %x, i32 7
  %x_m2_n3 = load float, ptr %21, align 4
  %22 = getelementptr inbounds float, ptr %out, i32 17
  store float %x_m2_n3, ptr %22, align 4
  %23 = getelementptr inbounds float, ptr %out, i32 24
  store float 0.000000e+00, ptr %23, align 4
  %24 = getelementptr inbounds float, ptr %out, i32 4
  store float 0.000000e+00, ptr %24, align 4
  %25 = getelementptr inbounds float, ptr %x, i32 3
  %x_m1_n4 = load float, ptr %25, align 4
  %26 = getelementptr inbounds float, ptr %out, i32 11
  store float %x_m1_n4, ptr %26, align 4
  %27 = getelementptr inbounds float, ptr %x, i32 8
  %x_m2_n4 = load float, ptr %27, align 4
  %28 = getelementptr inbounds float, ptr %out, i32 18
  store float %x_m2_n4, ptr %28, align 4
  %29 = getelementptr inbounds float, ptr %out, i32 25
  store float 0.000000e+00, ptr %29, align 4
  %30 = getelementptr inbounds float, ptr %out, i32 5
  store float 0.000000e+00, ptr %30, align 4
  %31 = getelementptr inbounds float, ptr %x, i32 4
  %x_m1_n5 = load float, ptr %31, align 4
  %32 = getelementptr inbounds float, ptr %out, i32 12
  store float %x_m1_n5, ptr %32, align 4
  %33 = getelementptr inbounds float, ptr %x, i32 9
  %x_m2_n5 = load float, ptr %33, align 4
  %34 = getelementptr inbounds float, ptr %out, i32 19
  store float %x_m2_n5, ptr %34, align 4
  %35 = getelementptr inbounds float, ptr %out, i32 26
  store float 0.000000e+00, ptr %35, align 4
  %36 = getelementptr inbounds float, ptr %out, i32 6
  store float 0.000000e+00, ptr %36, align 4
  %37 = getelementptr inbounds float, ptr %out, i32 13
  store float 0.000000e+00, ptr %37, align 4
  %38 = getelementptr inbounds float, ptr %out, i32 20
  store float 0.000000e+00, ptr %38, align 4
  %39 = getelementptr inbounds float, ptr %out, i32 27
  store float 0.000000e+00, ptr %39, align 4
  ret void
}

attributes #0 = { mustprogress nounwind }
