; Function Attrs: mustprogress nounwind
define void @symbolic(ptr noalias readonly %arg) #0 {
entry:
  %0 = getelementptr inbounds ptr, ptr %arg, i64 0
  %out = load ptr, ptr %0, align 8
  %1 = getelementptr inbounds ptr, ptr %arg, i64 1
  %x = load ptr, ptr %1, align 8
  %2 = getelementptr inbounds ptr, ptr %arg, i64 2
  %3 = load ptr, ptr %2, align 8
  %n = load i32, ptr %3, align 4
  br label %nn.test

nn.test:                                          ; preds = %nn.body, %entry
  %nn = phi i32 [ 0, %entry ], [ %nn.next, %nn.body ]
  %4 = icmp slt i32 %nn, %n
  br i1 %4, label %nn.body, label %nn.end

nn.body:                                          ; preds = %nn.test
  %x_at = mul nsw i32 %nn, 8
  %5 = getelementptr inbounds float, ptr %x, i32 %x_at
  %x_k0 = load float, ptr %5, align 4
  %sum = fadd contract float 0.000000e+00, %x_k0
  %x_at1 = add nsw i32 %x_at, 1
  %6 = getelementptr inbounds float, ptr %x, i32 %x_at1
  %x_k1 = load float, ptr %6, align 4
  %sum2 = fadd contract float %sum, %x_k1
  %x_at3 = add nsw i32 %x_at, 2
  %7 = getelementptr inbounds float, ptr %x, i32 %x_at3
  %x_k2 = load float, ptr %7, align 4
  %sum4 = fadd contract float %sum2, %x_k2
  %x_at5 = add nsw i32 %x_at, 3
  %8 = getelementptr inbounds float, ptr %x, i32 %x_at5
  %x_k3 = load float, ptr %8, align 4
  %sum6 = fadd contract float %sum4, %x_k3
  %x_at7 = add nsw i32 %x_at, 4
  %9 = getelementptr inbounds float, ptr %x, i32 %x_at7
  %x_k4 = load float, ptr %9, align 4
  %sum8 = fadd contract float %sum6, %x_k4
  %x_at9 = add nsw i32 %x_at, 5
  %10 = getelementptr inbounds float, ptr %x, i32 %x_at9
  %x_k5 = load float, ptr %10, align 4
  %sum10 = fadd contract float %sum8, %x_k5
  %x_at11 = add nsw i32 %x_at, 6
  %11 = getelementptr inbounds float, ptr %x, i32 %x_at11
  %x_k6 = load float, ptr %11, align 4
  %sum12 = fadd contract float %sum10, %x_k6
  %x_at13 = add nsw i32 %x_at, 7
  %12 = getelementptr inbounds float, ptr %x, i32 %x_at13
  %x_k7 = load float, ptr %12, align 4
  %sum14 = fadd contract float %sum12, %x_k7
  %13 = getelementptr inbounds float, ptr %out, i32 %nn
  store float %sum14, ptr %13, align 4
  %nn.next = add nsw i32 %nn, 1
  br label %nn.test

nn.end:                                           ; preds = %nn.test
  ret void
}

attributes #0 = { mustprogress nounwind }
