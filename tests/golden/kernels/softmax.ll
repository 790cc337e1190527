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
  %sum.0 = phi float [ 0.000000e+00, %k_tile.end ], [ %sum159, %k_tile_2.body ]
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
  %whole = fadd contract float %product, 0x4168000000000000
  %n10 = fsub contract float %whole, 0x4168000000000000
  %product11 = fmul contract float %n10, 0x3FE6300000000000
  %diff = fsub contract float %bounded, %product11
  %product12 = fmul contract float %n10, 0x3F2BD01060000000
  %r = fadd contract float %diff, %product12
  %high = fadd contract float 1.000000e+00, %r
  %product13 = fmul contract float 0x3F56A4F700000000, %r
  %sum14 = fadd contract float %product13, 0x3F81239860000000
  %product15 = fmul contract float %sum14, %r
  %sum16 = fadd contract float %product15, 0x3FA5558AE0000000
  %product17 = fmul contract float %sum16, %r
  %sum18 = fadd contract float %product17, 0x3FC5554920000000
  %product19 = fmul contract float %sum18, %r
  %sum20 = fadd contract float %product19, 0x3FDFFFFFC0000000
  %product21 = fmul contract float %r, %r
  %product22 = fmul contract float %sum20, %product21
  %diff23 = fsub contract float %high, 1.000000e+00
  %diff24 = fsub contract float %r, %diff23
  %sum25 = fadd contract float %product22, %diff24
  %sum26 = fadd contract float %high, %sum25
  %value = bitcast float %whole to i32
  %exponent = sub i32 %value, 1262485504
  %shifted = call i32 @etch_shr_i32(i32 %exponent, i32 1)
  %shifted27 = call i32 @etch_shl_u32(i32 %shifted, i32 23)
  %sum28 = add i32 %shifted27, 1065353216
  %value29 = bitcast i32 %sum28 to float
  %product30 = fmul contract float %sum26, %value29
  %diff31 = sub i32 %exponent, %shifted
  %shifted32 = call i32 @etch_shl_u32(i32 %diff31, i32 23)
  %sum33 = add i32 %shifted32, 1065353216
  %value34 = bitcast i32 %sum33 to float
  %product35 = fmul contract float %product30, %value34
  %22 = getelementptr inbounds float, ptr %out, i32 %at
  store float %product35, ptr %22, align 4
  %sum36 = fadd contract float %sum.0, %product35
  %at37 = add nsw i32 %at, 1
  %23 = getelementptr inbounds float, ptr %x, i32 %at37
  %x_k138 = load float, ptr %23, align 4
  %diff_k1 = fsub contract float %x_k138, %largest.0
  %less39 = fcmp olt float %diff_k1, -1.040000e+02
  %above40 = select i1 %less39, float -1.040000e+02, float %diff_k1
  %less41 = fcmp olt float 8.900000e+01, %above40
  %bounded42 = select i1 %less41, float 8.900000e+01, float %above40
  %product43 = fmul contract float %bounded42, 0x3FF7154760000000
  %whole44 = fadd contract float %product43, 0x4168000000000000
  %n45 = fsub contract float %whole44, 0x4168000000000000
  %product46 = fmul contract float %n45, 0x3FE6300000000000
  %diff47 = fsub contract float %bounded42, %product46
  %product48 = fmul contract float %n45, 0x3F2BD01060000000
  %r49 = fadd contract float %diff47, %product48
  %high50 = fadd contract float 1.000000e+00, %r49
  %product51 = fmul contract float 0x3F56A4F700000000, %r49
  %sum52 = fadd contract float %product51, 0x3F81239860000000
  %product53 = fmul contract float %sum52, %r49
  %sum54 = fadd contract float %product53, 0x3FA5558AE0000000
  %product55 = fmul contract float %sum54, %r49
  %sum56 = fadd contract float %product55, 0x3FC5554920000000
  %product57 = fmul contract float %sum56, %r49
  %sum58 = fadd contract float %product57, 0x3FDFFFFFC0000000
  %product59 = fmul contract float %r49, %r49
  %product60 = fmul contract float %sum58, %product59
  %diff61 = fsub contract float %high50, 1.000000e+00
  %diff62 = fsub contract float %r49, %diff61
  %sum63 = fadd contract float %product60, %diff62
  %sum64 = fadd contract float %high50, %sum63
  %value65 = bitcast float %whole44 to i32
  %exponent66 = sub i32 %value65, 1262485504
  %shifted67 = call i32 @etch_shr_i32(i32 %exponent66, i32 1)
  %shifted68 = call i32 @etch_shl_u32(i32 %shifted67, i32 23)
  %sum69 = add i32 %shifted68, 1065353216
  %value70 = bitcast i32 %sum69 to float
  %product71 = fmul contract float %sum64, %value70
  %diff72 = sub i32 %exponent66, %shifted67
  %shifted73 = call i32 @etch_shl_u32(i32 %diff72, i32 23)
  %sum74 = add i32 %shifted73, 1065353216
  %value75 = bitcast i32 %sum74 to float
  %product76 = fmul contract float %product71, %value75
  %24 = getelementptr inbounds float, ptr %out, i32 %at37
  store float %product76, ptr %24, align 4
  %sum77 = fadd contract float %sum36, %product76
  %at78 = add nsw i32 %at, 2
  %25 = getelementptr inbounds float, ptr %x, i32 %at78
  %x_k279 = load float, ptr %25, align 4
  %diff_k2 = fsub contract float %x_k279, %largest.0
  %less80 = fcmp olt float %diff_k2, -1.040000e+02
  %above81 = select i1 %less80, float -1.040000e+02, float %diff_k2
  %less82 = fcmp olt float 8.900000e+01, %above81
  %bounded83 = select i1 %less82, float 8.900000e+01, float %above81
  %product84 = fmul contract float %bounded83, 0x3FF7154760000000
  %whole85 = fadd contract float %product84, 0x4168000000000000
  %n86 = fsub contract float %whole85, 0x4168000000000000
  %product87 = fmul contract float %n86, 0x3FE6300000000000
  %diff88 = fsub contract float %bounded83, %product87
  %product89 = fmul contract float %n86, 0x3F2BD01060000000
  %r90 = fadd contract float %diff88, %product89
  %high91 = fadd contract float 1.000000e+00, %r90
  %product92 = fmul contract float 0x3F56A4F700000000, %r90
  %sum93 = fadd contract float %product92, 0x3F81239860000000
  %product94 = fmul contract float %sum93, %r90
  %sum95 = fadd contract float %product94, 0x3FA5558AE0000000
  %product96 = fmul contract float %sum95, %r90
  %sum97 = fadd contract float %product96, 0x3FC5554920000000
  %product98 = fmul contract float %sum97, %r90
  %sum99 = fadd contract float %product98, 0x3FDFFFFFC0000000
  %product100 = fmul contract float %r90, %r90
  %product101 = fmul contract float %sum99, %product100
  %diff102 = fsub contract float %high91, 1.000000e+00
  %diff103 = fsub contract float %r90, %diff102
  %sum104 = fadd contract float %product101, %diff103
  %sum105 = fadd contract float %high91, %sum104
  %value106 = bitcast float %whole85 to i32
  %exponent107 = sub i32 %value106, 1262485504
  %shifted108 = call i32 @etch_shr_i32(i32 %exponent107, i32 1)
  %shifted109 = call i32 @etch_shl_u32(i32 %shifted108, i32 23)
  %sum110 = add i32 %shifted109, 1065353216
  %value111 = bitcast i32 %sum110 to float
  %product112 = fmul contract float %sum105, %value111
  %diff113 = sub i32 %exponent107, %shifted108
  %shifted114 = call i32 @etch_shl_u32(i32 %diff113, i32 23)
  %sum115 = add i32 %shifted114, 1065353216
  %value116 = bitcast i32 %sum115 to float
  %product117 = fmul contract float %product112, %value116
  %26 = getelementptr inbounds float, ptr %out, i32 %at78
  store float %product117, ptr %26, align 4
  %sum118 = fadd contract float %sum77, %product117
  %at119 = add nsw i32 %at, 3
  %27 = getelementptr inbounds float, ptr %x, i32 %at119
  %x_k3120 = load float, ptr %27, align 4
  %diff_k3 = fsub contract float %x_k3120, %largest.0
  %less121 = fcmp olt float %diff_k3, -1.040000e+02
  %above122 = select i1 %less121, float -1.040000e+02, float %diff_k3
  %less123 = fcmp olt float 8.900000e+01, %above122
  %bounded124 = select i1 %less123, float 8.900000e+01, float %above122
  %product125 = fmul contract float %bounded124, 0x3FF7154760000000
  %whole126 = fadd contract float %product125, 0x4168000000000000
  %n127 = fsub contract float %whole126, 0x4168000000000000
  %product128 = fmul contract float %n127, 0x3FE6300000000000
  %diff129 = fsub contract float %bounded124, %product128
  %product130 = fmul contract float %n127, 0x3F2BD01060000000
  %r131 = fadd contract float %diff129, %product130
  %high132 = fadd contract float 1.000000e+00, %r131
  %product133 = fmul contract float 0x3F56A4F700000000, %r131
  %sum134 = fadd contract float %product133, 0x3F81239860000000
  %product135 = fmul contract float %sum134, %r131
  %sum136 = fadd contract float %product135, 0x3FA5558AE0000000
  %product137 = fmul contract float %sum136, %r131
  %sum138 = fadd contract float %product137, 0x3FC5554920000000
  %product139 = fmul contract float %sum138, %r131
  %sum140 = fadd contract float %product139, 0x3FDFFFFFC0000000
  %product141 = fmul contract float %r131, %r131
  %product142 = fmul contract float %sum140, %product141
  %diff143 = fsub contract float %high132, 1.000000e+00
  %diff144 = fsub contract float %r131, %diff143
  %sum145 = fadd contract float %product142, %diff144
  %sum146 = fadd contract float %high132, %sum145
  %value147 = bitcast float %whole126 to i32
  %exponent148 = sub i32 %value147, 1262485504
  %shifted149 = call i32 @etch_shr_i32(i32 %exponent148, i32 1)
  %shifted150 = call i32 @etch_shl_u32(i32 %shifted149, i32 23)
  %sum151 = add i32 %shifted150, 1065353216
  %value152 = bitcast i32 %sum151 to float
  %product153 = fmul contract float %sum146, %value152
  %diff154 = sub i32 %exponent148, %shifted149
  %shifted155 = call i32 @etch_shl_u32(i32 %diff154, i32 23)
  %sum156 = add i32 %shifted155, 1065353216
  %value157 = bitcast i32 %sum156 to float
  %product158 = fmul contract float %product153, %value157
  %28 = getelementptr inbounds float, ptr %out, i32 %at119
  store float %product158, ptr %28, align 4
  %sum159 = fadd contract float %sum118, %product158
  %k_tile_2.next = add nsw i32 %k_tile_2, 1
  br label %k_tile_2.test

k_tile_2.end:                                     ; preds = %k_tile_2.test
  br label %k_tile_3.test

k_tile_3.test:                                    ; preds = %k_tile_3.body, %k_tile_2.end
  %k_tile_3 = phi i32 [ 0, %k_tile_2.end ], [ %k_tile_3.next, %k_tile_3.body ]
  %29 = icmp slt i32 %k_tile_3, 2
  br i1 %29, label %k_tile_3.body, label %k_tile_3.end

k_tile_3.body:                                    ; preds = %k_tile_3.test
  %k160 = mul nsw i32 %k_tile_3, 4
  %out_at = add nsw i32 %at_n, %k160
  %30 = getelementptr inbounds float, ptr %out, i32 %out_at
  %out_k0 = load float, ptr %30, align 4
  %ratio_k0 = fdiv float %out_k0, %sum.0
  %31 = getelementptr inbounds float, ptr %out, i32 %out_at
  store float %ratio_k0, ptr %31, align 4
  %out_at161 = add nsw i32 %out_at, 1
  %32 = getelementptr inbounds float, ptr %out, i32 %out_at161
  %out_k1 = load float, ptr %32, align 4
  %ratio_k1 = fdiv float %out_k1, %sum.0
  %33 = getelementptr inbounds float, ptr %out, i32 %out_at161
  store float %ratio_k1, ptr %33, align 4
  %out_at162 = add nsw i32 %out_at, 2
  %34 = getelementptr inbounds float, ptr %out, i32 %out_at162
  %out_k2 = load float, ptr %34, align 4
  %ratio_k2 = fdiv float %out_k2, %sum.0
  %35 = getelementptr inbounds float, ptr %out, i32 %out_at162
  store float %ratio_k2, ptr %35, align 4
  %out_at163 = add nsw i32 %out_at, 3
  %36 = getelementptr inbounds float, ptr %out, i32 %out_at163
  %out_k3 = load float, ptr %36, align 4
  %ratio_k3 = fdiv float %out_k3, %sum.0
  %37 = getelementptr inbounds float, ptr %out, i32 %out_at163
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
declare i32 @etch_shr_i32(i32, i32) #1

; Function Attrs: nounwind willreturn
declare i32 @etch_shl_u32(i32, i32) #1

attributes #0 = { mustprogress nounwind }
attributes #1 = { nounwind willreturn }
