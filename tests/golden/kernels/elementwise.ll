; Function Attrs: mustprogress nounwind
define void @elementwise(ptr noalias readonly %arg) #0 {
entry:
  %0 = getelementptr inbounds ptr, ptr %arg, i64 0
  %out = load ptr, ptr %0, align 8
  %1 = getelementptr inbounds ptr, ptr %arg, i64 1
  %x = load ptr, ptr %1, align 8
  %2 = getelementptr inbounds ptr, ptr %arg, i64 2
  %y = load ptr, ptr %2, align 8
  br label %n_tile.test

n_tile.test:                                      ; preds = %n_tile.body, %entry
  %n_tile = phi i32 [ 0, %entry ], [ %n_tile.next, %n_tile.body ]
  %3 = icmp slt i32 %n_tile, 3
  br i1 %3, label %n_tile.body, label %n_tile.end

n_tile.body:                                      ; preds = %n_tile.test
  %n = mul nsw i32 %n_tile, 4
  %4 = getelementptr inbounds float, ptr %x, i32 %n
  %x_n0 = load float, ptr %4, align 4
  %5 = getelementptr inbounds float, ptr %y, i32 %n
  %y_n0 = load float, ptr %5, align 4
  %sum_n0 = fadd contract float %x_n0, %y_n0
  %product_n0 = fmul contract float %sum_n0, %x_n0
  %6 = getelementptr inbounds float, ptr %out, i32 %n
  store float %product_n0, ptr %6, align 4
  %at = add nsw i32 %n, 1
  %7 = getelementptr inbounds float, ptr %x, i32 %at
  %x_n1 = load float, ptr %7, align 4
  %8 = getelementptr inbounds float, ptr %y, i32 %at
  %y_n1 = load float, ptr %8, align 4
  %sum_n1 = fadd contract float %x_n1, %y_n1
  %product_n1 = fmul contract float %sum_n1, %x_n1
  %9 = getelementptr inbounds float, ptr %out, i32 %at
  store float %product_n1, ptr %9, align 4
  %at1 = add nsw i32 %n, 2
  %10 = getelementptr inbounds float, ptr %x, i32 %at1
  %x_n2 = load float, ptr %10, align 4
  %11 = getelementptr inbounds float, ptr %y, i32 %at1
  %y_n2 = load float, ptr %11, align 4
  %sum_n2 = fadd contract float %x_n2, %y_n2
  %product_n2 = fmul contract float %sum_n2, %x_n2
  %12 = getelementptr inbounds float, ptr %out, i32 %at1
  store float %product_n2, ptr %12, align 4
  %at2 = add nsw i32 %n, 3
  %13 = getelementptr inbounds float, ptr %x, i32 %at2
  %x_n3 = load float, ptr %13, align 4
  %14 = getelementptr inbounds float, ptr %y, i32 %at2
  %y_n3 = load float, ptr %14, align 4
  %sum_n3 = fadd contract float %x_n3, %y_n3
  %product_n3 = fmul contract float %sum_n3, %x_n3
  %15 = getelementptr inbounds float, ptr %out, i32 %at2
  store float %product_n3, ptr %15, align 4
  %n_tile.next = add nsw i32 %n_tile, 1
  br label %n_tile.test

n_tile.end:                                       ; preds = %n_tile.test
  ret void
}

attributes #0 = { mustprogress nounwind }
