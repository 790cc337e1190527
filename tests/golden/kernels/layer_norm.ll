; Function Attrs: mustprogress nounwind
define void @layer_norm(ptr noalias readonly %arg) #0 {
entry:
  %0 = getelementptr inbounds ptr, ptr %arg, i64 0
  %out = load ptr, ptr %0, align 8
  %1 = getelementptr inbounds ptr, ptr %arg, i64 1
  %x = load ptr, ptr %1, align 8
  br label %n.test

n.test:                                           ; preds = %k_tile_3.end, %entry
  %n = phi i32 [ 0, %entry ], [ %n.next, %k_tile_3.end ]
  %2 = icmp slt i32 %n, 3
  br i1 %2, label %n.body, label %n.end

n.body:                                           ; preds = %n.test
  %at_n = mul nsw i32 %n, 8
  br label %k_tile.test

k_tile.test:                                      ; preds = %k_tile.body, %n.body
  %sum.0 = phi float [ 0.000000e+00, %n.body ], [ %sum7, %k_tile.body ]
  %k_tile = phi i32 [ 0, %n.body ], [ %k_tile.next, %k_tile.body ]
  %3 = icmp slt i32 %k_tile, 2
  br i1 %3, label %k_tile.body, label %k_tile.end

k_tile.body:                                      ; preds = %k_tile.test
  %k = mul nsw i32 %k_tile, 4
  %x_at = add nsw i32 %at_n, %k
  %4 = getelementptr inbounds float, ptr %x, i32 %x_at
  %x_k0 = load float, ptr %4, align 4
  %sum1 = fadd contract float %sum.0, %x_k0
  %x_at2 = add nsw i32 %x_at, 1
  %5 = getelementptr inbounds float, ptr %x, i32 %x_at2
  %x_k1 = load float, ptr %5, align 4
  %sum3 = fadd contract float %sum1, %x_k1
  %x_at4 = add nsw i32 %x_at, 2
  %6 = getelementptr inbounds float, ptr %x, i32 %x_at4
  %x_k2 = load float, ptr %6, align 4
  %sum5 = fadd contract float %sum3, %x_k2
  %x_at6 = add nsw i32 %x_at, 3
  %7 = getelementptr inbounds float, ptr %x, i32 %x_at6
  %x_k3 = load float, ptr %7, align 4
  %sum7 = fadd contract float %sum5, %x_k3
  %k_tile.next = add nsw i32 %k_tile, 1
  br label %k_tile.test

k_tile.end:                                       ; preds = %k_tile.test
  %product = fmul contract float %sum.0, 1.250000e-01
  br label %k_tile_2.test

k_tile_2.test:                                    ; preds = %k_tile_2.body, %k_tile.end
  %sum8.0 = phi float [ 0.000000e+00, %k_tile.end ], [ %sum21, %k_tile_2.body ]
  %k_tile_2 = phi i32 [ 0, %k_tile.end ], [ %k_tile_2.next, %k_tile_2.body ]
  %8 = icmp slt i32 %k_tile_2, 2
  br i1 %8, label %k_tile_2.body, label %k_tile_2.end

k_tile_2.body:                                    ; preds = %k_tile_2.test
  %k9 = mul nsw i32 %k_tile_2, 4
  %x_at10 = add nsw i32 %at_n, %k9
  %9 = getelementptr inbounds float, ptr %x, i32 %x_at10
  %x_k011 = load float, ptr %9, align 4
  %diff_k0 = fsub contract float %x_k011, %product
  %10 = fmul contract float %diff_k0, %diff_k0
  %sum12 = fadd contract float %sum8.0, %10
  %x_at13 = add nsw i32 %x_at10, 1
  %11 = getelementptr inbounds float, ptr %x, i32 %x_at13
  %x_k114 = load float, ptr %11, align 4
  %diff_k1 = fsub contract float %x_k114, %product
  %12 = fmul contract float %diff_k1, %diff_k1
  %sum15 = fadd contract float %sum12, %12
  %x_at16 = add nsw i32 %x_at10, 2
  %13 = getelementptr inbounds float, ptr %x, i32 %x_at16
  %x_k217 = load float, ptr %13, align 4
  %diff_k2 = fsub contract float %x_k217, %product
  %14 = fmul contract float %diff_k2, %diff_k2
  %sum18 = fadd contract float %sum15, %14
  %x_at19 = add nsw i32 %x_at10, 3
  %15 = getelementptr inbounds float, ptr %x, i32 %x_at19
  %x_k320 = load float, ptr %15, align 4
  %diff_k3 = fsub contract float %x_k320, %product
  %16 = fmul contract float %diff_k3, %diff_k3
  %sum21 = fadd contract float %sum18, %16
  %k_tile_2.next = add nsw i32 %k_tile_2, 1
  br label %k_tile_2.test

k_tile_2.end:                                     ; preds = %k_tile_2.test
  %product22 = fmul contract float %sum8.0, 1.250000e-01
  %sum23 = fadd contract float %product22, 0x3EE4F8B580000000
  %sqrt_value = call float @llvm.sqrt.f32(float %sum23)
  br label %k_tile_3.test

k_tile_3.test:                                    ; preds = %k_tile_3.body, %k_tile_2.end
  %k_tile_3 = phi i32 [ 0, %k_tile_2.end ], [ %k_tile_3.next, %k_tile_3.body ]
  %17 = icmp slt i32 %k_tile_3, 2
  br i1 %17, label %k_tile_3.body, label %k_tile_3.end

k_tile_3.body:                                    ; preds = %k_tile_3.test
  %k24 = mul nsw i32 %k_tile_3, 4
  %at = add nsw i32 %at_n, %k24
  %18 = getelementptr inbounds float, ptr %x, i32 %at
  %x_k025 = load float, ptr %18, align 4
  %diff_k026 = fsub contract float %x_k025, %product
  %ratio_k0 = fdiv float %diff_k026, %sqrt_value
  %19 = getelementptr inbounds float, ptr %out, i32 %at
  store float %ratio_k0, ptr %19, align 4
  %at27 = add nsw i32 %at, 1
  %20 = getelementptr inbounds float, ptr %x, i32 %at27
  %x_k128 = load float, ptr %20, align 4
  %diff_k129 = fsub contract float %x_k128, %product
  %ratio_k1 = fdiv float %diff_k129, %sqrt_value
  %21 = getelementptr inbounds float, ptr %out, i32 %at27
  store float %ratio_k1, ptr %21, align 4
  %at30 = add nsw i32 %at, 2
  %22 = getelementptr inbounds float, ptr %x, i32 %at30
  %x_k231 = load float, ptr %22, align 4
  %diff_k232 = fsub contract float %x_k231, %product
  %ratio_k2 = fdiv float %diff_k232, %sqrt_value
  %23 = getelementptr inbounds float, ptr %out, i32 %at30
  store float %ratio_k2, ptr %23, align 4
  %at33 = add nsw i32 %at, 3
  %24 = getelementptr inbounds float, ptr %x, i32 %at33
  %x_k334 = load float, ptr %24, align 4
  %diff_k335 = fsub contract float %x_k334, %product
  %ratio_k3 = fdiv float %diff_k335, %sqrt_value
  %25 = getelementptr inbounds float, ptr %out, i32 %at33
  store float %ratio_k3, ptr %25, align 4
  %k_tile_3.next = add nsw i32 %k_tile_3, 1
  br label %k_tile_3.test

k_tile_3.end:                                     ; preds = %k_tile_3.test
  %n.next = add nsw i32 %n, 1
  br label %n.test

n.end:                                            ; preds = %n.test
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.sqrt.f32(float) #1

attributes #0 = { mustprogress nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
