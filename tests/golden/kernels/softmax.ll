; Function Attrs: mustprogress nounwind
define void @softmax(ptr noalias readonly %arg) #0 {
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
  %largest.0 = phi float [ 0xFFF0000000000000, %n.body ], [ %larger6, %k_tile.body ]
  %k_tile = phi i32 [ 0, %n.body ], [ %k_tile.next, %k_tile.body ]
  %3 = icmp slt i32 %k_tile, 2
  br i1 %3, label %k_tile.body, label %k_tile.end

k_tile.body:                                      ; preds = %k_tile.test
  %k = mul nsw i32 %k_tile, 4
  %x_at = add nsw i32 %at_n, %k
  %4 = getelementptr inbounds float, ptr %x, i32 %x_at
  %x_k0 = load float, ptr %4, align 4
  %5 = fcmp olt float %largest.0, %x_k0
  %6 = fcmp uno float %x_k0, %x_k0
  %7 = or i1 %5, %6
  %larger = select i1 %7, float %x_k0, float %largest.0
  %x_at1 = add nsw i32 %x_at, 1
  %8 = getelementptr inbounds float, ptr %x, i32 %x_at1
  %x_k1 = load float, ptr %8, align 4
  %9 = fcmp olt float %larger, %x_k1
  %10 = fcmp uno float %x_k1, %x_k1
  %11 = or i1 %9, %10
  %larger2 = select i1 %11, float %x_k1, float %larger
  %x_at3 = add nsw i32 %x_at, 2
  %12 = getelementptr inbounds float, ptr %x, i32 %x_at3
  %x_k2 = load float, ptr %12, align 4
  %13 = fcmp olt float %larger2, %x_k2
  %14 = fcmp uno float %x_k2, %x_k2
  %15 = or i1 %13, %14
  %larger4 = select i1 %15, float %x_k2, float %larger2
  %x_at5 = add nsw i32 %x_at, 3
  %16 = getelementptr inbounds float, ptr %x, i32 %x_at5
  %x_k3 = load float, ptr %16, align 4
  %17 = fcmp olt float %larger4, %x_k3
  %18 = fcmp uno float %x_k3, %x_k3
  %19 = or i1 %17, %18
  %larger6 = select i1 %19, float %x_k3, float %larger4
  %k_tile.next = add nsw i32 %k_tile, 1
  br label %k_tile.test

k_tile.end:                                       ; preds = %k_tile.test
  br label %k_tile_2.test

k_tile_2.test:                                    ; preds = %k_tile_2.body, %k_tile.end
  %sum.0 = phi float [ 0.000000e+00, %k_tile.end ], [ %sum18, %k_tile_2.body ]
  %k_tile_2 = phi i32 [ 0, %k_tile.end ], [ %k_tile_2.next, %k_tile_2.body ]
  %20 = icmp slt i32 %k_tile_2, 2
  br i1 %20, label %k_tile_2.body, label %k_tile_2.end

k_tile_2.body:                                    ; preds = %k_tile_2.test
  %k7 = mul nsw i32 %k_tile_2, 4
  %at = add nsw i32 %at_n, %k7
  %21 = getelementptr inbounds float, ptr %x, i32 %at
  %x_k08 = load float, ptr %21, align 4
  %diff_k0 = fsub contract float %x_k08, %largest.0
  %exp_value_k0 = call float @expf(float %diff_k0)
  %22 = getelementptr inbounds float, ptr %out, i32 %at
  store float %exp_value_k0, ptr %22, align 4
  %sum9 = fadd contract float %sum.0, %exp_value_k0
  %at10 = add nsw i32 %at, 1
  %23 = getelementptr inbounds float, ptr %x, i32 %at10
  %x_k111 = load float, ptr %23, align 4
  %diff_k1 = fsub contract float %x_k111, %largest.0
  %exp_value_k1 = call float @expf(float %diff_k1)
  %24 = getelementptr inbounds float, ptr %out, i32 %at10
  store float %exp_value_k1, ptr %24, align 4
  %sum12 = fadd contract float %sum9, %exp_value_k1
  %at13 = add nsw i32 %at, 2
  %25 = getelementptr inbounds float, ptr %x, i32 %at13
  %x_k214 = load float, ptr %25, align 4
  %diff_k2 = fsub contract float %x_k214, %largest.0
  %exp_value_k2 = call float @expf(float %diff_k2)
  %26 = getelementptr inbounds float, ptr %out, i32 %at13
  store float %exp_value_k2, ptr %26, align 4
  %sum15 = fadd contract float %sum12, %exp_value_k2
  %at16 = add nsw i32 %at, 3
  %27 = getelementptr inbounds float, ptr %x, i32 %at16
  %x_k317 = load float, ptr %27, align 4
  %diff_k3 = fsub contract float %x_k317, %largest.0
  %exp_value_k3 = call float @expf(float %diff_k3)
  %28 = getelementptr inbounds float, ptr %out, i32 %at16
  store float %exp_value_k3, ptr %28, align 4
  %sum18 = fadd contract float %sum15, %exp_value_k3
  %k_tile_2.next = add nsw i32 %k_tile_2, 1
  br label %k_tile_2.test

k_tile_2.end:                                     ; preds = %k_tile_2.test
  br label %k_tile_3.test

k_tile_3.test:                                    ; preds = %k_tile_3.body, %k_tile_2.end
  %k_tile_3 = phi i32 [ 0, %k_tile_2.end ], [ %k_tile_3.next, %k_tile_3.body ]
  %29 = icmp slt i32 %k_tile_3, 2
  br i1 %29, label %k_tile_3.body, label %k_tile_3.end

k_tile_3.body:                                    ; preds = %k_tile_3.test
  %k19 = mul nsw i32 %k_tile_3, 4
  %out_at = add nsw i32 %at_n, %k19
  %30 = getelementptr inbounds float, ptr %out, i32 %out_at
  %out_k0 = load float, ptr %30, align 4
  %ratio_k0 = fdiv float %out_k0, %sum.0
  %31 = getelementptr inbounds float, ptr %out, i32 %out_at
  store float %ratio_k0, ptr %31, align 4
  %out_at20 = add nsw i32 %out_at, 1
  %32 = getelementptr inbounds float, ptr %out, i32 %out_at20
  %out_k1 = load float, ptr %32, align 4
  %ratio_k1 = fdiv float %out_k1, %sum.0
  %33 = getelementptr inbounds float, ptr %out, i32 %out_at20
  store float %ratio_k1, ptr %33, align 4
  %out_at21 = add nsw i32 %out_at, 2
  %34 = getelementptr inbounds float, ptr %out, i32 %out_at21
  %out_k2 = load float, ptr %34, align 4
  %ratio_k2 = fdiv float %out_k2, %sum.0
  %35 = getelementptr inbounds float, ptr %out, i32 %out_at21
  store float %ratio_k2, ptr %35, align 4
  %out_at22 = add nsw i32 %out_at, 3
  %36 = getelementptr inbounds float, ptr %out, i32 %out_at22
  %out_k3 = load float, ptr %36, align 4
  %ratio_k3 = fdiv float %out_k3, %sum.0
  %37 = getelementptr inbounds float, ptr %out, i32 %out_at22
  store float %ratio_k3, ptr %37, align 4
  %k_tile_3.next = add nsw i32 %k_tile_3, 1
  br label %k_tile_3.test

k_tile_3.end:                                     ; preds = %k_tile_3.test
  %n.next = add nsw i32 %n, 1
  br label %n.test

n.end:                                            ; preds = %n.test
  ret void
}

; Function Attrs: nounwind willreturn memory(inaccessiblemem: write)
declare float @expf(float) #1

attributes #0 = { mustprogress nounwind }
attributes #1 = { nounwind willreturn memory(inaccessiblemem: write) }
