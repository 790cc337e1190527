; Function Attrs: mustprogress nounwind
define void @matmul(ptr noalias readonly %arg) #0 {
entry:
  %0 = getelementptr inbounds ptr, ptr %arg, i64 0
  %out = load ptr, ptr %0, align 8
  %1 = getelementptr inbounds ptr, ptr %arg, i64 1
  %x = load ptr, ptr %1, align 8
  %2 = getelementptr inbounds ptr, ptr %arg, i64 2
  %y = load ptr, ptr %2, align 8
  br label %m.test

m.test:                                           ; preds = %n.end, %entry
  %m = phi i32 [ 0, %entry ], [ %m.next, %n.end ]
  %3 = icmp slt i32 %m, 4
  br i1 %3, label %m.body, label %m.end

m.body:                                           ; preds = %m.test
  %x_at = mul nsw i32 %m, 8
  %4 = getelementptr inbounds float, ptr %x, i32 %x_at
  %x_k0 = load float, ptr %4, align 4
  %x_at1 = add nsw i32 %x_at, 1
  %5 = getelementptr inbounds float, ptr %x, i32 %x_at1
  %x_k1 = load float, ptr %5, align 4
  %x_at2 = add nsw i32 %x_at, 2
  %6 = getelementptr inbounds float, ptr %x, i32 %x_at2
  %x_k2 = load float, ptr %6, align 4
  %x_at3 = add nsw i32 %x_at, 3
  %7 = getelementptr inbounds float, ptr %x, i32 %x_at3
  %x_k3 = load float, ptr %7, align 4
  %x_at4 = add nsw i32 %x_at, 4
  %8 = getelementptr inbounds float, ptr %x, i32 %x_at4
  %x_k4 = load float, ptr %8, align 4
  %x_at5 = add nsw i32 %x_at, 5
  %9 = getelementptr inbounds float, ptr %x, i32 %x_at5
  %x_k5 = load float, ptr %9, align 4
  %x_at6 = add nsw i32 %x_at, 6
  %10 = getelementptr inbounds float, ptr %x, i32 %x_at6
  %x_k6 = load float, ptr %10, align 4
  %x_at7 = add nsw i32 %x_at, 7
  %11 = getelementptr inbounds float, ptr %x, i32 %x_at7
  %x_k7 = load float, ptr %11, align 4
  %out_at = mul nsw i32 %m, 6
  br label %n.test

n.test:                                           ; preds = %n.body, %m.body
  %n = phi i32 [ 0, %m.body ], [ %n.next, %n.body ]
  %12 = icmp slt i32 %n, 6
  br i1 %12, label %n.body, label %n.end

n.body:                                           ; preds = %n.test
  %y_at = mul nsw i32 %n, 8
  %13 = getelementptr inbounds float, ptr %y, i32 %y_at
  %y_k0 = load float, ptr %13, align 4
  %14 = fmul contract float %x_k0, %y_k0
  %sum = fadd contract float 0.000000e+00, %14
  %y_at8 = add nsw i32 %y_at, 1
  %15 = getelementptr inbounds float, ptr %y, i32 %y_at8
  %y_k1 = load float, ptr %15, align 4
  %16 = fmul contract float %x_k1, %y_k1
  %sum9 = fadd contract float %sum, %16
  %y_at10 = add nsw i32 %y_at, 2
  %17 = getelementptr inbounds float, ptr %y, i32 %y_at10
  %y_k2 = load float, ptr %17, align 4
  %18 = fmul contract float %x_k2, %y_k2
  %sum11 = fadd contract float %sum9, %18
  %y_at12 = add nsw i32 %y_at, 3
  %19 = getelementptr inbounds float, ptr %y, i32 %y_at12
  %y_k3 = load float, ptr %19, align 4
  %20 = fmul contract float %x_k3, %y_k3
  %sum13 = fadd contract float %sum11, %20
  %y_at14 = add nsw i32 %y_at, 4
  %21 = getelementptr inbounds float, ptr %y, i32 %y_at14
  %y_k4 = load float, ptr %21, align 4
  %22 = fmul contract float %x_k4, %y_k4
  %sum15 = fadd contract float %sum13, %22
  %y_at16 = add nsw i32 %y_at, 5
  %23 = getelementptr inbounds float, ptr %y, i32 %y_at16
  %y_k5 = load float, ptr %23, align 4
  %24 = fmul contract float %x_k5, %y_k5
  %sum17 = fadd contract float %sum15, %24
  %y_at18 = add nsw i32 %y_at, 6
  %25 = getelementptr inbounds float, ptr %y, i32 %y_at18
  %y_k6 = load float, ptr %25, align 4
  %26 = fmul contract float %x_k6, %y_k6
  %sum19 = fadd contract float %sum17, %26
  %y_at20 = add nsw i32 %y_at, 7
  %27 = getelementptr inbounds float, ptr %y, i32 %y_at20
  %y_k7 = load float, ptr %27, align 4
  %28 = fmul contract float %x_k7, %y_k7
  %sum21 = fadd contract float %sum19, %28
  %out_at22 = add nsw i32 %out_at, %n
  %29 = getelementptr inbounds float, ptr %out, i32 %out_at22
  store float %sum21, ptr %29, align 4
  %n.next = add nsw i32 %n, 1
  br label %n.test

n.end:                                            ; preds = %n.test
  %m.next = add nsw i32 %m, 1
  br label %m.test

m.end:                                            ; preds = %m.test
  ret void
}

attributes #0 = { mustprogress nounwind }
