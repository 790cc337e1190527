; Function Attrs: mustprogress nounwind
define void @matvec(ptr noalias readonly %arg) #0 {
entry:
  %0 = getelementptr inbounds ptr, ptr %arg, i64 0
  %out = load ptr, ptr %0, align 8
  %1 = getelementptr inbounds ptr, ptr %arg, i64 1
  %x = load ptr, ptr %1, align 8
  %2 = getelementptr inbounds ptr, ptr %arg, i64 2
  %y = load ptr, ptr %2, align 8
  %3 = getelementptr inbounds float, ptr %y, i32 0
  %y_k0 = load float, ptr %3, align 4
  %4 = getelementptr inbounds float, ptr %y, i32 1
  %y_k1 = load float, ptr %4, align 4
  %5 = getelementptr inbounds float, ptr %y, i32 2
  %y_k2 = load float, ptr %5, align 4
  %6 = getelementptr inbounds float, ptr %y, i32 3
  %y_k3 = load float, ptr %6, align 4
  %7 = getelementptr inbounds float, ptr %y, i32 4
  %y_k4 = load float, ptr %7, align 4
  %8 = getelementptr inbounds float, ptr %y, i32 5
  %y_k5 = load float, ptr %8, align 4
  %9 = getelementptr inbounds float, ptr %y, i32 6
  %y_k6 = load float, ptr %9, align 4
  %10 = getelementptr inbounds float, ptr %y, i32 7
  %y_k7 = load float, ptr %10, align 4
  br label %n.test

n.test:                                           ; preds = %n.body, %entry
  %n = phi i32 [ 0, %entry ], [ %n.next, %n.body ]
  %11 = icmp slt i32 %n, 16
  br i1 %11, label %n.body, label %n.end

n.body:                                           ; preds = %n.test
  %x_at = mul nsw i32 %n, 8
  %12 = getelementptr inbounds float, ptr %x, i32 %x_at
  %x_k0 = load float, ptr %12, align 4
  %13 = fmul contract float %x_k0, %y_k0
  %sum = fadd contract float 0.000000e+00, %13
  %x_at1 = add nsw i32 %x_at, 1
  %14 = getelementptr inbounds float, ptr %x, i32 %x_at1
  %x_k1 = load float, ptr %14, align 4
  %15 = fmul contract float %x_k1, %y_k1
  %sum2 = fadd contract float %sum, %15
  %x_at3 = add nsw i32 %x_at, 2
  %16 = getelementptr inbounds float, ptr %x, i32 %x_at3
  %x_k2 = load float, ptr %16, align 4
  %17 = fmul contract float %x_k2, %y_k2
  %sum4 = fadd contract float %sum2, %17
  %x_at5 = add nsw i32 %x_at, 3
  %18 = getelementptr inbounds float, ptr %x, i32 %x_at5
  %x_k3 = load float, ptr %18, align 4
  %19 = fmul contract float %x_k3, %y_k3
  %sum6 = fadd contract float %sum4, %19
  %x_at7 = add nsw i32 %x_at, 4
  %20 = getelementptr inbounds float, ptr %x, i32 %x_at7
  %x_k4 = load float, ptr %20, align 4
  %21 = fmul contract float %x_k4, %y_k4
  %sum8 = fadd contract float %sum6, %21
  %x_at9 = add nsw i32 %x_at, 5
  %22 = getelementptr inbounds float, ptr %x, i32 %x_at9
  %x_k5 = load float, ptr %22, align 4
  %23 = fmul contract float %x_k5, %y_k5
  %sum10 = fadd contract float %sum8, %23
  %x_at11 = add nsw i32 %x_at, 6
  %24 = getelementptr inbounds float, ptr %x, i32 %x_at11
  %x_k6 = load float, ptr %24, align 4
  %25 = fmul contract float %x_k6, %y_k6
  %sum12 = fadd contract float %sum10, %25
  %x_at13 = add nsw i32 %x_at, 7
  %26 = getelementptr inbounds float, ptr %x, i32 %x_at13
  %x_k7 = load float, ptr %26, align 4
  %27 = fmul contract float %x_k7, %y_k7
  %sum14 = fadd contract float %sum12, %27
  %28 = getelementptr inbounds float, ptr %out, i32 %n
  store float %sum14, ptr %28, align 4
  %n.next = add nsw i32 %n, 1
  br label %n.test

n.end:                                            ; preds = %n.test
  ret void
}

attributes #0 = { mustprogress nounwind }
