; Function Attrs: mustprogress nounwind
define void @cumsum(ptr noalias readonly %arg) #0 {
entry:
  %0 = getelementptr inbounds ptr, ptr %arg, i64 0
  %out = load ptr, ptr %0, align 8
  %1 = getelementptr inbounds ptr, ptr %arg, i64 1
  %x = load ptr, ptr %1, align 8
  br label %n.test

n.test:                                           ; preds = %k_tile.end, %entry
  %n = phi i32 [ 0, %entry ], [ %n.next, %k_tile.end ]
  %2 = icmp slt i32 %n, 3
  br i1 %2, label %n.body, label %n.end

n.body:                                           ; preds = %n.test
  %at_n = mul nsw i32 %n, 8
  br label %k_tile.test

k_tile.test:                                      ; preds = %k_tile.body, %n.body
  %acc.0 = phi float [ 0.000000e+00, %n.body ], [ %sum6, %k_tile.body ]
  %k_tile = phi i32 [ 0, %n.body ], [ %k_tile.next, %k_tile.body ]
  %3 = icmp slt i32 %k_tile, 2
  br i1 %3, label %k_tile.body, label %k_tile.end

k_tile.body:                                      ; preds = %k_tile.test
  %k = mul nsw i32 %k_tile, 4
  %at = add nsw i32 %at_n, %k
  %4 = getelementptr inbounds float, ptr %x, i32 %at
  %x_k0 = load float, ptr %4, align 4
  %sum = fadd contract float %acc.0, %x_k0
  %5 = getelementptr inbounds float, ptr %out, i32 %at
  store float %sum, ptr %5, align 4
  %at1 = add nsw i32 %at, 1
  %6 = getelementptr inbounds float, ptr %x, i32 %at1
  %x_k1 = load float, ptr %6, align 4
  %sum2 = fadd contract float %sum, %x_k1
  %7 = getelementptr inbounds float, ptr %out, i32 %at1
  store float %sum2, ptr %7, align 4
  %at3 = add nsw i32 %at, 2
  %8 = getelementptr inbounds float, ptr %x, i32 %at3
  %x_k2 = load float, ptr %8, align 4
  %sum4 = fadd contract float %sum2, %x_k2
  %9 = getelementptr inbounds float, ptr %out, i32 %at3
  store float %sum4, ptr %9, align 4
  %at5 = add nsw i32 %at, 3
  %10 = getelementptr inbounds float, ptr %x, i32 %at5
  %x_k3 = load float, ptr %10, align 4
  %sum6 = fadd contract float %sum4, %x_k3
  %11 = getelementptr inbounds float, ptr %out, i32 %at5
  store float %sum6, ptr %11, align 4
  %k_tile.next = add nsw i32 %k_tile, 1
  br label %k_tile.test

k_tile.end:                                       ; preds = %k_tile.test
  %n.next = add nsw i32 %n, 1
  br label %n.test

n.end:                                            ; preds = %n.test
  ret void
}

attributes #0 = { mustprogress nounwind }
