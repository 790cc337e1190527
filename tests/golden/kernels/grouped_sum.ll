; Function Attrs: mustprogress nounwind
define void @grouped_sum(ptr noalias readonly %arg) #0 {
entry:
  %0 = getelementptr inbounds ptr, ptr %arg, i64 0
  %out = load ptr, ptr %0, align 8
  %1 = getelementptr inbounds ptr, ptr %arg, i64 1
  %x = load ptr, ptr %1, align 8
  br label %n.test

n.test:                                           ; preds = %k_tile.end, %entry
  %n = phi i32 [ 0, %entry ], [ %n.next, %k_tile.end ]
  %2 = icmp slt i32 %n, 8
  br i1 %2, label %n.body, label %n.end

n.body:                                           ; preds = %n.test
  %x_n = mul nsw i32 %n, 64
  br label %k_tile.test

k_tile.test:                                      ; preds = %k_tile.body, %n.body
  %acc.0 = phi float [ 0.000000e+00, %n.body ], [ %sum6, %k_tile.body ]
  %k_tile = phi i32 [ 0, %n.body ], [ %k_tile.next, %k_tile.body ]
  %3 = icmp slt i32 %k_tile, 16
  br i1 %3, label %k_tile.body, label %k_tile.end

k_tile.body:                                      ; preds = %k_tile.test
  %k = mul nsw i32 %k_tile, 4
  %x_at = add nsw i32 %x_n, %k
  %4 = getelementptr inbounds float, ptr %x, i32 %x_at
  %x_k0 = load float, ptr %4, align 4
  %sum = fadd contract float %acc.0, %x_k0
  %x_at1 = add nsw i32 %x_at, 1
  %5 = getelementptr inbounds float, ptr %x, i32 %x_at1
  %x_k1 = load float, ptr %5, align 4
  %sum2 = fadd contract float %sum, %x_k1
  %x_at3 = add nsw i32 %x_at, 2
  %6 = getelementptr inbounds float, ptr %x, i32 %x_at3
  %x_k2 = load float, ptr %6, align 4
  %sum4 = fadd contract float %sum2, %x_k2
  %x_at5 = add nsw i32 %x_at, 3
  %7 = getelementptr inbounds float, ptr %x, i32 %x_at5
  %x_k3 = load float, ptr %7, align 4
  %sum6 = fadd contract float %sum4, %x_k3
  %k_tile.next = add nsw i32 %k_tile, 1
  br label %k_tile.test

k_tile.end:                                       ; preds = %k_tile.test
  %8 = getelementptr inbounds float, ptr %out, i32 %n
  store float %acc.0, ptr %8, align 4
  %n.next = add nsw i32 %n, 1
  br label %n.test

n.end:                                            ; preds = %n.test
  ret void
}

attributes #0 = { mustprogress nounwind }
