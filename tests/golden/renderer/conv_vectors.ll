; Function Attrs: mustprogress nounwind
define void @conv_relu(ptr noalias readonly %arg) #0 {
entry:
  %0 = getelementptr inbounds ptr, ptr %arg, i64 0
  %out = load ptr, ptr %0, align 8
  %1 = getelementptr inbounds ptr, ptr %arg, i64 1
  %in = load ptr, ptr %1, align 8
  %2 = getelementptr inbounds ptr, ptr %arg, i64 2
  %w = load ptr, ptr %2, align 8
  %3 = getelementptr inbounds ptr, ptr %arg, i64 3
  %b = load ptr, ptr %3, align 8
  %4 = getelementptr inbounds float, ptr %w, i32 0
  %w_c0_i0_j0 = load <8 x float>, ptr %4, align 4
  %5 = getelementptr inbounds float, ptr %w, i32 8
  %w_c8_i0_j0 = load <8 x float>, ptr %5, align 4
  %6 = getelementptr inbounds float, ptr %w, i32 16
  %w_c0_i1_j0 = load <8 x float>, ptr %6, align 4
  %7 = getelementptr inbounds float, ptr %w, i32 24
  %w_c8_i1_j0 = load <8 x float>, ptr %7, align 4
  %8 = getelementptr inbounds float, ptr %w, i32 32
  %w_c0_i2_j0 = load <8 x float>, ptr %8, align 4
  %9 = getelementptr inbounds float, ptr %w, i32 40
  %w_c8_i2_j0 = load <8 x float>, ptr %9, align 4
  %10 = getelementptr inbounds float, ptr %w, i32 48
  %w_c0_i0_j1 = load <8 x float>, ptr %10, align 4
  %11 = getelementptr inbounds float, ptr %w, i32 56
  %w_c8_i0_j1 = load <8 x float>, ptr %11, align 4
  %12 = getelementptr inbounds float, ptr %w, i32 64
  %w_c0_i1_j1 = load <8 x float>, ptr %12, align 4
  %13 = getelementptr inbounds float, ptr %w, i32 72
  %w_c8_i1_j1 = load <8 x float>, ptr %13, align 4
  %14 = getelementptr inbounds float, ptr %w, i32 80
  %w_c0_i2_j1 = load <8 x float>, ptr %14, align 4
  %15 = getelementptr inbounds float, ptr %w, i32 88
  %w_c8_i2_j1 = load <8 x float>, ptr %15, align 4
  %16 = getelementptr inbounds float, ptr %w, i32 96
  %w_c0_i0_j2 = load <8 x float>, ptr %16, align 4
  %17 = getelementptr inbounds float, ptr %w, i32 104
  %w_c8_i0_j2 = load <8 x float>, ptr %17, align 4
  %18 = getelementptr inbounds float, ptr %w, i32 112
  %w_c0_i1_j2 = load <8 x float>, ptr %18, align 4
  %19 = getelementptr inbounds float, ptr %w, i32 120
  %w_c8_i1_j2 = load <8 x float>, ptr %19, align 4
  %20 = getelementptr inbounds float, ptr %w, i32 128
  %w_c0_i2_j2 = load <8 x float>, ptr %20, align 4
  %21 = getelementptr inbounds float, ptr %w, i32 136
  %w_c8_i2_j2 = load <8 x float>, ptr %21, align 4
  %22 = getelementptr inbounds float, ptr %b, i32 0
  %b_c0 = load <8 x float>, ptr %22, align 4
  %23 = getelementptr inbounds float, ptr %b, i32 8
  %b_c8 = load <8 x float>, ptr %23, align 4
  br label %y.test

y.test:                                           ; preds = %x_tile.end, %entry
  %y = phi i32 [ 0, %entry ], [ %y.next, %x_tile.end ]
  %24 = icmp slt i32 %y, 8
  br i1 %24, label %y.body, label %y.end

y.body:                                           ; preds = %y.test
  %at_y = mul nsw i32 %y, 8
  %y_above_0 = icmp slt i32 0, %y
  %y_below_7 = icmp slt i32 %y, 7
  br label %x_tile.test

x_tile.test:                                      ; preds = %inside.end252, %y.body
  %x_tile = phi i32 [ 0, %y.body ], [ %x_tile.next, %inside.end252 ]
  %25 = icmp slt i32 %x_tile, 2
  br i1 %25, label %x_tile.body, label %x_tile.end

x_tile.body:                                      ; preds = %x_tile.test
  %x = mul nsw i32 %x_tile, 4
  %at = add nsw i32 %at_y, %x
  %in_at = sub nsw i32 %at, 9
  %x_tile_above_0 = icmp slt i32 0, %x_tile
  %yx_inside = and i1 %y_above_0, %x_tile_above_0
  br i1 %yx_inside, label %inside, label %inside.end

inside:                                           ; preds = %x_tile.body
  %26 = getelementptr inbounds float, ptr %in, i32 %in_at
  %27 = load float, ptr %26, align 4
  br label %inside.end

inside.end:                                       ; preds = %inside, %x_tile.body
  %in_x0_i0 = phi float [ %27, %inside ], [ 0.000000e+00, %x_tile.body ]
  %.splatinsert = insertelement <8 x float> poison, float %in_x0_i0, i64 0
  %.splat = shufflevector <8 x float> %.splatinsert, <8 x float> poison, <8 x i32> zeroinitializer
  %28 = fmul contract <8 x float> %.splat, %w_c0_i0_j0
  %sum = fadd contract <8 x float> zeroinitializer, %28
  %.splatinsert1 = insertelement <8 x float> poison, float %in_x0_i0, i64 0
  %.splat2 = shufflevector <8 x float> %.splatinsert1, <8 x float> poison, <8 x i32> zeroinitializer
  %29 = fmul contract <8 x float> %.splat2, %w_c8_i0_j0
  %sum3 = fadd contract <8 x float> zeroinitializer, %29
  %in_at4 = sub nsw i32 %at, 8
  br i1 %y_above_0, label %inside5, label %inside.end6

inside5:                                          ; preds = %inside.end
  %30 = getelementptr inbounds float, ptr %in, i32 %in_at4
  %31 = load float, ptr %30, align 4
  br label %inside.end6

inside.end6:                                      ; preds = %inside5, %inside.end
  %in_x1_i0 = phi float [ %31, %inside5 ], [ 0.000000e+00, %inside.end ]
  %.splatinsert7 = insertelement <8 x float> poison, float %in_x1_i0, i64 0
  %.splat8 = shufflevector <8 x float> %.splatinsert7, <8 x float> poison, <8 x i32> zeroinitializer
  %32 = fmul contract <8 x float> %.splat8, %w_c0_i0_j0
  %sum9 = fadd contract <8 x float> zeroinitializer, %32
  %.splatinsert10 = insertelement <8 x float> poison, float %in_x1_i0, i64 0
  %.splat11 = shufflevector <8 x float> %.splatinsert10, <8 x float> poison, <8 x i32> zeroinitializer
  %33 = fmul contract <8 x float> %.splat11, %w_c8_i0_j0
  %sum12 = fadd contract <8 x float> zeroinitializer, %33
  %in_at13 = sub nsw i32 %at, 7
  br i1 %y_above_0, label %inside14, label %inside.end15

inside14:                                         ; preds = %inside.end6
  %34 = getelementptr inbounds float, ptr %in, i32 %in_at13
  %35 = load float, ptr %34, align 4
  br label %inside.end15

inside.end15:                                     ; preds = %inside14, %inside.end6
  %in_x2_i0 = phi float [ %35, %inside14 ], [ 0.000000e+00, %inside.end6 ]
  %.splatinsert16 = insertelement <8 x float> poison, float %in_x2_i0, i64 0
  %.splat17 = shufflevector <8 x float> %.splatinsert16, <8 x float> poison, <8 x i32> zeroinitializer
  %36 = fmul contract <8 x float> %.splat17, %w_c0_i0_j0
  %sum18 = fadd contract <8 x float> zeroinitializer, %36
  %.splatinsert19 = insertelement <8 x float> poison, float %in_x2_i0, i64 0
  %.splat20 = shufflevector <8 x float> %.splatinsert19, <8 x float> poison, <8 x i32> zeroinitializer
  %37 = fmul contract <8 x float> %.splat20, %w_c8_i0_j0
  %sum21 = fadd contract <8 x float> zeroinitializer, %37
  %in_at22 = sub nsw i32 %at, 6
  br i1 %y_above_0, label %inside23, label %inside.end24

inside23:                                         ; preds = %inside.end15
  %38 = getelementptr inbounds float, ptr %in, i32 %in_at22
  %39 = load float, ptr %38, align 4
  br label %inside.end24

inside.end24:                                     ; preds = %inside23, %inside.end15
  %in_x3_i0 = phi float [ %39, %inside23 ], [ 0.000000e+00, %inside.end15 ]
  %.splatinsert25 = insertelement <8 x float> poison, float %in_x3_i0, i64 0
  %.splat26 = shufflevector <8 x float> %.splatinsert25, <8 x float> poison, <8 x i32> zeroinitializer
  %40 = fmul contract <8 x float> %.splat26, %w_c0_i0_j0
  %sum27 = fadd contract <8 x float> zeroinitializer, %40
  %.splatinsert28 = insertelement <8 x float> poison, float %in_x3_i0, i64 0
  %.splat29 = shufflevector <8 x float> %.splatinsert28, <8 x float> poison, <8 x i32> zeroinitializer
  %41 = fmul contract <8 x float> %.splat29, %w_c8_i0_j0
  %sum30 = fadd contract <8 x float> zeroinitializer, %41
  %in_at31 = sub nsw i32 %at, 1
  br i1 %x_tile_above_0, label %inside32, label %inside.end33

inside32:                                         ; preds = %inside.end24
  %42 = getelementptr inbounds float, ptr %in, i32 %in_at31
  %43 = load float, ptr %42, align 4
  br label %inside.end33

inside.end33:                                     ; preds = %inside32, %inside.end24
  %in_x0_i1 = phi float [ %43, %inside32 ], [ 0.000000e+00, %inside.end24 ]
  %.splatinsert34 = insertelement <8 x float> poison, float %in_x0_i1, i64 0
  %.splat35 = shufflevector <8 x float> %.splatinsert34, <8 x float> poison, <8 x i32> zeroinitializer
  %44 = fmul contract <8 x float> %.splat35, %w_c0_i1_j0
  %sum36 = fadd contract <8 x float> %sum, %44
  %.splatinsert37 = insertelement <8 x float> poison, float %in_x0_i1, i64 0
  %.splat38 = shufflevector <8 x float> %.splatinsert37, <8 x float> poison, <8 x i32> zeroinitializer
  %45 = fmul contract <8 x float> %.splat38, %w_c8_i1_j0
  %sum39 = fadd contract <8 x float> %sum3, %45
  %46 = getelementptr inbounds float, ptr %in, i32 %at
  %in_x1_i1 = load float, ptr %46, align 4
  %.splatinsert40 = insertelement <8 x float> poison, float %in_x1_i1, i64 0
  %.splat41 = shufflevector <8 x float> %.splatinsert40, <8 x float> poison, <8 x i32> zeroinitializer
  %47 = fmul contract <8 x float> %.splat41, %w_c0_i1_j0
  %sum42 = fadd contract <8 x float> %sum9, %47
  %.splatinsert43 = insertelement <8 x float> poison, float %in_x1_i1, i64 0
  %.splat44 = shufflevector <8 x float> %.splatinsert43, <8 x float> poison, <8 x i32> zeroinitializer
  %48 = fmul contract <8 x float> %.splat44, %w_c8_i1_j0
  %sum45 = fadd contract <8 x float> %sum12, %48
  %in_at46 = add nsw i32 %at, 1
  %49 = getelementptr inbounds float, ptr %in, i32 %in_at46
  %in_x2_i1 = load float, ptr %49, align 4
  %.splatinsert47 = insertelement <8 x float> poison, float %in_x2_i1, i64 0
  %.splat48 = shufflevector <8 x float> %.splatinsert47, <8 x float> poison, <8 x i32> zeroinitializer
  %50 = fmul contract <8 x float> %.splat48, %w_c0_i1_j0
  %sum49 = fadd contract <8 x float> %sum18, %50
  %.splatinsert50 = insertelement <8 x float> poison, float %in_x2_i1, i64 0
  %.splat51 = shufflevector <8 x float> %.splatinsert50, <8 x float> poison, <8 x i32> zeroinitializer
  %51 = fmul contract <8 x float> %.splat51, %w_c8_i1_j0
  %sum52 = fadd contract <8 x float> %sum21, %51
  %in_at53 = add nsw i32 %at, 2
  %52 = getelementptr inbounds float, ptr %in, i32 %in_at53
  %in_x3_i1 = load float, ptr %52, align 4
  %.splatinsert54 = insertelement <8 x float> poison, float %in_x3_i1, i64 0
  %.splat55 = shufflevector <8 x float> %.splatinsert54, <8 x float> poison, <8 x i32> zeroinitializer
  %53 = fmul contract <8 x float> %.splat55, %w_c0_i1_j0
  %sum56 = fadd contract <8 x float> %sum27, %53
  %.splatinsert57 = insertelement <8 x float> poison, float %in_x3_i1, i64 0
  %.splat58 = shufflevector <8 x float> %.splatinsert57, <8 x float> poison, <8 x i32> zeroinitializer
  %54 = fmul contract <8 x float> %.splat58, %w_c8_i1_j0
  %sum59 = fadd contract <8 x float> %sum30, %54
  %in_at60 = add nsw i32 %at, 7
  %yx_inside61 = and i1 %y_below_7, %x_tile_above_0
  br i1 %yx_inside61, label %inside62, label %inside.end63

inside62:                                         ; preds = %inside.end33
  %55 = getelementptr inbounds float, ptr %in, i32 %in_at60
  %56 = load float, ptr %55, align 4
  br label %inside.end63

inside.end63:                                     ; preds = %inside62, %inside.end33
  %in_x0_i2 = phi float [ %56, %inside62 ], [ 0.000000e+00, %inside.end33 ]
  %.splatinsert64 = insertelement <8 x float> poison, float %in_x0_i2, i64 0
  %.splat65 = shufflevector <8 x float> %.splatinsert64, <8 x float> poison, <8 x i32> zeroinitializer
  %57 = fmul contract <8 x float> %.splat65, %w_c0_i2_j0
  %sum66 = fadd contract <8 x float> %sum36, %57
  %.splatinsert67 = insertelement <8 x float> poison, float %in_x0_i2, i64 0
  %.splat68 = shufflevector <8 x float> %.splatinsert67, <8 x float> poison, <8 x i32> zeroinitializer
  %58 = fmul contract <8 x float> %.splat68, %w_c8_i2_j0
  %sum69 = fadd contract <8 x float> %sum39, %58
  %in_at70 = add nsw i32 %at, 8
  br i1 %y_below_7, label %inside71, label %inside.end72

inside71:                                         ; preds = %inside.end63
  %59 = getelementptr inbounds float, ptr %in, i32 %in_at70
  %60 = load float, ptr %59, align 4
  br label %inside.end72

inside.end72:                                     ; preds = %inside71, %inside.end63
  %in_x1_i2 = phi float [ %60, %inside71 ], [ 0.000000e+00, %inside.end63 ]
  %.splatinsert73 = insertelement <8 x float> poison, float %in_x1_i2, i64 0
  %.splat74 = shufflevector <8 x float> %.splatinsert73, <8 x float> poison, <8 x i32> zeroinitializer
  %61 = fmul contract <8 x float> %.splat74, %w_c0_i2_j0
  %sum75 = fadd contract <8 x float> %sum42, %61
  %.splatinsert76 = insertelement <8 x float> poison, float %in_x1_i2, i64 0
  %.splat77 = shufflevector <8 x float> %.splatinsert76, <8 x float> poison, <8 x i32> zeroinitializer
  %62 = fmul contract <8 x float> %.splat77, %w_c8_i2_j0
  %sum78 = fadd contract <8 x float> %sum45, %62
  %in_at79 = add nsw i32 %at, 9
  br i1 %y_below_7, label %inside80, label %inside.end81

inside80:                                         ; preds = %inside.end72
  %63 = getelementptr inbounds float, ptr %in, i32 %in_at79
  %64 = load float, ptr %63, align 4
  br label %inside.end81

inside.end81:                                     ; preds = %inside80, %inside.end72
  %in_x2_i2 = phi float [ %64, %inside80 ], [ 0.000000e+00, %inside.end72 ]
  %.splatinsert82 = insertelement <8 x float> poison, float %in_x2_i2, i64 0
  %.splat83 = shufflevector <8 x float> %.splatinsert82, <8 x float> poison, <8 x i32> zeroinitializer
  %65 = fmul contract <8 x float> %.splat83, %w_c0_i2_j0
  %sum84 = fadd contract <8 x float> %sum49, %65
  %.splatinsert85 = insertelement <8 x float> poison, float %in_x2_i2, i64 0
  %.splat86 = shufflevector <8 x float> %.splatinsert85, <8 x float> poison, <8 x i32> zeroinitializer
  %66 = fmul contract <8 x float> %.splat86, %w_c8_i2_j0
  %sum87 = fadd contract <8 x float> %sum52, %66
  %in_at88 = add nsw i32 %at, 10
  br i1 %y_below_7, label %inside89, label %inside.end90

inside89:                                         ; preds = %inside.end81
  %67 = getelementptr inbounds float, ptr %in, i32 %in_at88
  %68 = load float, ptr %67, align 4
  br label %inside.end90

inside.end90:                                     ; preds = %inside89, %inside.end81
  %in_x3_i2 = phi float [ %68, %inside89 ], [ 0.000000e+00, %inside.end81 ]
  %.splatinsert91 = insertelement <8 x float> poison, float %in_x3_i2, i64 0
  %.splat92 = shufflevector <8 x float> %.splatinsert91, <8 x float> poison, <8 x i32> zeroinitializer
  %69 = fmul contract <8 x float> %.splat92, %w_c0_i2_j0
  %sum93 = fadd contract <8 x float> %sum56, %69
  %.splatinsert94 = insertelement <8 x float> poison, float %in_x3_i2, i64 0
  %.splat95 = shufflevector <8 x float> %.splatinsert94, <8 x float> poison, <8 x i32> zeroinitializer
  %70 = fmul contract <8 x float> %.splat95, %w_c8_i2_j0
  %sum96 = fadd contract <8 x float> %sum59, %70
  %.splatinsert97 = insertelement <8 x float> poison, float %in_x1_i0, i64 0
  %.splat98 = shufflevector <8 x float> %.splatinsert97, <8 x float> poison, <8 x i32> zeroinitializer
  %71 = fmul contract <8 x float> %.splat98, %w_c0_i0_j1
  %sum99 = fadd contract <8 x float> %sum66, %71
  %.splatinsert100 = insertelement <8 x float> poison, float %in_x1_i0, i64 0
  %.splat101 = shufflevector <8 x float> %.splatinsert100, <8 x float> poison, <8 x i32> zeroinitializer
  %72 = fmul contract <8 x float> %.splat101, %w_c8_i0_j1
  %sum102 = fadd contract <8 x float> %sum69, %72
  %.splatinsert103 = insertelement <8 x float> poison, float %in_x2_i0, i64 0
  %.splat104 = shufflevector <8 x float> %.splatinsert103, <8 x float> poison, <8 x i32> zeroinitializer
  %73 = fmul contract <8 x float> %.splat104, %w_c0_i0_j1
  %sum105 = fadd contract <8 x float> %sum75, %73
  %.splatinsert106 = insertelement <8 x float> poison, float %in_x2_i0, i64 0
  %.splat107 = shufflevector <8 x float> %.splatinsert106, <8 x float> poison, <8 x i32> zeroinitializer
  %74 = fmul contract <8 x float> %.splat107, %w_c8_i0_j1
  %sum108 = fadd contract <8 x float> %sum78, %74
  %.splatinsert109 = insertelement <8 x float> poison, float %in_x3_i0, i64 0
  %.splat110 = shufflevector <8 x float> %.splatinsert109, <8 x float> poison, <8 x i32> zeroinitializer
  %75 = fmul contract <8 x float> %.splat110, %w_c0_i0_j1
  %sum111 = fadd contract <8 x float> %sum84, %75
  %.splatinsert112 = insertelement <8 x float> poison, float %in_x3_i0, i64 0
  %.splat113 = shufflevector <8 x float> %.splatinsert112, <8 x float> poison, <8 x i32> zeroinitializer
  %76 = fmul contract <8 x float> %.splat113, %w_c8_i0_j1
  %sum114 = fadd contract <8 x float> %sum87, %76
  %in_at115 = sub nsw i32 %at, 5
  br i1 %y_above_0, label %inside116, label %inside.end117

inside116:                                        ; preds = %inside.end90
  %77 = getelementptr inbounds float, ptr %in, i32 %in_at115
  %78 = load float, ptr %77, align 4
  br label %inside.end117

inside.end117:                                    ; preds = %inside116, %inside.end90
  %in_x4_i0 = phi float [ %78, %inside116 ], [ 0.000000e+00, %inside.end90 ]
  %.splatinsert118 = insertelement <8 x float> poison, float %in_x4_i0, i64 0
  %.splat119 = shufflevector <8 x float> %.splatinsert118, <8 x float> poison, <8 x i32> zeroinitializer
  %79 = fmul contract <8 x float> %.splat119, %w_c0_i0_j1
  %sum120 = fadd contract <8 x float> %sum93, %79
  %.splatinsert121 = insertelement <8 x float> poison, float %in_x4_i0, i64 0
  %.splat122 = shufflevector <8 x float> %.splatinsert121, <8 x float> poison, <8 x i32> zeroinitializer
  %80 = fmul contract <8 x float> %.splat122, %w_c8_i0_j1
  %sum123 = fadd contract <8 x float> %sum96, %80
  %.splatinsert124 = insertelement <8 x float> poison, float %in_x1_i1, i64 0
  %.splat125 = shufflevector <8 x float> %.splatinsert124, <8 x float> poison, <8 x i32> zeroinitializer
  %81 = fmul contract <8 x float> %.splat125, %w_c0_i1_j1
  %sum126 = fadd contract <8 x float> %sum99, %81
  %.splatinsert127 = insertelement <8 x float> poison, float %in_x1_i1, i64 0
  %.splat128 = shufflevector <8 x float> %.splatinsert127, <8 x float> poison, <8 x i32> zeroinitializer
  %82 = fmul contract <8 x float> %.splat128, %w_c8_i1_j1
  %sum129 = fadd contract <8 x float> %sum102, %82
  %.splatinsert130 = insertelement <8 x float> poison, float %in_x2_i1, i64 0
  %.splat131 = shufflevector <8 x float> %.splatinsert130, <8 x float> poison, <8 x i32> zeroinitializer
  %83 = fmul contract <8 x float> %.splat131, %w_c0_i1_j1
  %sum132 = fadd contract <8 x float> %sum105, %83
  %.splatinsert133 = insertelement <8 x float> poison, float %in_x2_i1, i64 0
  %.splat134 = shufflevector <8 x float> %.splatinsert133, <8 x float> poison, <8 x i32> zeroinitializer
  %84 = fmul contract <8 x float> %.splat134, %w_c8_i1_j1
  %sum135 = fadd contract <8 x float> %sum108, %84
  %.splatinsert136 = insertelement <8 x float> poison, float %in_x3_i1, i64 0
  %.splat137 = shufflevector <8 x float> %.splatinsert136, <8 x float> poison, <8 x i32> zeroinitializer
  %85 = fmul contract <8 x float> %.splat137, %w_c0_i1_j1
  %sum138 = fadd contract <8 x float> %sum111, %85
  %.splatinsert139 = insertelement <8 x float> poison, float %in_x3_i1, i64 0
  %.splat140 = shufflevector <8 x float> %.splatinsert139, <8 x float> poison, <8 x i32> zeroinitializer
  %86 = fmul contract <8 x float> %.splat140, %w_c8_i1_j1
  %sum141 = fadd contract <8 x float> %sum114, %86
  %in_at142 = add nsw i32 %at, 3
  %87 = getelementptr inbounds float, ptr %in, i32 %in_at142
  %in_x4_i1 = load float, ptr %87, align 4
  %.splatinsert143 = insertelement <8 x float> poison, float %in_x4_i1, i64 0
  %.splat144 = shufflevector <8 x float> %.splatinsert143, <8 x float> poison, <8 x i32> zeroinitializer
  %88 = fmul contract <8 x float> %.splat144, %w_c0_i1_j1
  %sum145 = fadd contract <8 x float> %sum120, %88
  %.splatinsert146 = insertelement <8 x float> poison, float %in_x4_i1, i64 0
  %.splat147 = shufflevector <8 x float> %.splatinsert146, <8 x float> poison, <8 x i32> zeroinitializer
  %89 = fmul contract <8 x float> %.splat147, %w_c8_i1_j1
  %sum148 = fadd contract <8 x float> %sum123, %89
  %.splatinsert149 = insertelement <8 x float> poison, float %in_x1_i2, i64 0
  %.splat150 = shufflevector <8 x float> %.splatinsert149, <8 x float> poison, <8 x i32> zeroinitializer
  %90 = fmul contract <8 x float> %.splat150, %w_c0_i2_j1
  %sum151 = fadd contract <8 x float> %sum126, %90
  %.splatinsert152 = insertelement <8 x float> poison, float %in_x1_i2, i64 0
  %.splat153 = shufflevector <8 x float> %.splatinsert152, <8 x float> poison, <8 x i32> zeroinitializer
  %91 = fmul contract <8 x float> %.splat153, %w_c8_i2_j1
  %sum154 = fadd contract <8 x float> %sum129, %91
  %.splatinsert155 = insertelement <8 x float> poison, float %in_x2_i2, i64 0
  %.splat156 = shufflevector <8 x float> %.splatinsert155, <8 x float> poison, <8 x i32> zeroinitializer
  %92 = fmul contract <8 x float> %.splat156, %w_c0_i2_j1
  %sum157 = fadd contract <8 x float> %sum132, %92
  %.splatinsert158 = insertelement <8 x float> poison, float %in_x2_i2, i64 0
  %.splat159 = shufflevector <8 x float> %.splatinsert158, <8 x float> poison, <8 x i32> zeroinitializer
  %93 = fmul contract <8 x float> %.splat159, %w_c8_i2_j1
  %sum160 = fadd contract <8 x float> %sum135, %93
  %.splatinsert161 = insertelement <8 x float> poison, float %in_x3_i2, i64 0
  %.splat162 = shufflevector <8 x float> %.splatinsert161, <8 x float> poison, <8 x i32> zeroinitializer
  %94 = fmul contract <8 x float> %.splat162, %w_c0_i2_j1
  %sum163 = fadd contract <8 x float> %sum138, %94
  %.splatinsert164 = insertelement <8 x float> poison, float %in_x3_i2, i64 0
  %.splat165 = shufflevector <8 x float> %.splatinsert164, <8 x float> poison, <8 x i32> zeroinitializer
  %95 = fmul contract <8 x float> %.splat165, %w_c8_i2_j1
  %sum166 = fadd contract <8 x float> %sum141, %95
  %in_at167 = add nsw i32 %at, 11
  br i1 %y_below_7, label %inside168, label %inside.end169

inside168:                                        ; preds = %inside.end117
  %96 = getelementptr inbounds float, ptr %in, i32 %in_at167
  %97 = load float, ptr %96, align 4
  br label %inside.end169

inside.end169:                                    ; preds = %inside168, %inside.end117
  %in_x4_i2 = phi float [ %97, %inside168 ], [ 0.000000e+00, %inside.end117 ]
  %.splatinsert170 = insertelement <8 x float> poison, float %in_x4_i2, i64 0
  %.splat171 = shufflevector <8 x float> %.splatinsert170, <8 x float> poison, <8 x i32> zeroinitializer
  %98 = fmul contract <8 x float> %.splat171, %w_c0_i2_j1
  %sum172 = fadd contract <8 x float> %sum145, %98
  %.splatinsert173 = insertelement <8 x float> poison, float %in_x4_i2, i64 0
  %.splat174 = shufflevector <8 x float> %.splatinsert173, <8 x float> poison, <8 x i32> zeroinitializer
  %99 = fmul contract <8 x float> %.splat174, %w_c8_i2_j1
  %sum175 = fadd contract <8 x float> %sum148, %99
  %.splatinsert176 = insertelement <8 x float> poison, float %in_x2_i0, i64 0
  %.splat177 = shufflevector <8 x float> %.splatinsert176, <8 x float> poison, <8 x i32> zeroinitializer
  %100 = fmul contract <8 x float> %.splat177, %w_c0_i0_j2
  %sum178 = fadd contract <8 x float> %sum151, %100
  %.splatinsert179 = insertelement <8 x float> poison, float %in_x2_i0, i64 0
  %.splat180 = shufflevector <8 x float> %.splatinsert179, <8 x float> poison, <8 x i32> zeroinitializer
  %101 = fmul contract <8 x float> %.splat180, %w_c8_i0_j2
  %sum181 = fadd contract <8 x float> %sum154, %101
  %.splatinsert182 = insertelement <8 x float> poison, float %in_x3_i0, i64 0
  %.splat183 = shufflevector <8 x float> %.splatinsert182, <8 x float> poison, <8 x i32> zeroinitializer
  %102 = fmul contract <8 x float> %.splat183, %w_c0_i0_j2
  %sum184 = fadd contract <8 x float> %sum157, %102
  %.splatinsert185 = insertelement <8 x float> poison, float %in_x3_i0, i64 0
  %.splat186 = shufflevector <8 x float> %.splatinsert185, <8 x float> poison, <8 x i32> zeroinitializer
  %103 = fmul contract <8 x float> %.splat186, %w_c8_i0_j2
  %sum187 = fadd contract <8 x float> %sum160, %103
  %.splatinsert188 = insertelement <8 x float> poison, float %in_x4_i0, i64 0
  %.splat189 = shufflevector <8 x float> %.splatinsert188, <8 x float> poison, <8 x i32> zeroinitializer
  %104 = fmul contract <8 x float> %.splat189, %w_c0_i0_j2
  %sum190 = fadd contract <8 x float> %sum163, %104
  %.splatinsert191 = insertelement <8 x float> poison, float %in_x4_i0, i64 0
  %.splat192 = shufflevector <8 x float> %.splatinsert191, <8 x float> poison, <8 x i32> zeroinitializer
  %105 = fmul contract <8 x float> %.splat192, %w_c8_i0_j2
  %sum193 = fadd contract <8 x float> %sum166, %105
  %in_at194 = sub nsw i32 %at, 4
  %x_tile_below_1 = icmp slt i32 %x_tile, 1
  %yx_inside195 = and i1 %y_above_0, %x_tile_below_1
  br i1 %yx_inside195, label %inside196, label %inside.end197

inside196:                                        ; preds = %inside.end169
  %106 = getelementptr inbounds float, ptr %in, i32 %in_at194
  %107 = load float, ptr %106, align 4
  br label %inside.end197

inside.end197:                                    ; preds = %inside196, %inside.end169
  %in_x5_i0 = phi float [ %107, %inside196 ], [ 0.000000e+00, %inside.end169 ]
  %.splatinsert198 = insertelement <8 x float> poison, float %in_x5_i0, i64 0
  %.splat199 = shufflevector <8 x float> %.splatinsert198, <8 x float> poison, <8 x i32> zeroinitializer
  %108 = fmul contract <8 x float> %.splat199, %w_c0_i0_j2
  %sum200 = fadd contract <8 x float> %sum172, %108
  %.splatinsert201 = insertelement <8 x float> poison, float %in_x5_i0, i64 0
  %.splat202 = shufflevector <8 x float> %.splatinsert201, <8 x float> poison, <8 x i32> zeroinitializer
  %109 = fmul contract <8 x float> %.splat202, %w_c8_i0_j2
  %sum203 = fadd contract <8 x float> %sum175, %109
  %.splatinsert204 = insertelement <8 x float> poison, float %in_x2_i1, i64 0
  %.splat205 = shufflevector <8 x float> %.splatinsert204, <8 x float> poison, <8 x i32> zeroinitializer
  %110 = fmul contract <8 x float> %.splat205, %w_c0_i1_j2
  %sum206 = fadd contract <8 x float> %sum178, %110
  %.splatinsert207 = insertelement <8 x float> poison, float %in_x2_i1, i64 0
  %.splat208 = shufflevector <8 x float> %.splatinsert207, <8 x float> poison, <8 x i32> zeroinitializer
  %111 = fmul contract <8 x float> %.splat208, %w_c8_i1_j2
  %sum209 = fadd contract <8 x float> %sum181, %111
  %.splatinsert210 = insertelement <8 x float> poison, float %in_x3_i1, i64 0
  %.splat211 = shufflevector <8 x float> %.splatinsert210, <8 x float> poison, <8 x i32> zeroinitializer
  %112 = fmul contract <8 x float> %.splat211, %w_c0_i1_j2
  %sum212 = fadd contract <8 x float> %sum184, %112
  %.splatinsert213 = insertelement <8 x float> poison, float %in_x3_i1, i64 0
  %.splat214 = shufflevector <8 x float> %.splatinsert213, <8 x float> poison, <8 x i32> zeroinitializer
  %113 = fmul contract <8 x float> %.splat214, %w_c8_i1_j2
  %sum215 = fadd contract <8 x float> %sum187, %113
  %.splatinsert216 = insertelement <8 x float> poison, float %in_x4_i1, i64 0
  %.splat217 = shufflevector <8 x float> %.splatinsert216, <8 x float> poison, <8 x i32> zeroinitializer
  %114 = fmul contract <8 x float> %.splat217, %w_c0_i1_j2
  %sum218 = fadd contract <8 x float> %sum190, %114
  %.splatinsert219 = insertelement <8 x float> poison, float %in_x4_i1, i64 0
  %.splat220 = shufflevector <8 x float> %.splatinsert219, <8 x float> poison, <8 x i32> zeroinitializer
  %115 = fmul contract <8 x float> %.splat220, %w_c8_i1_j2
  %sum221 = fadd contract <8 x float> %sum193, %115
  %in_at222 = add nsw i32 %at, 4
  br i1 %x_tile_below_1, label %inside223, label %inside.end224

inside223:                                        ; preds = %inside.end197
  %116 = getelementptr inbounds float, ptr %in, i32 %in_at222
  %117 = load float, ptr %116, align 4
  br label %inside.end224

inside.end224:                                    ; preds = %inside223, %inside.end197
  %in_x5_i1 = phi float [ %117, %inside223 ], [ 0.000000e+00, %inside.end197 ]
  %.splatinsert225 = insertelement <8 x float> poison, float %in_x5_i1, i64 0
  %.splat226 = shufflevector <8 x float> %.splatinsert225, <8 x float> poison, <8 x i32> zeroinitializer
  %118 = fmul contract <8 x float> %.splat226, %w_c0_i1_j2
  %sum227 = fadd contract <8 x float> %sum200, %118
  %.splatinsert228 = insertelement <8 x float> poison, float %in_x5_i1, i64 0
  %.splat229 = shufflevector <8 x float> %.splatinsert228, <8 x float> poison, <8 x i32> zeroinitializer
  %119 = fmul contract <8 x float> %.splat229, %w_c8_i1_j2
  %sum230 = fadd contract <8 x float> %sum203, %119
  %.splatinsert231 = insertelement <8 x float> poison, float %in_x2_i2, i64 0
  %.splat232 = shufflevector <8 x float> %.splatinsert231, <8 x float> poison, <8 x i32> zeroinitializer
  %120 = fmul contract <8 x float> %.splat232, %w_c0_i2_j2
  %sum233 = fadd contract <8 x float> %sum206, %120
  %.splatinsert234 = insertelement <8 x float> poison, float %in_x2_i2, i64 0
  %.splat235 = shufflevector <8 x float> %.splatinsert234, <8 x float> poison, <8 x i32> zeroinitializer
  %121 = fmul contract <8 x float> %.splat235, %w_c8_i2_j2
  %sum236 = fadd contract <8 x float> %sum209, %121
  %.splatinsert237 = insertelement <8 x float> poison, float %in_x3_i2, i64 0
  %.splat238 = shufflevector <8 x float> %.splatinsert237, <8 x float> poison, <8 x i32> zeroinitializer
  %122 = fmul contract <8 x float> %.splat238, %w_c0_i2_j2
  %sum239 = fadd contract <8 x float> %sum212, %122
  %.splatinsert240 = insertelement <8 x float> poison, float %in_x3_i2, i64 0
  %.splat241 = shufflevector <8 x float> %.splatinsert240, <8 x float> poison, <8 x i32> zeroinitializer
  %123 = fmul contract <8 x float> %.splat241, %w_c8_i2_j2
  %sum242 = fadd contract <8 x float> %sum215, %123
  %.splatinsert243 = insertelement <8 x float> poison, float %in_x4_i2, i64 0
  %.splat244 = shufflevector <8 x float> %.splatinsert243, <8 x float> poison, <8 x i32> zeroinitializer
  %124 = fmul contract <8 x float> %.splat244, %w_c0_i2_j2
  %sum245 = fadd contract <8 x float> %sum218, %124
  %.splatinsert246 = insertelement <8 x float> poison, float %in_x4_i2, i64 0
  %.splat247 = shufflevector <8 x float> %.splatinsert246, <8 x float> poison, <8 x i32> zeroinitializer
  %125 = fmul contract <8 x float> %.splat247, %w_c8_i2_j2
  %sum248 = fadd contract <8 x float> %sum221, %125
  %in_at249 = add nsw i32 %at, 12
  %yx_inside250 = and i1 %y_below_7, %x_tile_below_1
  br i1 %yx_inside250, label %inside251, label %inside.end252

inside251:                                        ; preds = %inside.end224
  %126 = getelementptr inbounds float, ptr %in, i32 %in_at249
  %127 = load float, ptr %126, align 4
  br label %inside.end252

inside.end252:                                    ; preds = %inside251, %inside.end224
  %in_x5_i2 = phi float [ %127, %inside251 ], [ 0.000000e+00, %inside.end224 ]
  %.splatinsert253 = insertelement <8 x float> poison, float %in_x5_i2, i64 0
  %.splat254 = shufflevector <8 x float> %.splatinsert253, <8 x float> poison, <8 x i32> zeroinitializer
  %128 = fmul contract <8 x float> %.splat254, %w_c0_i2_j2
  %sum255 = fadd contract <8 x float> %sum227, %128
  %.splatinsert256 = insertelement <8 x float> poison, float %in_x5_i2, i64 0
  %.splat257 = shufflevector <8 x float> %.splatinsert256, <8 x float> poison, <8 x i32> zeroinitializer
  %129 = fmul contract <8 x float> %.splat257, %w_c8_i2_j2
  %sum258 = fadd contract <8 x float> %sum230, %129
  %sum_c0_x0 = fadd contract <8 x float> %sum233, %b_c0
  %130 = fcmp olt <8 x float> %sum_c0_x0, zeroinitializer
  %larger_c0_x0 = select <8 x i1> %130, <8 x float> zeroinitializer, <8 x float> %sum_c0_x0
  %sum_c0_x1 = fadd contract <8 x float> %sum239, %b_c0
  %131 = fcmp olt <8 x float> %sum_c0_x1, zeroinitializer
  %larger_c0_x1 = select <8 x i1> %131, <8 x float> zeroinitializer, <8 x float> %sum_c0_x1
  %sum_c0_x2 = fadd contract <8 x float> %sum245, %b_c0
  %132 = fcmp olt <8 x float> %sum_c0_x2, zeroinitializer
  %larger_c0_x2 = select <8 x i1> %132, <8 x float> zeroinitializer, <8 x float> %sum_c0_x2
  %sum_c0_x3 = fadd contract <8 x float> %sum255, %b_c0
  %133 = fcmp olt <8 x float> %sum_c0_x3, zeroinitializer
  %larger_c0_x3 = select <8 x i1> %133, <8 x float> zeroinitializer, <8 x float> %sum_c0_x3
  %134 = shufflevector <8 x float> %larger_c0_x0, <8 x float> %larger_c0_x1, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %135 = shufflevector <8 x float> %larger_c0_x2, <8 x float> %larger_c0_x3, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %136 = shufflevector <8 x float> %larger_c0_x0, <8 x float> %larger_c0_x1, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %137 = shufflevector <8 x float> %larger_c0_x2, <8 x float> %larger_c0_x3, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %138 = shufflevector <8 x float> %134, <8 x float> %135, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %139 = shufflevector <8 x float> %134, <8 x float> %135, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %140 = shufflevector <8 x float> %136, <8 x float> %137, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %141 = shufflevector <8 x float> %136, <8 x float> %137, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %142 = shufflevector <8 x float> %138, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %143 = add i32 %at, 0
  %144 = getelementptr inbounds float, ptr %out, i32 %143
  store <4 x float> %142, ptr %144, align 4
  %145 = shufflevector <8 x float> %139, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %146 = add i32 %at, 64
  %147 = getelementptr inbounds float, ptr %out, i32 %146
  store <4 x float> %145, ptr %147, align 4
  %148 = shufflevector <8 x float> %140, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %149 = add i32 %at, 128
  %150 = getelementptr inbounds float, ptr %out, i32 %149
  store <4 x float> %148, ptr %150, align 4
  %151 = shufflevector <8 x float> %141, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %152 = add i32 %at, 192
  %153 = getelementptr inbounds float, ptr %out, i32 %152
  store <4 x float> %151, ptr %153, align 4
  %154 = shufflevector <8 x float> %138, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %155 = add i32 %at, 256
  %156 = getelementptr inbounds float, ptr %out, i32 %155
  store <4 x float> %154, ptr %156, align 4
  %157 = shufflevector <8 x float> %139, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %158 = add i32 %at, 320
  %159 = getelementptr inbounds float, ptr %out, i32 %158
  store <4 x float> %157, ptr %159, align 4
  %160 = shufflevector <8 x float> %140, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %161 = add i32 %at, 384
  %162 = getelementptr inbounds float, ptr %out, i32 %161
  store <4 x float> %160, ptr %162, align 4
  %163 = shufflevector <8 x float> %141, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %164 = add i32 %at, 448
  %165 = getelementptr inbounds float, ptr %out, i32 %164
  store <4 x float> %163, ptr %165, align 4
  %sum_c8_x0 = fadd contract <8 x float> %sum236, %b_c8
  %166 = fcmp olt <8 x float> %sum_c8_x0, zeroinitializer
  %larger_c8_x0 = select <8 x i1> %166, <8 x float> zeroinitializer, <8 x float> %sum_c8_x0
  %sum_c8_x1 = fadd contract <8 x float> %sum242, %b_c8
  %167 = fcmp olt <8 x float> %sum_c8_x1, zeroinitializer
  %larger_c8_x1 = select <8 x i1> %167, <8 x float> zeroinitializer, <8 x float> %sum_c8_x1
  %sum_c8_x2 = fadd contract <8 x float> %sum248, %b_c8
  %168 = fcmp olt <8 x float> %sum_c8_x2, zeroinitializer
  %larger_c8_x2 = select <8 x i1> %168, <8 x float> zeroinitializer, <8 x float> %sum_c8_x2
  %sum_c8_x3 = fadd contract <8 x float> %sum258, %b_c8
  %169 = fcmp olt <8 x float> %sum_c8_x3, zeroinitializer
  %larger_c8_x3 = select <8 x i1> %169, <8 x float> zeroinitializer, <8 x float> %sum_c8_x3
  %out_at = add nsw i32 %at, 512
  %170 = shufflevector <8 x float> %larger_c8_x0, <8 x float> %larger_c8_x1, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %171 = shufflevector <8 x float> %larger_c8_x2, <8 x float> %larger_c8_x3, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %172 = shufflevector <8 x float> %larger_c8_x0, <8 x float> %larger_c8_x1, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %173 = shufflevector <8 x float> %larger_c8_x2, <8 x float> %larger_c8_x3, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %174 = shufflevector <8 x float> %170, <8 x float> %171, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %175 = shufflevector <8 x float> %170, <8 x float> %171, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %176 = shufflevector <8 x float> %172, <8 x float> %173, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %177 = shufflevector <8 x float> %172, <8 x float> %173, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %178 = shufflevector <8 x float> %174, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %179 = add i32 %out_at, 0
  %180 = getelementptr inbounds float, ptr %out, i32 %179
  store <4 x float> %178, ptr %180, align 4
  %181 = shufflevector <8 x float> %175, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %182 = add i32 %out_at, 64
  %183 = getelementptr inbounds float, ptr %out, i32 %182
  store <4 x float> %181, ptr %183, align 4
  %184 = shufflevector <8 x float> %176, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %185 = add i32 %out_at, 128
  %186 = getelementptr inbounds float, ptr %out, i32 %185
  store <4 x float> %184, ptr %186, align 4
  %187 = shufflevector <8 x float> %177, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %188 = add i32 %out_at, 192
  %189 = getelementptr inbounds float, ptr %out, i32 %188
  store <4 x float> %187, ptr %189, align 4
  %190 = shufflevector <8 x float> %174, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %191 = add i32 %out_at, 256
  %192 = getelementptr inbounds float, ptr %out, i32 %191
  store <4 x float> %190, ptr %192, align 4
  %193 = shufflevector <8 x float> %175, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %194 = add i32 %out_at, 320
  %195 = getelementptr inbounds float, ptr %out, i32 %194
  store <4 x float> %193, ptr %195, align 4
  %196 = shufflevector <8 x float> %176, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %197 = add i32 %out_at, 384
  %198 = getelementptr inbounds float, ptr %out, i32 %197
  store <4 x float> %196, ptr %198, align 4
  %199 = shufflevector <8 x float> %177, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %200 = add i32 %out_at, 448
  %201 = getelementptr inbounds float, ptr %out, i32 %200
  store <4 x float> %199, ptr %201, align 4
  %x_tile.next = add nsw i32 %x_tile, 1
  br label %x_tile.test

x_tile.end:                                       ; preds = %x_tile.test
  %y.next = add nsw i32 %y, 1
  br label %y.test

y.end:                                            ; preds = %y.test
  ret void
}

attributes #0 = { mustprogress nounwind }
