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
  %sum.0 = phi float [ 0.000000e+00, %k_tile.end ], [ %sum130, %k_tile_2.body ]
  %k_tile_2 = phi i32 [ 0, %k_tile.end ], [ %k_tile_2.next, %k_tile_2.body ]
  %20 = icmp slt i32 %k_tile_2, 2
  br i1 %20, label %k_tile_2.body, label %k_tile_2.end

k_tile_2.body:                                    ; preds = %k_tile_2.test
  %k7 = mul nsw i32 %k_tile_2, 4
  %at = add nsw i32 %at_n, %k7
  %21 = getelementptr inbounds float, ptr %x, i32 %at
  %x_k08 = load float, ptr %21, align 4
  %diff_k0 = fsub contract float %x_k08, %largest.0
  %less = fcmp olt float %diff_k0, -1.040000e+02
  %above = select i1 %less, float -1.040000e+02, float %diff_k0
  %less9 = fcmp olt float 8.900000e+01, %above
  %bounded = select i1 %less9, float 8.900000e+01, float %above
  %product = fmul contract float %bounded, 0x3FF7154760000000
  %is_small = fcmp olt float %diff_k0, 0.000000e+00
  %to_whole = select i1 %is_small, float 0x41680017E0000000, float 0x41680007E0000000
  %whole = fadd contract float %product, %to_whole
  %n10 = fsub contract float %whole, %to_whole
  %product11 = fmul contract float %n10, 0x3FE6300000000000
  %diff = fsub contract float %bounded, %product11
  %product12 = fmul contract float %n10, 0x3F2BD01060000000
  %r = fadd contract float %diff, %product12
  %product13 = fmul contract float 0x3F56A4F700000000, %r
  %sum14 = fadd contract float %product13, 0x3F81239860000000
  %product15 = fmul contract float %sum14, %r
  %sum16 = fadd contract float %product15, 0x3FA5558AE0000000
  %product17 = fmul contract float %sum16, %r
  %sum18 = fadd contract float %product17, 0x3FC5554920000000
  %product19 = fmul contract float %sum18, %r
  %sum20 = fadd contract float %product19, 0x3FDFFFFFC0000000
  %product21 = fmul contract float %sum20, %r
  %sum22 = fadd contract float %product21, 1.000000e+00
  %product23 = fmul contract float %sum22, %r
  %sum24 = fadd contract float %product23, 1.000000e+00
  %value = bitcast float %whole to i32
  %shifted = call i32 @etch_shl_u32(i32 %value, i32 23)
  %value25 = bitcast i32 %shifted to float
  %product26 = fmul contract float %sum24, %value25
  %chosen = select i1 %is_small, float 0x3BF0000000000000, float 0x43F0000000000000
  %product27 = fmul contract float %product26, %chosen
  %22 = getelementptr inbounds float, ptr %out, i32 %at
  store float %product27, ptr %22, align 4
  %sum28 = fadd contract float %sum.0, %product27
  %at29 = add nsw i32 %at, 1
  %23 = getelementptr inbounds float, ptr %x, i32 %at29
  %x_k130 = load float, ptr %23, align 4
  %diff_k1 = fsub contract float %x_k130, %largest.0
  %less31 = fcmp olt float %diff_k1, -1.040000e+02
  %above32 = select i1 %less31, float -1.040000e+02, float %diff_k1
  %less33 = fcmp olt float 8.900000e+01, %above32
  %bounded34 = select i1 %less33, float 8.900000e+01, float %above32
  %product35 = fmul contract float %bounded34, 0x3FF7154760000000
  %is_small36 = fcmp olt float %diff_k1, 0.000000e+00
  %to_whole37 = select i1 %is_small36, float 0x41680017E0000000, float 0x41680007E0000000
  %whole38 = fadd contract float %product35, %to_whole37
  %n39 = fsub contract float %whole38, %to_whole37
  %product40 = fmul contract float %n39, 0x3FE6300000000000
  %diff41 = fsub contract float %bounded34, %product40
  %product42 = fmul contract float %n39, 0x3F2BD01060000000
  %r43 = fadd contract float %diff41, %product42
  %product44 = fmul contract float 0x3F56A4F700000000, %r43
  %sum45 = fadd contract float %product44, 0x3F81239860000000
  %product46 = fmul contract float %sum45, %r43
  %sum47 = fadd contract float %product46, 0x3FA5558AE0000000
  %product48 = fmul contract float %sum47, %r43
  %sum49 = fadd contract float %product48, 0x3FC5554920000000
  %product50 = fmul contract float %sum49, %r43
  %sum51 = fadd contract float %product50, 0x3FDFFFFFC0000000
  %product52 = fmul contract float %sum51, %r43
  %sum53 = fadd contract float %product52, 1.000000e+00
  %product54 = fmul contract float %sum53, %r43
  %sum55 = fadd contract float %product54, 1.000000e+00
  %value56 = bitcast float %whole38 to i32
  %shifted57 = call i32 @etch_shl_u32(i32 %value56, i32 23)
  %value58 = bitcast i32 %shifted57 to float
  %product59 = fmul contract float %sum55, %value58
  %chosen60 = select i1 %is_small36, float 0x3BF0000000000000, float 0x43F0000000000000
  %product61 = fmul contract float %product59, %chosen60
  %24 = getelementptr inbounds float, ptr %out, i32 %at29
  store float %product61, ptr %24, align 4
  %sum62 = fadd contract float %sum28, %product61
  %at63 = add nsw i32 %at, 2
  %25 = getelementptr inbounds float, ptr %x, i32 %at63
  %x_k264 = load float, ptr %25, align 4
  %diff_k2 = fsub contract float %x_k264, %largest.0
  %less65 = fcmp olt float %diff_k2, -1.040000e+02
  %above66 = select i1 %less65, float -1.040000e+02, float %diff_k2
  %less67 = fcmp olt float 8.900000e+01, %above66
  %bounded68 = select i1 %less67, float 8.900000e+01, float %above66
  %product69 = fmul contract float %bounded68, 0x3FF7154760000000
  %is_small70 = fcmp olt float %diff_k2, 0.000000e+00
  %to_whole71 = select i1 %is_small70, float 0x41680017E0000000, float 0x41680007E0000000
  %whole72 = fadd contract float %product69, %to_whole71
  %n73 = fsub contract float %whole72, %to_whole71
  %product74 = fmul contract float %n73, 0x3FE6300000000000
  %diff75 = fsub contract float %bounded68, %product74
  %product76 = fmul contract float %n73, 0x3F2BD01060000000
  %r77 = fadd contract float %diff75, %product76
  %product78 = fmul contract float 0x3F56A4F700000000, %r77
  %sum79 = fadd contract float %product78, 0x3F81239860000000
  %product80 = fmul contract float %sum79, %r77
  %sum81 = fadd contract float %product80, 0x3FA5558AE0000000
  %product82 = fmul contract float %sum81, %r77
  %sum83 = fadd contract float %product82, 0x3FC5554920000000
  %product84 = fmul contract float %sum83, %r77
  %sum85 = fadd contract float %product84, 0x3FDFFFFFC0000000
  %product86 = fmul contract float %sum85, %r77
  %sum87 = fadd contract float %product86, 1.000000e+00
  %product88 = fmul contract float %sum87, %r77
  %sum89 = fadd contract float %product88, 1.000000e+00
  %value90 = bitcast float %whole72 to i32
  %shifted91 = call i32 @etch_shl_u32(i32 %value90, i32 23)
  %value92 = bitcast i32 %shifted91 to float
  %product93 = fmul contract float %sum89, %value92
  %chosen94 = select i1 %is_small70, float 0x3BF0000000000000, float 0x43F0000000000000
  %product95 = fmul contract float %product93, %chosen94
  %26 = getelementptr inbounds float, ptr %out, i32 %at63
  store float %product95, ptr %26, align 4
  %sum96 = fadd contract float %sum62, %product95
  %at97 = add nsw i32 %at, 3
  %27 = getelementptr inbounds float, ptr %x, i32 %at97
  %x_k398 = load float, ptr %27, align 4
  %diff_k3 = fsub contract float %x_k398, %largest.0
  %less99 = fcmp olt float %diff_k3, -1.040000e+02
  %above100 = select i1 %less99, float -1.040000e+02, float %diff_k3
  %less101 = fcmp olt float 8.900000e+01, %above100
  %bounded102 = select i1 %less101, float 8.900000e+01, float %above100
  %product103 = fmul contract float %bounded102, 0x3FF7154760000000
  %is_small104 = fcmp olt float %diff_k3, 0.000000e+00
  %to_whole105 = select i1 %is_small104, float 0x41680017E0000000, float 0x41680007E0000000
  %whole106 = fadd contract float %product103, %to_whole105
  %n107 = fsub contract float %whole106, %to_whole105
  %product108 = fmul contract float %n107, 0x3FE6300000000000
  %diff109 = fsub contract float %bounded102, %product108
  %product110 = fmul contract float %n107, 0x3F2BD01060000000
  %r111 = fadd contract float %diff109, %product110
  %product112 = fmul contract float 0x3F56A4F700000000, %r111
  %sum113 = fadd contract float %product112, 0x3F81239860000000
  %product114 = fmul contract float %sum113, %r111
  %sum115 = fadd contract float %product114, 0x3FA5558AE0000000
  %product116 = fmul contract float %sum115, %r111
  %sum117 = fadd contract float %product116, 0x3FC5554920000000
  %product118 = fmul contract float %sum117, %r111
  %sum119 = fadd contract float %product118, 0x3FDFFFFFC0000000
  %product120 = fmul contract float %sum119, %r111
  %sum121 = fadd contract float %product120, 1.000000e+00
  %product122 = fmul contract float %sum121, %r111
  %sum123 = fadd contract float %product122, 1.000000e+00
  %value124 = bitcast float %whole106 to i32
  %shifted125 = call i32 @etch_shl_u32(i32 %value124, i32 23)
  %value126 = bitcast i32 %shifted125 to float
  %product127 = fmul contract float %sum123, %value126
  %chosen128 = select i1 %is_small104, float 0x3BF0000000000000, float 0x43F0000000000000
  %product129 = fmul contract float %product127, %chosen128
  %28 = getelementptr inbounds float, ptr %out, i32 %at97
  store float %product129, ptr %28, align 4
  %sum130 = fadd contract float %sum96, %product129
  %k_tile_2.next = add nsw i32 %k_tile_2, 1
  br label %k_tile_2.test

k_tile_2.end:                                     ; preds = %k_tile_2.test
  br label %k_tile_3.test

k_tile_3.test:                                    ; preds = %k_tile_3.body, %k_tile_2.end
  %k_tile_3 = phi i32 [ 0, %k_tile_2.end ], [ %k_tile_3.next, %k_tile_3.body ]
  %29 = icmp slt i32 %k_tile_3, 2
  br i1 %29, label %k_tile_3.body, label %k_tile_3.end

k_tile_3.body:                                    ; preds = %k_tile_3.test
  %k131 = mul nsw i32 %k_tile_3, 4
  %out_at = add nsw i32 %at_n, %k131
  %30 = getelementptr inbounds float, ptr %out, i32 %out_at
  %out_k0 = load float, ptr %30, align 4
  %ratio_k0 = fdiv float %out_k0, %sum.0
  %31 = getelementptr inbounds float, ptr %out, i32 %out_at
  store float %ratio_k0, ptr %31, align 4
  %out_at132 = add nsw i32 %out_at, 1
  %32 = getelementptr inbounds float, ptr %out, i32 %out_at132
  %out_k1 = load float, ptr %32, align 4
  %ratio_k1 = fdiv float %out_k1, %sum.0
  %33 = getelementptr inbounds float, ptr %out, i32 %out_at132
  store float %ratio_k1, ptr %33, align 4
  %out_at133 = add nsw i32 %out_at, 2
  %34 = getelementptr inbounds float, ptr %out, i32 %out_at133
  %out_k2 = load float, ptr %34, align 4
  %ratio_k2 = fdiv float %out_k2, %sum.0
  %35 = getelementptr inbounds float, ptr %out, i32 %out_at133
  store float %ratio_k2, ptr %35, align 4
  %out_at134 = add nsw i32 %out_at, 3
  %36 = getelementptr inbounds float, ptr %out, i32 %out_at134
  %out_k3 = load float, ptr %36, align 4
  %ratio_k3 = fdiv float %out_k3, %sum.0
  %37 = getelementptr inbounds float, ptr %out, i32 %out_at134
  store float %ratio_k3, ptr %37, align 4
  %k_tile_3.next = add nsw i32 %k_tile_3, 1
  br label %k_tile_3.test

k_tile_3.end:                                     ; preds = %k_tile_3.test
  %n.next = add nsw i32 %n, 1
  br label %n.test

n.end:                                            ; preds = %n.test
  ret void
}

; Function Attrs: nounwind willreturn
declare i32 @etch_shl_u32(i32, i32) #1

attributes #0 = { mustprogress nounwind }
attributes #1 = { nounwind willreturn }
