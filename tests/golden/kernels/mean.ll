; Function Attrs: mustprogress nounwind
define void @mean(ptr noalias readonly %arg) #0 {
entry:
  %0 = getelementptr inbounds ptr, ptr %arg, i64 0
  %out = load ptr, ptr %0, align 8
  %1 = getelementptr inbounds ptr, ptr %arg, i64 1
  %x = load ptr, ptr %1, align 8
  br label %n.test

n.test:                                           ; preds = %n.body, %entry
  %n = phi i32 [ 0, %entry ], [ %n.next, %n.body ]
  %2 = icmp slt i32 %n, 3
  br i1 %2, label %n.body, label %n.end

n.body:                                           ; preds = %n.test
  %x_at = mul nsw i32 %n, 8
  %3 = getelementptr inbounds float, ptr %x, i32 %x_at
  %x_k0 = load float, ptr %3, align 4
  %sum = fadd contract float 0.000000e+00, %x_k0
  %x_at1 = add nsw i32 %x_at, 1
  %4 = getelementptr inbounds float, ptr %x, i32 %x_at1
  %x_k1 = load float, ptr %4, align 4
  %sum2 = fadd contract float %sum, %x_k1
  %x_at3 = add nsw i32 %x_at, 2
  %5 = getelementptr inbounds float, ptr %x, i32 %x_at3
  %x_k2 = load float, ptr %5, align 4
  %sum4 = fadd contract float %sum2, %x_k2
  %x_at5 = add nsw i32 %x_at, 3
  %6 = getelementptr inbounds float, ptr %x, i32 %x_at5
  %x_k3 = load float, ptr %6, align 4
  %sum6 = fadd contract float %sum4, %x_k3
  %x_at7 = add nsw i32 %x_at, 4
  %7 = getelementptr inbounds float, ptr %x, i32 %x_at7
  %x_k4 = load float, ptr %7, align 4
  %sum8 = fadd contract float %sum6, %x_k4
  %x_at9 = add nsw i32 %x_at, 5
  %8 = getelementptr inbounds float, ptr %x, i32 %x_at9
  %x_k5 = load float, ptr %8, align 4
  %sum10 = fadd contract float %sum8, %x_k5
  %x_at11 = add nsw i32 %x_at, 6
  %9 = getelementptr inbounds float, ptr %x, i32 %x_at11
  %x_k6 = load float, ptr %9, align 4
  %sum12 = fadd contract float %sum10, %x_k6
  %x_at13 = add nsw i32 %x_at, 7
  %10 = getelementptr inbounds float, ptr %x, i32 %x_at13
  %x_k7 = load float, ptr %10, align 4
  %sum14 = fadd contract float %sum12, %x_k7
  %product = fmul contract float %sum14, 1.250000e-01
  %11 = getelementptr inbounds float, ptr %out, i32 %n
  store float %product, ptr %11, align 4
  %n.next = add nsw i32 %n, 1
  br label %n.test

n.end:                                            ; preds = %n.test
  ret void
}

attributes #0 = { mustprogress nounwind }
