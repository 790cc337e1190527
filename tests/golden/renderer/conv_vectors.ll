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
  br label %c_tile.test

c_tile.test:                                      ; preds = %border.end, %entry
  %c_tile = phi i32 [ 0, %entry ], [ %c_tile.next, %border.end ]
  %4 = icmp slt i32 %c_tile, 2
  br i1 %4, label %c_tile.body, label %c_tile.end

c_tile.body:                                      ; preds = %c_tile.test
  %c = mul nsw i32 %c_tile, 8
  %w_at = mul nsw i32 %c, 9
  %5 = getelementptr inbounds float, ptr %w, i32 %w_at
  %w_i0_j0 = load <8 x float>, ptr %5, align 4
  %w_at1 = add nsw i32 %w_at, 8
  %6 = getelementptr inbounds float, ptr %w, i32 %w_at1
  %w_i1_j0 = load <8 x float>, ptr %6, align 4
  %w_at2 = add nsw i32 %w_at, 16
  %7 = getelementptr inbounds float, ptr %w, i32 %w_at2
  %w_i2_j0 = load <8 x float>, ptr %7, align 4
  %w_at3 = add nsw i32 %w_at, 24
  %8 = getelementptr inbounds float, ptr %w, i32 %w_at3
  %w_i0_j1 = load <8 x float>, ptr %8, align 4
  %w_at4 = add nsw i32 %w_at, 32
  %9 = getelementptr inbounds float, ptr %w, i32 %w_at4
  %w_i1_j1 = load <8 x float>, ptr %9, align 4
  %w_at5 = add nsw i32 %w_at, 40
  %10 = getelementptr inbounds float, ptr %w, i32 %w_at5
  %w_i2_j1 = load <8 x float>, ptr %10, align 4
  %w_at6 = add nsw i32 %w_at, 48
  %11 = getelementptr inbounds float, ptr %w, i32 %w_at6
  %w_i0_j2 = load <8 x float>, ptr %11, align 4
  %w_at7 = add nsw i32 %w_at, 56
  %12 = getelementptr inbounds float, ptr %w, i32 %w_at7
  %w_i1_j2 = load <8 x float>, ptr %12, align 4
  %w_at8 = add nsw i32 %w_at, 64
  %13 = getelementptr inbounds float, ptr %w, i32 %w_at8
  %w_i2_j2 = load <8 x float>, ptr %13, align 4
  %14 = getelementptr inbounds float, ptr %b, i32 %c
  %b_c = load <8 x float>, ptr %14, align 4
  %out_c = mul nsw i32 %c, 64
  br label %y.test

y.test:                                           ; preds = %y.body, %c_tile.body
  %y = phi i32 [ 1, %c_tile.body ], [ %y.next, %y.body ]
  %15 = icmp slt i32 %y, 7
  br i1 %15, label %y.body, label %y.end

y.body:                                           ; preds = %y.test
  %in_at = mul nsw i32 %y, 8
  %in_at9 = sub nsw i32 %in_at, 8
  %16 = getelementptr inbounds float, ptr %in, i32 %in_at9
  %in_x1_i0 = load float, ptr %16, align 4
  %.splatinsert = insertelement <8 x float> poison, float %in_x1_i0, i64 0
  %.splat = shufflevector <8 x float> %.splatinsert, <8 x float> poison, <8 x i32> zeroinitializer
  %17 = fmul contract <8 x float> %.splat, %w_i0_j0
  %sum = fadd contract <8 x float> zeroinitializer, %17
  %in_at10 = sub nsw i32 %in_at, 7
  %18 = getelementptr inbounds float, ptr %in, i32 %in_at10
  %in_x2_i0 = load float, ptr %18, align 4
  %.splatinsert11 = insertelement <8 x float> poison, float %in_x2_i0, i64 0
  %.splat12 = shufflevector <8 x float> %.splatinsert11, <8 x float> poison, <8 x i32> zeroinitializer
  %19 = fmul contract <8 x float> %.splat12, %w_i0_j0
  %sum13 = fadd contract <8 x float> zeroinitializer, %19
  %in_at14 = sub nsw i32 %in_at, 6
  %20 = getelementptr inbounds float, ptr %in, i32 %in_at14
  %in_x3_i0 = load float, ptr %20, align 4
  %.splatinsert15 = insertelement <8 x float> poison, float %in_x3_i0, i64 0
  %.splat16 = shufflevector <8 x float> %.splatinsert15, <8 x float> poison, <8 x i32> zeroinitializer
  %21 = fmul contract <8 x float> %.splat16, %w_i0_j0
  %sum17 = fadd contract <8 x float> zeroinitializer, %21
  %in_at18 = sub nsw i32 %in_at, 5
  %22 = getelementptr inbounds float, ptr %in, i32 %in_at18
  %in_x4_i0 = load float, ptr %22, align 4
  %.splatinsert19 = insertelement <8 x float> poison, float %in_x4_i0, i64 0
  %.splat20 = shufflevector <8 x float> %.splatinsert19, <8 x float> poison, <8 x i32> zeroinitializer
  %23 = fmul contract <8 x float> %.splat20, %w_i0_j0
  %sum21 = fadd contract <8 x float> zeroinitializer, %23
  %in_at22 = sub nsw i32 %in_at, 4
  %24 = getelementptr inbounds float, ptr %in, i32 %in_at22
  %in_x5_i0 = load float, ptr %24, align 4
  %.splatinsert23 = insertelement <8 x float> poison, float %in_x5_i0, i64 0
  %.splat24 = shufflevector <8 x float> %.splatinsert23, <8 x float> poison, <8 x i32> zeroinitializer
  %25 = fmul contract <8 x float> %.splat24, %w_i0_j0
  %sum25 = fadd contract <8 x float> zeroinitializer, %25
  %in_at26 = sub nsw i32 %in_at, 3
  %26 = getelementptr inbounds float, ptr %in, i32 %in_at26
  %in_x6_i0 = load float, ptr %26, align 4
  %.splatinsert27 = insertelement <8 x float> poison, float %in_x6_i0, i64 0
  %.splat28 = shufflevector <8 x float> %.splatinsert27, <8 x float> poison, <8 x i32> zeroinitializer
  %27 = fmul contract <8 x float> %.splat28, %w_i0_j0
  %sum29 = fadd contract <8 x float> zeroinitializer, %27
  %in_at30 = sub nsw i32 %in_at, 2
  %28 = getelementptr inbounds float, ptr %in, i32 %in_at30
  %in_x7_i0 = load float, ptr %28, align 4
  %.splatinsert31 = insertelement <8 x float> poison, float %in_x7_i0, i64 0
  %.splat32 = shufflevector <8 x float> %.splatinsert31, <8 x float> poison, <8 x i32> zeroinitializer
  %29 = fmul contract <8 x float> %.splat32, %w_i0_j0
  %sum33 = fadd contract <8 x float> zeroinitializer, %29
  %30 = getelementptr inbounds float, ptr %in, i32 %in_at
  %in_x1_i1 = load float, ptr %30, align 4
  %.splatinsert34 = insertelement <8 x float> poison, float %in_x1_i1, i64 0
  %.splat35 = shufflevector <8 x float> %.splatinsert34, <8 x float> poison, <8 x i32> zeroinitializer
  %31 = fmul contract <8 x float> %.splat35, %w_i1_j0
  %sum36 = fadd contract <8 x float> %sum, %31
  %in_at37 = add nsw i32 %in_at, 1
  %32 = getelementptr inbounds float, ptr %in, i32 %in_at37
  %in_x2_i1 = load float, ptr %32, align 4
  %.splatinsert38 = insertelement <8 x float> poison, float %in_x2_i1, i64 0
  %.splat39 = shufflevector <8 x float> %.splatinsert38, <8 x float> poison, <8 x i32> zeroinitializer
  %33 = fmul contract <8 x float> %.splat39, %w_i1_j0
  %sum40 = fadd contract <8 x float> %sum13, %33
  %in_at41 = add nsw i32 %in_at, 2
  %34 = getelementptr inbounds float, ptr %in, i32 %in_at41
  %in_x3_i1 = load float, ptr %34, align 4
  %.splatinsert42 = insertelement <8 x float> poison, float %in_x3_i1, i64 0
  %.splat43 = shufflevector <8 x float> %.splatinsert42, <8 x float> poison, <8 x i32> zeroinitializer
  %35 = fmul contract <8 x float> %.splat43, %w_i1_j0
  %sum44 = fadd contract <8 x float> %sum17, %35
  %in_at45 = add nsw i32 %in_at, 3
  %36 = getelementptr inbounds float, ptr %in, i32 %in_at45
  %in_x4_i1 = load float, ptr %36, align 4
  %.splatinsert46 = insertelement <8 x float> poison, float %in_x4_i1, i64 0
  %.splat47 = shufflevector <8 x float> %.splatinsert46, <8 x float> poison, <8 x i32> zeroinitializer
  %37 = fmul contract <8 x float> %.splat47, %w_i1_j0
  %sum48 = fadd contract <8 x float> %sum21, %37
  %in_at49 = add nsw i32 %in_at, 4
  %38 = getelementptr inbounds float, ptr %in, i32 %in_at49
  %in_x5_i1 = load float, ptr %38, align 4
  %.splatinsert50 = insertelement <8 x float> poison, float %in_x5_i1, i64 0
  %.splat51 = shufflevector <8 x float> %.splatinsert50, <8 x float> poison, <8 x i32> zeroinitializer
  %39 = fmul contract <8 x float> %.splat51, %w_i1_j0
  %sum52 = fadd contract <8 x float> %sum25, %39
  %in_at53 = add nsw i32 %in_at, 5
  %40 = getelementptr inbounds float, ptr %in, i32 %in_at53
  %in_x6_i1 = load float, ptr %40, align 4
  %.splatinsert54 = insertelement <8 x float> poison, float %in_x6_i1, i64 0
  %.splat55 = shufflevector <8 x float> %.splatinsert54, <8 x float> poison, <8 x i32> zeroinitializer
  %41 = fmul contract <8 x float> %.splat55, %w_i1_j0
  %sum56 = fadd contract <8 x float> %sum29, %41
  %in_at57 = add nsw i32 %in_at, 6
  %42 = getelementptr inbounds float, ptr %in, i32 %in_at57
  %in_x7_i1 = load float, ptr %42, align 4
  %.splatinsert58 = insertelement <8 x float> poison, float %in_x7_i1, i64 0
  %.splat59 = shufflevector <8 x float> %.splatinsert58, <8 x float> poison, <8 x i32> zeroinitializer
  %43 = fmul contract <8 x float> %.splat59, %w_i1_j0
  %sum60 = fadd contract <8 x float> %sum33, %43
  %in_at61 = add nsw i32 %in_at, 8
  %44 = getelementptr inbounds float, ptr %in, i32 %in_at61
  %in_x1_i2 = load float, ptr %44, align 4
  %.splatinsert62 = insertelement <8 x float> poison, float %in_x1_i2, i64 0
  %.splat63 = shufflevector <8 x float> %.splatinsert62, <8 x float> poison, <8 x i32> zeroinitializer
  %45 = fmul contract <8 x float> %.splat63, %w_i2_j0
  %sum64 = fadd contract <8 x float> %sum36, %45
  %in_at65 = add nsw i32 %in_at, 9
  %46 = getelementptr inbounds float, ptr %in, i32 %in_at65
  %in_x2_i2 = load float, ptr %46, align 4
  %.splatinsert66 = insertelement <8 x float> poison, float %in_x2_i2, i64 0
  %.splat67 = shufflevector <8 x float> %.splatinsert66, <8 x float> poison, <8 x i32> zeroinitializer
  %47 = fmul contract <8 x float> %.splat67, %w_i2_j0
  %sum68 = fadd contract <8 x float> %sum40, %47
  %in_at69 = add nsw i32 %in_at, 10
  %48 = getelementptr inbounds float, ptr %in, i32 %in_at69
  %in_x3_i2 = load float, ptr %48, align 4
  %.splatinsert70 = insertelement <8 x float> poison, float %in_x3_i2, i64 0
  %.splat71 = shufflevector <8 x float> %.splatinsert70, <8 x float> poison, <8 x i32> zeroinitializer
  %49 = fmul contract <8 x float> %.splat71, %w_i2_j0
  %sum72 = fadd contract <8 x float> %sum44, %49
  %in_at73 = add nsw i32 %in_at, 11
  %50 = getelementptr inbounds float, ptr %in, i32 %in_at73
  %in_x4_i2 = load float, ptr %50, align 4
  %.splatinsert74 = insertelement <8 x float> poison, float %in_x4_i2, i64 0
  %.splat75 = shufflevector <8 x float> %.splatinsert74, <8 x float> poison, <8 x i32> zeroinitializer
  %51 = fmul contract <8 x float> %.splat75, %w_i2_j0
  %sum76 = fadd contract <8 x float> %sum48, %51
  %in_at77 = add nsw i32 %in_at, 12
  %52 = getelementptr inbounds float, ptr %in, i32 %in_at77
  %in_x5_i2 = load float, ptr %52, align 4
  %.splatinsert78 = insertelement <8 x float> poison, float %in_x5_i2, i64 0
  %.splat79 = shufflevector <8 x float> %.splatinsert78, <8 x float> poison, <8 x i32> zeroinitializer
  %53 = fmul contract <8 x float> %.splat79, %w_i2_j0
  %sum80 = fadd contract <8 x float> %sum52, %53
  %in_at81 = add nsw i32 %in_at, 13
  %54 = getelementptr inbounds float, ptr %in, i32 %in_at81
  %in_x6_i2 = load float, ptr %54, align 4
  %.splatinsert82 = insertelement <8 x float> poison, float %in_x6_i2, i64 0
  %.splat83 = shufflevector <8 x float> %.splatinsert82, <8 x float> poison, <8 x i32> zeroinitializer
  %55 = fmul contract <8 x float> %.splat83, %w_i2_j0
  %sum84 = fadd contract <8 x float> %sum56, %55
  %in_at85 = add nsw i32 %in_at, 14
  %56 = getelementptr inbounds float, ptr %in, i32 %in_at85
  %in_x7_i2 = load float, ptr %56, align 4
  %.splatinsert86 = insertelement <8 x float> poison, float %in_x7_i2, i64 0
  %.splat87 = shufflevector <8 x float> %.splatinsert86, <8 x float> poison, <8 x i32> zeroinitializer
  %57 = fmul contract <8 x float> %.splat87, %w_i2_j0
  %sum88 = fadd contract <8 x float> %sum60, %57
  %.splatinsert89 = insertelement <8 x float> poison, float %in_x1_i0, i64 0
  %.splat90 = shufflevector <8 x float> %.splatinsert89, <8 x float> poison, <8 x i32> zeroinitializer
  %58 = fmul contract <8 x float> %.splat90, %w_i0_j1
  %sum91 = fadd contract <8 x float> zeroinitializer, %58
  %.splatinsert92 = insertelement <8 x float> poison, float %in_x2_i0, i64 0
  %.splat93 = shufflevector <8 x float> %.splatinsert92, <8 x float> poison, <8 x i32> zeroinitializer
  %59 = fmul contract <8 x float> %.splat93, %w_i0_j1
  %sum94 = fadd contract <8 x float> %sum64, %59
  %.splatinsert95 = insertelement <8 x float> poison, float %in_x3_i0, i64 0
  %.splat96 = shufflevector <8 x float> %.splatinsert95, <8 x float> poison, <8 x i32> zeroinitializer
  %60 = fmul contract <8 x float> %.splat96, %w_i0_j1
  %sum97 = fadd contract <8 x float> %sum68, %60
  %.splatinsert98 = insertelement <8 x float> poison, float %in_x4_i0, i64 0
  %.splat99 = shufflevector <8 x float> %.splatinsert98, <8 x float> poison, <8 x i32> zeroinitializer
  %61 = fmul contract <8 x float> %.splat99, %w_i0_j1
  %sum100 = fadd contract <8 x float> %sum72, %61
  %.splatinsert101 = insertelement <8 x float> poison, float %in_x5_i0, i64 0
  %.splat102 = shufflevector <8 x float> %.splatinsert101, <8 x float> poison, <8 x i32> zeroinitializer
  %62 = fmul contract <8 x float> %.splat102, %w_i0_j1
  %sum103 = fadd contract <8 x float> %sum76, %62
  %.splatinsert104 = insertelement <8 x float> poison, float %in_x6_i0, i64 0
  %.splat105 = shufflevector <8 x float> %.splatinsert104, <8 x float> poison, <8 x i32> zeroinitializer
  %63 = fmul contract <8 x float> %.splat105, %w_i0_j1
  %sum106 = fadd contract <8 x float> %sum80, %63
  %.splatinsert107 = insertelement <8 x float> poison, float %in_x7_i0, i64 0
  %.splat108 = shufflevector <8 x float> %.splatinsert107, <8 x float> poison, <8 x i32> zeroinitializer
  %64 = fmul contract <8 x float> %.splat108, %w_i0_j1
  %sum109 = fadd contract <8 x float> %sum84, %64
  %in_at110 = sub nsw i32 %in_at, 1
  %65 = getelementptr inbounds float, ptr %in, i32 %in_at110
  %in_x8_i0 = load float, ptr %65, align 4
  %.splatinsert111 = insertelement <8 x float> poison, float %in_x8_i0, i64 0
  %.splat112 = shufflevector <8 x float> %.splatinsert111, <8 x float> poison, <8 x i32> zeroinitializer
  %66 = fmul contract <8 x float> %.splat112, %w_i0_j1
  %sum113 = fadd contract <8 x float> %sum88, %66
  %.splatinsert114 = insertelement <8 x float> poison, float %in_x1_i1, i64 0
  %.splat115 = shufflevector <8 x float> %.splatinsert114, <8 x float> poison, <8 x i32> zeroinitializer
  %67 = fmul contract <8 x float> %.splat115, %w_i1_j1
  %sum116 = fadd contract <8 x float> %sum91, %67
  %.splatinsert117 = insertelement <8 x float> poison, float %in_x2_i1, i64 0
  %.splat118 = shufflevector <8 x float> %.splatinsert117, <8 x float> poison, <8 x i32> zeroinitializer
  %68 = fmul contract <8 x float> %.splat118, %w_i1_j1
  %sum119 = fadd contract <8 x float> %sum94, %68
  %.splatinsert120 = insertelement <8 x float> poison, float %in_x3_i1, i64 0
  %.splat121 = shufflevector <8 x float> %.splatinsert120, <8 x float> poison, <8 x i32> zeroinitializer
  %69 = fmul contract <8 x float> %.splat121, %w_i1_j1
  %sum122 = fadd contract <8 x float> %sum97, %69
  %.splatinsert123 = insertelement <8 x float> poison, float %in_x4_i1, i64 0
  %.splat124 = shufflevector <8 x float> %.splatinsert123, <8 x float> poison, <8 x i32> zeroinitializer
  %70 = fmul contract <8 x float> %.splat124, %w_i1_j1
  %sum125 = fadd contract <8 x float> %sum100, %70
  %.splatinsert126 = insertelement <8 x float> poison, float %in_x5_i1, i64 0
  %.splat127 = shufflevector <8 x float> %.splatinsert126, <8 x float> poison, <8 x i32> zeroinitializer
  %71 = fmul contract <8 x float> %.splat127, %w_i1_j1
  %sum128 = fadd contract <8 x float> %sum103, %71
  %.splatinsert129 = insertelement <8 x float> poison, float %in_x6_i1, i64 0
  %.splat130 = shufflevector <8 x float> %.splatinsert129, <8 x float> poison, <8 x i32> zeroinitializer
  %72 = fmul contract <8 x float> %.splat130, %w_i1_j1
  %sum131 = fadd contract <8 x float> %sum106, %72
  %.splatinsert132 = insertelement <8 x float> poison, float %in_x7_i1, i64 0
  %.splat133 = shufflevector <8 x float> %.splatinsert132, <8 x float> poison, <8 x i32> zeroinitializer
  %73 = fmul contract <8 x float> %.splat133, %w_i1_j1
  %sum134 = fadd contract <8 x float> %sum109, %73
  %in_at135 = add nsw i32 %in_at, 7
  %74 = getelementptr inbounds float, ptr %in, i32 %in_at135
  %in_x8_i1 = load float, ptr %74, align 4
  %.splatinsert136 = insertelement <8 x float> poison, float %in_x8_i1, i64 0
  %.splat137 = shufflevector <8 x float> %.splatinsert136, <8 x float> poison, <8 x i32> zeroinitializer
  %75 = fmul contract <8 x float> %.splat137, %w_i1_j1
  %sum138 = fadd contract <8 x float> %sum113, %75
  %.splatinsert139 = insertelement <8 x float> poison, float %in_x1_i2, i64 0
  %.splat140 = shufflevector <8 x float> %.splatinsert139, <8 x float> poison, <8 x i32> zeroinitializer
  %76 = fmul contract <8 x float> %.splat140, %w_i2_j1
  %sum141 = fadd contract <8 x float> %sum116, %76
  %.splatinsert142 = insertelement <8 x float> poison, float %in_x2_i2, i64 0
  %.splat143 = shufflevector <8 x float> %.splatinsert142, <8 x float> poison, <8 x i32> zeroinitializer
  %77 = fmul contract <8 x float> %.splat143, %w_i2_j1
  %sum144 = fadd contract <8 x float> %sum119, %77
  %.splatinsert145 = insertelement <8 x float> poison, float %in_x3_i2, i64 0
  %.splat146 = shufflevector <8 x float> %.splatinsert145, <8 x float> poison, <8 x i32> zeroinitializer
  %78 = fmul contract <8 x float> %.splat146, %w_i2_j1
  %sum147 = fadd contract <8 x float> %sum122, %78
  %.splatinsert148 = insertelement <8 x float> poison, float %in_x4_i2, i64 0
  %.splat149 = shufflevector <8 x float> %.splatinsert148, <8 x float> poison, <8 x i32> zeroinitializer
  %79 = fmul contract <8 x float> %.splat149, %w_i2_j1
  %sum150 = fadd contract <8 x float> %sum125, %79
  %.splatinsert151 = insertelement <8 x float> poison, float %in_x5_i2, i64 0
  %.splat152 = shufflevector <8 x float> %.splatinsert151, <8 x float> poison, <8 x i32> zeroinitializer
  %80 = fmul contract <8 x float> %.splat152, %w_i2_j1
  %sum153 = fadd contract <8 x float> %sum128, %80
  %.splatinsert154 = insertelement <8 x float> poison, float %in_x6_i2, i64 0
  %.splat155 = shufflevector <8 x float> %.splatinsert154, <8 x float> poison, <8 x i32> zeroinitializer
  %81 = fmul contract <8 x float> %.splat155, %w_i2_j1
  %sum156 = fadd contract <8 x float> %sum131, %81
  %.splatinsert157 = insertelement <8 x float> poison, float %in_x7_i2, i64 0
  %.splat158 = shufflevector <8 x float> %.splatinsert157, <8 x float> poison, <8 x i32> zeroinitializer
  %82 = fmul contract <8 x float> %.splat158, %w_i2_j1
  %sum159 = fadd contract <8 x float> %sum134, %82
  %in_at160 = add nsw i32 %in_at, 15
  %83 = getelementptr inbounds float, ptr %in, i32 %in_at160
  %in_x8_i2 = load float, ptr %83, align 4
  %.splatinsert161 = insertelement <8 x float> poison, float %in_x8_i2, i64 0
  %.splat162 = shufflevector <8 x float> %.splatinsert161, <8 x float> poison, <8 x i32> zeroinitializer
  %84 = fmul contract <8 x float> %.splat162, %w_i2_j1
  %sum163 = fadd contract <8 x float> %sum138, %84
  %.splatinsert164 = insertelement <8 x float> poison, float %in_x2_i0, i64 0
  %.splat165 = shufflevector <8 x float> %.splatinsert164, <8 x float> poison, <8 x i32> zeroinitializer
  %85 = fmul contract <8 x float> %.splat165, %w_i0_j2
  %sum166 = fadd contract <8 x float> %sum141, %85
  %.splatinsert167 = insertelement <8 x float> poison, float %in_x3_i0, i64 0
  %.splat168 = shufflevector <8 x float> %.splatinsert167, <8 x float> poison, <8 x i32> zeroinitializer
  %86 = fmul contract <8 x float> %.splat168, %w_i0_j2
  %sum169 = fadd contract <8 x float> %sum144, %86
  %.splatinsert170 = insertelement <8 x float> poison, float %in_x4_i0, i64 0
  %.splat171 = shufflevector <8 x float> %.splatinsert170, <8 x float> poison, <8 x i32> zeroinitializer
  %87 = fmul contract <8 x float> %.splat171, %w_i0_j2
  %sum172 = fadd contract <8 x float> %sum147, %87
  %.splatinsert173 = insertelement <8 x float> poison, float %in_x5_i0, i64 0
  %.splat174 = shufflevector <8 x float> %.splatinsert173, <8 x float> poison, <8 x i32> zeroinitializer
  %88 = fmul contract <8 x float> %.splat174, %w_i0_j2
  %sum175 = fadd contract <8 x float> %sum150, %88
  %.splatinsert176 = insertelement <8 x float> poison, float %in_x6_i0, i64 0
  %.splat177 = shufflevector <8 x float> %.splatinsert176, <8 x float> poison, <8 x i32> zeroinitializer
  %89 = fmul contract <8 x float> %.splat177, %w_i0_j2
  %sum178 = fadd contract <8 x float> %sum153, %89
  %.splatinsert179 = insertelement <8 x float> poison, float %in_x7_i0, i64 0
  %.splat180 = shufflevector <8 x float> %.splatinsert179, <8 x float> poison, <8 x i32> zeroinitializer
  %90 = fmul contract <8 x float> %.splat180, %w_i0_j2
  %sum181 = fadd contract <8 x float> %sum156, %90
  %.splatinsert182 = insertelement <8 x float> poison, float %in_x8_i0, i64 0
  %.splat183 = shufflevector <8 x float> %.splatinsert182, <8 x float> poison, <8 x i32> zeroinitializer
  %91 = fmul contract <8 x float> %.splat183, %w_i0_j2
  %sum184 = fadd contract <8 x float> %sum159, %91
  %.splatinsert185 = insertelement <8 x float> poison, float %in_x2_i1, i64 0
  %.splat186 = shufflevector <8 x float> %.splatinsert185, <8 x float> poison, <8 x i32> zeroinitializer
  %92 = fmul contract <8 x float> %.splat186, %w_i1_j2
  %sum187 = fadd contract <8 x float> %sum166, %92
  %.splatinsert188 = insertelement <8 x float> poison, float %in_x3_i1, i64 0
  %.splat189 = shufflevector <8 x float> %.splatinsert188, <8 x float> poison, <8 x i32> zeroinitializer
  %93 = fmul contract <8 x float> %.splat189, %w_i1_j2
  %sum190 = fadd contract <8 x float> %sum169, %93
  %.splatinsert191 = insertelement <8 x float> poison, float %in_x4_i1, i64 0
  %.splat192 = shufflevector <8 x float> %.splatinsert191, <8 x float> poison, <8 x i32> zeroinitializer
  %94 = fmul contract <8 x float> %.splat192, %w_i1_j2
  %sum193 = fadd contract <8 x float> %sum172, %94
  %.splatinsert194 = insertelement <8 x float> poison, float %in_x5_i1, i64 0
  %.splat195 = shufflevector <8 x float> %.splatinsert194, <8 x float> poison, <8 x i32> zeroinitializer
  %95 = fmul contract <8 x float> %.splat195, %w_i1_j2
  %sum196 = fadd contract <8 x float> %sum175, %95
  %.splatinsert197 = insertelement <8 x float> poison, float %in_x6_i1, i64 0
  %.splat198 = shufflevector <8 x float> %.splatinsert197, <8 x float> poison, <8 x i32> zeroinitializer
  %96 = fmul contract <8 x float> %.splat198, %w_i1_j2
  %sum199 = fadd contract <8 x float> %sum178, %96
  %.splatinsert200 = insertelement <8 x float> poison, float %in_x7_i1, i64 0
  %.splat201 = shufflevector <8 x float> %.splatinsert200, <8 x float> poison, <8 x i32> zeroinitializer
  %97 = fmul contract <8 x float> %.splat201, %w_i1_j2
  %sum202 = fadd contract <8 x float> %sum181, %97
  %.splatinsert203 = insertelement <8 x float> poison, float %in_x8_i1, i64 0
  %.splat204 = shufflevector <8 x float> %.splatinsert203, <8 x float> poison, <8 x i32> zeroinitializer
  %98 = fmul contract <8 x float> %.splat204, %w_i1_j2
  %sum205 = fadd contract <8 x float> %sum184, %98
  %.splatinsert206 = insertelement <8 x float> poison, float %in_x2_i2, i64 0
  %.splat207 = shufflevector <8 x float> %.splatinsert206, <8 x float> poison, <8 x i32> zeroinitializer
  %99 = fmul contract <8 x float> %.splat207, %w_i2_j2
  %sum208 = fadd contract <8 x float> %sum187, %99
  %.splatinsert209 = insertelement <8 x float> poison, float %in_x3_i2, i64 0
  %.splat210 = shufflevector <8 x float> %.splatinsert209, <8 x float> poison, <8 x i32> zeroinitializer
  %100 = fmul contract <8 x float> %.splat210, %w_i2_j2
  %sum211 = fadd contract <8 x float> %sum190, %100
  %.splatinsert212 = insertelement <8 x float> poison, float %in_x4_i2, i64 0
  %.splat213 = shufflevector <8 x float> %.splatinsert212, <8 x float> poison, <8 x i32> zeroinitializer
  %101 = fmul contract <8 x float> %.splat213, %w_i2_j2
  %sum214 = fadd contract <8 x float> %sum193, %101
  %.splatinsert215 = insertelement <8 x float> poison, float %in_x5_i2, i64 0
  %.splat216 = shufflevector <8 x float> %.splatinsert215, <8 x float> poison, <8 x i32> zeroinitializer
  %102 = fmul contract <8 x float> %.splat216, %w_i2_j2
  %sum217 = fadd contract <8 x float> %sum196, %102
  %.splatinsert218 = insertelement <8 x float> poison, float %in_x6_i2, i64 0
  %.splat219 = shufflevector <8 x float> %.splatinsert218, <8 x float> poison, <8 x i32> zeroinitializer
  %103 = fmul contract <8 x float> %.splat219, %w_i2_j2
  %sum220 = fadd contract <8 x float> %sum199, %103
  %.splatinsert221 = insertelement <8 x float> poison, float %in_x7_i2, i64 0
  %.splat222 = shufflevector <8 x float> %.splatinsert221, <8 x float> poison, <8 x i32> zeroinitializer
  %104 = fmul contract <8 x float> %.splat222, %w_i2_j2
  %sum223 = fadd contract <8 x float> %sum202, %104
  %.splatinsert224 = insertelement <8 x float> poison, float %in_x8_i2, i64 0
  %.splat225 = shufflevector <8 x float> %.splatinsert224, <8 x float> poison, <8 x i32> zeroinitializer
  %105 = fmul contract <8 x float> %.splat225, %w_i2_j2
  %sum226 = fadd contract <8 x float> %sum205, %105
  %sum_x0 = fadd contract <8 x float> %sum208, %b_c
  %106 = fcmp olt <8 x float> %sum_x0, zeroinitializer
  %larger_x0 = select <8 x i1> %106, <8 x float> zeroinitializer, <8 x float> %sum_x0
  %sum_x1 = fadd contract <8 x float> %sum211, %b_c
  %107 = fcmp olt <8 x float> %sum_x1, zeroinitializer
  %larger_x1 = select <8 x i1> %107, <8 x float> zeroinitializer, <8 x float> %sum_x1
  %sum_x2 = fadd contract <8 x float> %sum214, %b_c
  %108 = fcmp olt <8 x float> %sum_x2, zeroinitializer
  %larger_x2 = select <8 x i1> %108, <8 x float> zeroinitializer, <8 x float> %sum_x2
  %sum_x3 = fadd contract <8 x float> %sum217, %b_c
  %109 = fcmp olt <8 x float> %sum_x3, zeroinitializer
  %larger_x3 = select <8 x i1> %109, <8 x float> zeroinitializer, <8 x float> %sum_x3
  %sum_x4 = fadd contract <8 x float> %sum220, %b_c
  %110 = fcmp olt <8 x float> %sum_x4, zeroinitializer
  %larger_x4 = select <8 x i1> %110, <8 x float> zeroinitializer, <8 x float> %sum_x4
  %sum_x5 = fadd contract <8 x float> %sum223, %b_c
  %111 = fcmp olt <8 x float> %sum_x5, zeroinitializer
  %larger_x5 = select <8 x i1> %111, <8 x float> zeroinitializer, <8 x float> %sum_x5
  %sum_x6 = fadd contract <8 x float> %sum226, %b_c
  %112 = fcmp olt <8 x float> %sum_x6, zeroinitializer
  %larger_x6 = select <8 x i1> %112, <8 x float> zeroinitializer, <8 x float> %sum_x6
  %sum_x7 = fadd contract <8 x float> %sum163, %b_c
  %113 = fcmp olt <8 x float> %sum_x7, zeroinitializer
  %larger_x7 = select <8 x i1> %113, <8 x float> zeroinitializer, <8 x float> %sum_x7
  %out_at = add nsw i32 %out_c, %in_at
  %114 = shufflevector <8 x float> %larger_x0, <8 x float> %larger_x1, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %115 = shufflevector <8 x float> %larger_x2, <8 x float> %larger_x3, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %116 = shufflevector <8 x float> %larger_x0, <8 x float> %larger_x1, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %117 = shufflevector <8 x float> %larger_x2, <8 x float> %larger_x3, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %118 = shufflevector <8 x float> %114, <8 x float> %115, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %119 = shufflevector <8 x float> %114, <8 x float> %115, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %120 = shufflevector <8 x float> %116, <8 x float> %117, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %121 = shufflevector <8 x float> %116, <8 x float> %117, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %122 = shufflevector <8 x float> %larger_x4, <8 x float> %larger_x5, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %123 = shufflevector <8 x float> %larger_x6, <8 x float> %larger_x7, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %124 = shufflevector <8 x float> %larger_x4, <8 x float> %larger_x5, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %125 = shufflevector <8 x float> %larger_x6, <8 x float> %larger_x7, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %126 = shufflevector <8 x float> %122, <8 x float> %123, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %127 = shufflevector <8 x float> %122, <8 x float> %123, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %128 = shufflevector <8 x float> %124, <8 x float> %125, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %129 = shufflevector <8 x float> %124, <8 x float> %125, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %130 = shufflevector <8 x float> %118, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %131 = shufflevector <8 x float> %126, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %132 = shufflevector <4 x float> %130, <4 x float> %131, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %133 = add i32 %out_at, 0
  %134 = getelementptr inbounds float, ptr %out, i32 %133
  store <8 x float> %132, ptr %134, align 4
  %135 = shufflevector <8 x float> %119, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %136 = shufflevector <8 x float> %127, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %137 = shufflevector <4 x float> %135, <4 x float> %136, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %138 = add i32 %out_at, 64
  %139 = getelementptr inbounds float, ptr %out, i32 %138
  store <8 x float> %137, ptr %139, align 4
  %140 = shufflevector <8 x float> %120, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %141 = shufflevector <8 x float> %128, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %142 = shufflevector <4 x float> %140, <4 x float> %141, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %143 = add i32 %out_at, 128
  %144 = getelementptr inbounds float, ptr %out, i32 %143
  store <8 x float> %142, ptr %144, align 4
  %145 = shufflevector <8 x float> %121, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %146 = shufflevector <8 x float> %129, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %147 = shufflevector <4 x float> %145, <4 x float> %146, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %148 = add i32 %out_at, 192
  %149 = getelementptr inbounds float, ptr %out, i32 %148
  store <8 x float> %147, ptr %149, align 4
  %150 = shufflevector <8 x float> %118, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %151 = shufflevector <8 x float> %126, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %152 = shufflevector <4 x float> %150, <4 x float> %151, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %153 = add i32 %out_at, 256
  %154 = getelementptr inbounds float, ptr %out, i32 %153
  store <8 x float> %152, ptr %154, align 4
  %155 = shufflevector <8 x float> %119, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %156 = shufflevector <8 x float> %127, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %157 = shufflevector <4 x float> %155, <4 x float> %156, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %158 = add i32 %out_at, 320
  %159 = getelementptr inbounds float, ptr %out, i32 %158
  store <8 x float> %157, ptr %159, align 4
  %160 = shufflevector <8 x float> %120, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %161 = shufflevector <8 x float> %128, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %162 = shufflevector <4 x float> %160, <4 x float> %161, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %163 = add i32 %out_at, 384
  %164 = getelementptr inbounds float, ptr %out, i32 %163
  store <8 x float> %162, ptr %164, align 4
  %165 = shufflevector <8 x float> %121, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %166 = shufflevector <8 x float> %129, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %167 = shufflevector <4 x float> %165, <4 x float> %166, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %168 = add i32 %out_at, 448
  %169 = getelementptr inbounds float, ptr %out, i32 %168
  store <8 x float> %167, ptr %169, align 4
  %y.next = add nsw i32 %y, 1
  br label %y.test

y.end:                                            ; preds = %y.test
  br label %border.test

border.test:                                      ; preds = %y.end231, %y.end
  %border = phi i32 [ 0, %y.end ], [ %border.next, %y.end231 ]
  %170 = icmp slt i32 %border, 2
  br i1 %170, label %border.body, label %border.end

border.body:                                      ; preds = %border.test
  %border_below_1 = icmp slt i32 %border, 1
  %border227 = select i1 %border_below_1, i32 0, i32 7
  %border228 = select i1 %border_below_1, i32 1, i32 8
  br label %y.test229

y.test229:                                        ; preds = %inside.end449, %border.body
  %y232 = phi i32 [ %border227, %border.body ], [ %y.next534, %inside.end449 ]
  %171 = icmp slt i32 %y232, %border228
  br i1 %171, label %y.body230, label %y.end231

y.body230:                                        ; preds = %y.test229
  %in_at241 = mul nsw i32 %y232, 8
  %in_at242 = sub nsw i32 %in_at241, 8
  %y_above_0 = icmp slt i32 0, %y232
  br i1 %y_above_0, label %inside, label %inside.end

inside:                                           ; preds = %y.body230
  %172 = getelementptr inbounds float, ptr %in, i32 %in_at242
  %173 = load float, ptr %172, align 4
  br label %inside.end

inside.end:                                       ; preds = %inside, %y.body230
  %in_x1_i0243 = phi float [ %173, %inside ], [ 0.000000e+00, %y.body230 ]
  %.splatinsert244 = insertelement <8 x float> poison, float %in_x1_i0243, i64 0
  %.splat245 = shufflevector <8 x float> %.splatinsert244, <8 x float> poison, <8 x i32> zeroinitializer
  %174 = fmul contract <8 x float> %.splat245, %w_i0_j0
  %sum246 = fadd contract <8 x float> zeroinitializer, %174
  %in_at247 = sub nsw i32 %in_at241, 7
  br i1 %y_above_0, label %inside248, label %inside.end249

inside248:                                        ; preds = %inside.end
  %175 = getelementptr inbounds float, ptr %in, i32 %in_at247
  %176 = load float, ptr %175, align 4
  br label %inside.end249

inside.end249:                                    ; preds = %inside248, %inside.end
  %in_x2_i0250 = phi float [ %176, %inside248 ], [ 0.000000e+00, %inside.end ]
  %.splatinsert251 = insertelement <8 x float> poison, float %in_x2_i0250, i64 0
  %.splat252 = shufflevector <8 x float> %.splatinsert251, <8 x float> poison, <8 x i32> zeroinitializer
  %177 = fmul contract <8 x float> %.splat252, %w_i0_j0
  %sum253 = fadd contract <8 x float> zeroinitializer, %177
  %in_at254 = sub nsw i32 %in_at241, 6
  br i1 %y_above_0, label %inside255, label %inside.end256

inside255:                                        ; preds = %inside.end249
  %178 = getelementptr inbounds float, ptr %in, i32 %in_at254
  %179 = load float, ptr %178, align 4
  br label %inside.end256

inside.end256:                                    ; preds = %inside255, %inside.end249
  %in_x3_i0257 = phi float [ %179, %inside255 ], [ 0.000000e+00, %inside.end249 ]
  %.splatinsert258 = insertelement <8 x float> poison, float %in_x3_i0257, i64 0
  %.splat259 = shufflevector <8 x float> %.splatinsert258, <8 x float> poison, <8 x i32> zeroinitializer
  %180 = fmul contract <8 x float> %.splat259, %w_i0_j0
  %sum260 = fadd contract <8 x float> zeroinitializer, %180
  %in_at261 = sub nsw i32 %in_at241, 5
  br i1 %y_above_0, label %inside262, label %inside.end263

inside262:                                        ; preds = %inside.end256
  %181 = getelementptr inbounds float, ptr %in, i32 %in_at261
  %182 = load float, ptr %181, align 4
  br label %inside.end263

inside.end263:                                    ; preds = %inside262, %inside.end256
  %in_x4_i0264 = phi float [ %182, %inside262 ], [ 0.000000e+00, %inside.end256 ]
  %.splatinsert265 = insertelement <8 x float> poison, float %in_x4_i0264, i64 0
  %.splat266 = shufflevector <8 x float> %.splatinsert265, <8 x float> poison, <8 x i32> zeroinitializer
  %183 = fmul contract <8 x float> %.splat266, %w_i0_j0
  %sum267 = fadd contract <8 x float> zeroinitializer, %183
  %in_at268 = sub nsw i32 %in_at241, 4
  br i1 %y_above_0, label %inside269, label %inside.end270

inside269:                                        ; preds = %inside.end263
  %184 = getelementptr inbounds float, ptr %in, i32 %in_at268
  %185 = load float, ptr %184, align 4
  br label %inside.end270

inside.end270:                                    ; preds = %inside269, %inside.end263
  %in_x5_i0271 = phi float [ %185, %inside269 ], [ 0.000000e+00, %inside.end263 ]
  %.splatinsert272 = insertelement <8 x float> poison, float %in_x5_i0271, i64 0
  %.splat273 = shufflevector <8 x float> %.splatinsert272, <8 x float> poison, <8 x i32> zeroinitializer
  %186 = fmul contract <8 x float> %.splat273, %w_i0_j0
  %sum274 = fadd contract <8 x float> zeroinitializer, %186
  %in_at275 = sub nsw i32 %in_at241, 3
  br i1 %y_above_0, label %inside276, label %inside.end277

inside276:                                        ; preds = %inside.end270
  %187 = getelementptr inbounds float, ptr %in, i32 %in_at275
  %188 = load float, ptr %187, align 4
  br label %inside.end277

inside.end277:                                    ; preds = %inside276, %inside.end270
  %in_x6_i0278 = phi float [ %188, %inside276 ], [ 0.000000e+00, %inside.end270 ]
  %.splatinsert279 = insertelement <8 x float> poison, float %in_x6_i0278, i64 0
  %.splat280 = shufflevector <8 x float> %.splatinsert279, <8 x float> poison, <8 x i32> zeroinitializer
  %189 = fmul contract <8 x float> %.splat280, %w_i0_j0
  %sum281 = fadd contract <8 x float> zeroinitializer, %189
  %in_at282 = sub nsw i32 %in_at241, 2
  br i1 %y_above_0, label %inside283, label %inside.end284

inside283:                                        ; preds = %inside.end277
  %190 = getelementptr inbounds float, ptr %in, i32 %in_at282
  %191 = load float, ptr %190, align 4
  br label %inside.end284

inside.end284:                                    ; preds = %inside283, %inside.end277
  %in_x7_i0285 = phi float [ %191, %inside283 ], [ 0.000000e+00, %inside.end277 ]
  %.splatinsert286 = insertelement <8 x float> poison, float %in_x7_i0285, i64 0
  %.splat287 = shufflevector <8 x float> %.splatinsert286, <8 x float> poison, <8 x i32> zeroinitializer
  %192 = fmul contract <8 x float> %.splat287, %w_i0_j0
  %sum288 = fadd contract <8 x float> zeroinitializer, %192
  %193 = getelementptr inbounds float, ptr %in, i32 %in_at241
  %in_x1_i1289 = load float, ptr %193, align 4
  %.splatinsert290 = insertelement <8 x float> poison, float %in_x1_i1289, i64 0
  %.splat291 = shufflevector <8 x float> %.splatinsert290, <8 x float> poison, <8 x i32> zeroinitializer
  %194 = fmul contract <8 x float> %.splat291, %w_i1_j0
  %sum292 = fadd contract <8 x float> %sum246, %194
  %in_at293 = add nsw i32 %in_at241, 1
  %195 = getelementptr inbounds float, ptr %in, i32 %in_at293
  %in_x2_i1294 = load float, ptr %195, align 4
  %.splatinsert295 = insertelement <8 x float> poison, float %in_x2_i1294, i64 0
  %.splat296 = shufflevector <8 x float> %.splatinsert295, <8 x float> poison, <8 x i32> zeroinitializer
  %196 = fmul contract <8 x float> %.splat296, %w_i1_j0
  %sum297 = fadd contract <8 x float> %sum253, %196
  %in_at298 = add nsw i32 %in_at241, 2
  %197 = getelementptr inbounds float, ptr %in, i32 %in_at298
  %in_x3_i1299 = load float, ptr %197, align 4
  %.splatinsert300 = insertelement <8 x float> poison, float %in_x3_i1299, i64 0
  %.splat301 = shufflevector <8 x float> %.splatinsert300, <8 x float> poison, <8 x i32> zeroinitializer
  %198 = fmul contract <8 x float> %.splat301, %w_i1_j0
  %sum302 = fadd contract <8 x float> %sum260, %198
  %in_at303 = add nsw i32 %in_at241, 3
  %199 = getelementptr inbounds float, ptr %in, i32 %in_at303
  %in_x4_i1304 = load float, ptr %199, align 4
  %.splatinsert305 = insertelement <8 x float> poison, float %in_x4_i1304, i64 0
  %.splat306 = shufflevector <8 x float> %.splatinsert305, <8 x float> poison, <8 x i32> zeroinitializer
  %200 = fmul contract <8 x float> %.splat306, %w_i1_j0
  %sum307 = fadd contract <8 x float> %sum267, %200
  %in_at308 = add nsw i32 %in_at241, 4
  %201 = getelementptr inbounds float, ptr %in, i32 %in_at308
  %in_x5_i1309 = load float, ptr %201, align 4
  %.splatinsert310 = insertelement <8 x float> poison, float %in_x5_i1309, i64 0
  %.splat311 = shufflevector <8 x float> %.splatinsert310, <8 x float> poison, <8 x i32> zeroinitializer
  %202 = fmul contract <8 x float> %.splat311, %w_i1_j0
  %sum312 = fadd contract <8 x float> %sum274, %202
  %in_at313 = add nsw i32 %in_at241, 5
  %203 = getelementptr inbounds float, ptr %in, i32 %in_at313
  %in_x6_i1314 = load float, ptr %203, align 4
  %.splatinsert315 = insertelement <8 x float> poison, float %in_x6_i1314, i64 0
  %.splat316 = shufflevector <8 x float> %.splatinsert315, <8 x float> poison, <8 x i32> zeroinitializer
  %204 = fmul contract <8 x float> %.splat316, %w_i1_j0
  %sum317 = fadd contract <8 x float> %sum281, %204
  %in_at318 = add nsw i32 %in_at241, 6
  %205 = getelementptr inbounds float, ptr %in, i32 %in_at318
  %in_x7_i1319 = load float, ptr %205, align 4
  %.splatinsert320 = insertelement <8 x float> poison, float %in_x7_i1319, i64 0
  %.splat321 = shufflevector <8 x float> %.splatinsert320, <8 x float> poison, <8 x i32> zeroinitializer
  %206 = fmul contract <8 x float> %.splat321, %w_i1_j0
  %sum322 = fadd contract <8 x float> %sum288, %206
  %in_at323 = add nsw i32 %in_at241, 8
  %y_below_7 = icmp slt i32 %y232, 7
  br i1 %y_below_7, label %inside324, label %inside.end325

inside324:                                        ; preds = %inside.end284
  %207 = getelementptr inbounds float, ptr %in, i32 %in_at323
  %208 = load float, ptr %207, align 4
  br label %inside.end325

inside.end325:                                    ; preds = %inside324, %inside.end284
  %in_x1_i2326 = phi float [ %208, %inside324 ], [ 0.000000e+00, %inside.end284 ]
  %.splatinsert327 = insertelement <8 x float> poison, float %in_x1_i2326, i64 0
  %.splat328 = shufflevector <8 x float> %.splatinsert327, <8 x float> poison, <8 x i32> zeroinitializer
  %209 = fmul contract <8 x float> %.splat328, %w_i2_j0
  %sum329 = fadd contract <8 x float> %sum292, %209
  %in_at330 = add nsw i32 %in_at241, 9
  br i1 %y_below_7, label %inside331, label %inside.end332

inside331:                                        ; preds = %inside.end325
  %210 = getelementptr inbounds float, ptr %in, i32 %in_at330
  %211 = load float, ptr %210, align 4
  br label %inside.end332

inside.end332:                                    ; preds = %inside331, %inside.end325
  %in_x2_i2333 = phi float [ %211, %inside331 ], [ 0.000000e+00, %inside.end325 ]
  %.splatinsert334 = insertelement <8 x float> poison, float %in_x2_i2333, i64 0
  %.splat335 = shufflevector <8 x float> %.splatinsert334, <8 x float> poison, <8 x i32> zeroinitializer
  %212 = fmul contract <8 x float> %.splat335, %w_i2_j0
  %sum336 = fadd contract <8 x float> %sum297, %212
  %in_at337 = add nsw i32 %in_at241, 10
  br i1 %y_below_7, label %inside338, label %inside.end339

inside338:                                        ; preds = %inside.end332
  %213 = getelementptr inbounds float, ptr %in, i32 %in_at337
  %214 = load float, ptr %213, align 4
  br label %inside.end339

inside.end339:                                    ; preds = %inside338, %inside.end332
  %in_x3_i2340 = phi float [ %214, %inside338 ], [ 0.000000e+00, %inside.end332 ]
  %.splatinsert341 = insertelement <8 x float> poison, float %in_x3_i2340, i64 0
  %.splat342 = shufflevector <8 x float> %.splatinsert341, <8 x float> poison, <8 x i32> zeroinitializer
  %215 = fmul contract <8 x float> %.splat342, %w_i2_j0
  %sum343 = fadd contract <8 x float> %sum302, %215
  %in_at344 = add nsw i32 %in_at241, 11
  br i1 %y_below_7, label %inside345, label %inside.end346

inside345:                                        ; preds = %inside.end339
  %216 = getelementptr inbounds float, ptr %in, i32 %in_at344
  %217 = load float, ptr %216, align 4
  br label %inside.end346

inside.end346:                                    ; preds = %inside345, %inside.end339
  %in_x4_i2347 = phi float [ %217, %inside345 ], [ 0.000000e+00, %inside.end339 ]
  %.splatinsert348 = insertelement <8 x float> poison, float %in_x4_i2347, i64 0
  %.splat349 = shufflevector <8 x float> %.splatinsert348, <8 x float> poison, <8 x i32> zeroinitializer
  %218 = fmul contract <8 x float> %.splat349, %w_i2_j0
  %sum350 = fadd contract <8 x float> %sum307, %218
  %in_at351 = add nsw i32 %in_at241, 12
  br i1 %y_below_7, label %inside352, label %inside.end353

inside352:                                        ; preds = %inside.end346
  %219 = getelementptr inbounds float, ptr %in, i32 %in_at351
  %220 = load float, ptr %219, align 4
  br label %inside.end353

inside.end353:                                    ; preds = %inside352, %inside.end346
  %in_x5_i2354 = phi float [ %220, %inside352 ], [ 0.000000e+00, %inside.end346 ]
  %.splatinsert355 = insertelement <8 x float> poison, float %in_x5_i2354, i64 0
  %.splat356 = shufflevector <8 x float> %.splatinsert355, <8 x float> poison, <8 x i32> zeroinitializer
  %221 = fmul contract <8 x float> %.splat356, %w_i2_j0
  %sum357 = fadd contract <8 x float> %sum312, %221
  %in_at358 = add nsw i32 %in_at241, 13
  br i1 %y_below_7, label %inside359, label %inside.end360

inside359:                                        ; preds = %inside.end353
  %222 = getelementptr inbounds float, ptr %in, i32 %in_at358
  %223 = load float, ptr %222, align 4
  br label %inside.end360

inside.end360:                                    ; preds = %inside359, %inside.end353
  %in_x6_i2361 = phi float [ %223, %inside359 ], [ 0.000000e+00, %inside.end353 ]
  %.splatinsert362 = insertelement <8 x float> poison, float %in_x6_i2361, i64 0
  %.splat363 = shufflevector <8 x float> %.splatinsert362, <8 x float> poison, <8 x i32> zeroinitializer
  %224 = fmul contract <8 x float> %.splat363, %w_i2_j0
  %sum364 = fadd contract <8 x float> %sum317, %224
  %in_at365 = add nsw i32 %in_at241, 14
  br i1 %y_below_7, label %inside366, label %inside.end367

inside366:                                        ; preds = %inside.end360
  %225 = getelementptr inbounds float, ptr %in, i32 %in_at365
  %226 = load float, ptr %225, align 4
  br label %inside.end367

inside.end367:                                    ; preds = %inside366, %inside.end360
  %in_x7_i2368 = phi float [ %226, %inside366 ], [ 0.000000e+00, %inside.end360 ]
  %.splatinsert369 = insertelement <8 x float> poison, float %in_x7_i2368, i64 0
  %.splat370 = shufflevector <8 x float> %.splatinsert369, <8 x float> poison, <8 x i32> zeroinitializer
  %227 = fmul contract <8 x float> %.splat370, %w_i2_j0
  %sum371 = fadd contract <8 x float> %sum322, %227
  %.splatinsert372 = insertelement <8 x float> poison, float %in_x1_i0243, i64 0
  %.splat373 = shufflevector <8 x float> %.splatinsert372, <8 x float> poison, <8 x i32> zeroinitializer
  %228 = fmul contract <8 x float> %.splat373, %w_i0_j1
  %sum374 = fadd contract <8 x float> zeroinitializer, %228
  %.splatinsert375 = insertelement <8 x float> poison, float %in_x2_i0250, i64 0
  %.splat376 = shufflevector <8 x float> %.splatinsert375, <8 x float> poison, <8 x i32> zeroinitializer
  %229 = fmul contract <8 x float> %.splat376, %w_i0_j1
  %sum377 = fadd contract <8 x float> %sum329, %229
  %.splatinsert378 = insertelement <8 x float> poison, float %in_x3_i0257, i64 0
  %.splat379 = shufflevector <8 x float> %.splatinsert378, <8 x float> poison, <8 x i32> zeroinitializer
  %230 = fmul contract <8 x float> %.splat379, %w_i0_j1
  %sum380 = fadd contract <8 x float> %sum336, %230
  %.splatinsert381 = insertelement <8 x float> poison, float %in_x4_i0264, i64 0
  %.splat382 = shufflevector <8 x float> %.splatinsert381, <8 x float> poison, <8 x i32> zeroinitializer
  %231 = fmul contract <8 x float> %.splat382, %w_i0_j1
  %sum383 = fadd contract <8 x float> %sum343, %231
  %.splatinsert384 = insertelement <8 x float> poison, float %in_x5_i0271, i64 0
  %.splat385 = shufflevector <8 x float> %.splatinsert384, <8 x float> poison, <8 x i32> zeroinitializer
  %232 = fmul contract <8 x float> %.splat385, %w_i0_j1
  %sum386 = fadd contract <8 x float> %sum350, %232
  %.splatinsert387 = insertelement <8 x float> poison, float %in_x6_i0278, i64 0
  %.splat388 = shufflevector <8 x float> %.splatinsert387, <8 x float> poison, <8 x i32> zeroinitializer
  %233 = fmul contract <8 x float> %.splat388, %w_i0_j1
  %sum389 = fadd contract <8 x float> %sum357, %233
  %.splatinsert390 = insertelement <8 x float> poison, float %in_x7_i0285, i64 0
  %.splat391 = shufflevector <8 x float> %.splatinsert390, <8 x float> poison, <8 x i32> zeroinitializer
  %234 = fmul contract <8 x float> %.splat391, %w_i0_j1
  %sum392 = fadd contract <8 x float> %sum364, %234
  %in_at393 = sub nsw i32 %in_at241, 1
  br i1 %y_above_0, label %inside394, label %inside.end395

inside394:                                        ; preds = %inside.end367
  %235 = getelementptr inbounds float, ptr %in, i32 %in_at393
  %236 = load float, ptr %235, align 4
  br label %inside.end395

inside.end395:                                    ; preds = %inside394, %inside.end367
  %in_x8_i0396 = phi float [ %236, %inside394 ], [ 0.000000e+00, %inside.end367 ]
  %.splatinsert397 = insertelement <8 x float> poison, float %in_x8_i0396, i64 0
  %.splat398 = shufflevector <8 x float> %.splatinsert397, <8 x float> poison, <8 x i32> zeroinitializer
  %237 = fmul contract <8 x float> %.splat398, %w_i0_j1
  %sum399 = fadd contract <8 x float> %sum371, %237
  %.splatinsert400 = insertelement <8 x float> poison, float %in_x1_i1289, i64 0
  %.splat401 = shufflevector <8 x float> %.splatinsert400, <8 x float> poison, <8 x i32> zeroinitializer
  %238 = fmul contract <8 x float> %.splat401, %w_i1_j1
  %sum402 = fadd contract <8 x float> %sum374, %238
  %.splatinsert403 = insertelement <8 x float> poison, float %in_x2_i1294, i64 0
  %.splat404 = shufflevector <8 x float> %.splatinsert403, <8 x float> poison, <8 x i32> zeroinitializer
  %239 = fmul contract <8 x float> %.splat404, %w_i1_j1
  %sum405 = fadd contract <8 x float> %sum377, %239
  %.splatinsert406 = insertelement <8 x float> poison, float %in_x3_i1299, i64 0
  %.splat407 = shufflevector <8 x float> %.splatinsert406, <8 x float> poison, <8 x i32> zeroinitializer
  %240 = fmul contract <8 x float> %.splat407, %w_i1_j1
  %sum408 = fadd contract <8 x float> %sum380, %240
  %.splatinsert409 = insertelement <8 x float> poison, float %in_x4_i1304, i64 0
  %.splat410 = shufflevector <8 x float> %.splatinsert409, <8 x float> poison, <8 x i32> zeroinitializer
  %241 = fmul contract <8 x float> %.splat410, %w_i1_j1
  %sum411 = fadd contract <8 x float> %sum383, %241
  %.splatinsert412 = insertelement <8 x float> poison, float %in_x5_i1309, i64 0
  %.splat413 = shufflevector <8 x float> %.splatinsert412, <8 x float> poison, <8 x i32> zeroinitializer
  %242 = fmul contract <8 x float> %.splat413, %w_i1_j1
  %sum414 = fadd contract <8 x float> %sum386, %242
  %.splatinsert415 = insertelement <8 x float> poison, float %in_x6_i1314, i64 0
  %.splat416 = shufflevector <8 x float> %.splatinsert415, <8 x float> poison, <8 x i32> zeroinitializer
  %243 = fmul contract <8 x float> %.splat416, %w_i1_j1
  %sum417 = fadd contract <8 x float> %sum389, %243
  %.splatinsert418 = insertelement <8 x float> poison, float %in_x7_i1319, i64 0
  %.splat419 = shufflevector <8 x float> %.splatinsert418, <8 x float> poison, <8 x i32> zeroinitializer
  %244 = fmul contract <8 x float> %.splat419, %w_i1_j1
  %sum420 = fadd contract <8 x float> %sum392, %244
  %in_at421 = add nsw i32 %in_at241, 7
  %245 = getelementptr inbounds float, ptr %in, i32 %in_at421
  %in_x8_i1422 = load float, ptr %245, align 4
  %.splatinsert423 = insertelement <8 x float> poison, float %in_x8_i1422, i64 0
  %.splat424 = shufflevector <8 x float> %.splatinsert423, <8 x float> poison, <8 x i32> zeroinitializer
  %246 = fmul contract <8 x float> %.splat424, %w_i1_j1
  %sum425 = fadd contract <8 x float> %sum399, %246
  %.splatinsert426 = insertelement <8 x float> poison, float %in_x1_i2326, i64 0
  %.splat427 = shufflevector <8 x float> %.splatinsert426, <8 x float> poison, <8 x i32> zeroinitializer
  %247 = fmul contract <8 x float> %.splat427, %w_i2_j1
  %sum428 = fadd contract <8 x float> %sum402, %247
  %.splatinsert429 = insertelement <8 x float> poison, float %in_x2_i2333, i64 0
  %.splat430 = shufflevector <8 x float> %.splatinsert429, <8 x float> poison, <8 x i32> zeroinitializer
  %248 = fmul contract <8 x float> %.splat430, %w_i2_j1
  %sum431 = fadd contract <8 x float> %sum405, %248
  %.splatinsert432 = insertelement <8 x float> poison, float %in_x3_i2340, i64 0
  %.splat433 = shufflevector <8 x float> %.splatinsert432, <8 x float> poison, <8 x i32> zeroinitializer
  %249 = fmul contract <8 x float> %.splat433, %w_i2_j1
  %sum434 = fadd contract <8 x float> %sum408, %249
  %.splatinsert435 = insertelement <8 x float> poison, float %in_x4_i2347, i64 0
  %.splat436 = shufflevector <8 x float> %.splatinsert435, <8 x float> poison, <8 x i32> zeroinitializer
  %250 = fmul contract <8 x float> %.splat436, %w_i2_j1
  %sum437 = fadd contract <8 x float> %sum411, %250
  %.splatinsert438 = insertelement <8 x float> poison, float %in_x5_i2354, i64 0
  %.splat439 = shufflevector <8 x float> %.splatinsert438, <8 x float> poison, <8 x i32> zeroinitializer
  %251 = fmul contract <8 x float> %.splat439, %w_i2_j1
  %sum440 = fadd contract <8 x float> %sum414, %251
  %.splatinsert441 = insertelement <8 x float> poison, float %in_x6_i2361, i64 0
  %.splat442 = shufflevector <8 x float> %.splatinsert441, <8 x float> poison, <8 x i32> zeroinitializer
  %252 = fmul contract <8 x float> %.splat442, %w_i2_j1
  %sum443 = fadd contract <8 x float> %sum417, %252
  %.splatinsert444 = insertelement <8 x float> poison, float %in_x7_i2368, i64 0
  %.splat445 = shufflevector <8 x float> %.splatinsert444, <8 x float> poison, <8 x i32> zeroinitializer
  %253 = fmul contract <8 x float> %.splat445, %w_i2_j1
  %sum446 = fadd contract <8 x float> %sum420, %253
  %in_at447 = add nsw i32 %in_at241, 15
  br i1 %y_below_7, label %inside448, label %inside.end449

inside448:                                        ; preds = %inside.end395
  %254 = getelementptr inbounds float, ptr %in, i32 %in_at447
  %255 = load float, ptr %254, align 4
  br label %inside.end449

inside.end449:                                    ; preds = %inside448, %inside.end395
  %in_x8_i2450 = phi float [ %255, %inside448 ], [ 0.000000e+00, %inside.end395 ]
  %.splatinsert451 = insertelement <8 x float> poison, float %in_x8_i2450, i64 0
  %.splat452 = shufflevector <8 x float> %.splatinsert451, <8 x float> poison, <8 x i32> zeroinitializer
  %256 = fmul contract <8 x float> %.splat452, %w_i2_j1
  %sum453 = fadd contract <8 x float> %sum425, %256
  %.splatinsert454 = insertelement <8 x float> poison, float %in_x2_i0250, i64 0
  %.splat455 = shufflevector <8 x float> %.splatinsert454, <8 x float> poison, <8 x i32> zeroinitializer
  %257 = fmul contract <8 x float> %.splat455, %w_i0_j2
  %sum456 = fadd contract <8 x float> %sum428, %257
  %.splatinsert457 = insertelement <8 x float> poison, float %in_x3_i0257, i64 0
  %.splat458 = shufflevector <8 x float> %.splatinsert457, <8 x float> poison, <8 x i32> zeroinitializer
  %258 = fmul contract <8 x float> %.splat458, %w_i0_j2
  %sum459 = fadd contract <8 x float> %sum431, %258
  %.splatinsert460 = insertelement <8 x float> poison, float %in_x4_i0264, i64 0
  %.splat461 = shufflevector <8 x float> %.splatinsert460, <8 x float> poison, <8 x i32> zeroinitializer
  %259 = fmul contract <8 x float> %.splat461, %w_i0_j2
  %sum462 = fadd contract <8 x float> %sum434, %259
  %.splatinsert463 = insertelement <8 x float> poison, float %in_x5_i0271, i64 0
  %.splat464 = shufflevector <8 x float> %.splatinsert463, <8 x float> poison, <8 x i32> zeroinitializer
  %260 = fmul contract <8 x float> %.splat464, %w_i0_j2
  %sum465 = fadd contract <8 x float> %sum437, %260
  %.splatinsert466 = insertelement <8 x float> poison, float %in_x6_i0278, i64 0
  %.splat467 = shufflevector <8 x float> %.splatinsert466, <8 x float> poison, <8 x i32> zeroinitializer
  %261 = fmul contract <8 x float> %.splat467, %w_i0_j2
  %sum468 = fadd contract <8 x float> %sum440, %261
  %.splatinsert469 = insertelement <8 x float> poison, float %in_x7_i0285, i64 0
  %.splat470 = shufflevector <8 x float> %.splatinsert469, <8 x float> poison, <8 x i32> zeroinitializer
  %262 = fmul contract <8 x float> %.splat470, %w_i0_j2
  %sum471 = fadd contract <8 x float> %sum443, %262
  %.splatinsert472 = insertelement <8 x float> poison, float %in_x8_i0396, i64 0
  %.splat473 = shufflevector <8 x float> %.splatinsert472, <8 x float> poison, <8 x i32> zeroinitializer
  %263 = fmul contract <8 x float> %.splat473, %w_i0_j2
  %sum474 = fadd contract <8 x float> %sum446, %263
  %.splatinsert475 = insertelement <8 x float> poison, float %in_x2_i1294, i64 0
  %.splat476 = shufflevector <8 x float> %.splatinsert475, <8 x float> poison, <8 x i32> zeroinitializer
  %264 = fmul contract <8 x float> %.splat476, %w_i1_j2
  %sum477 = fadd contract <8 x float> %sum456, %264
  %.splatinsert478 = insertelement <8 x float> poison, float %in_x3_i1299, i64 0
  %.splat479 = shufflevector <8 x float> %.splatinsert478, <8 x float> poison, <8 x i32> zeroinitializer
  %265 = fmul contract <8 x float> %.splat479, %w_i1_j2
  %sum480 = fadd contract <8 x float> %sum459, %265
  %.splatinsert481 = insertelement <8 x float> poison, float %in_x4_i1304, i64 0
  %.splat482 = shufflevector <8 x float> %.splatinsert481, <8 x float> poison, <8 x i32> zeroinitializer
  %266 = fmul contract <8 x float> %.splat482, %w_i1_j2
  %sum483 = fadd contract <8 x float> %sum462, %266
  %.splatinsert484 = insertelement <8 x float> poison, float %in_x5_i1309, i64 0
  %.splat485 = shufflevector <8 x float> %.splatinsert484, <8 x float> poison, <8 x i32> zeroinitializer
  %267 = fmul contract <8 x float> %.splat485, %w_i1_j2
  %sum486 = fadd contract <8 x float> %sum465, %267
  %.splatinsert487 = insertelement <8 x float> poison, float %in_x6_i1314, i64 0
  %.splat488 = shufflevector <8 x float> %.splatinsert487, <8 x float> poison, <8 x i32> zeroinitializer
  %268 = fmul contract <8 x float> %.splat488, %w_i1_j2
  %sum489 = fadd contract <8 x float> %sum468, %268
  %.splatinsert490 = insertelement <8 x float> poison, float %in_x7_i1319, i64 0
  %.splat491 = shufflevector <8 x float> %.splatinsert490, <8 x float> poison, <8 x i32> zeroinitializer
  %269 = fmul contract <8 x float> %.splat491, %w_i1_j2
  %sum492 = fadd contract <8 x float> %sum471, %269
  %.splatinsert493 = insertelement <8 x float> poison, float %in_x8_i1422, i64 0
  %.splat494 = shufflevector <8 x float> %.splatinsert493, <8 x float> poison, <8 x i32> zeroinitializer
  %270 = fmul contract <8 x float> %.splat494, %w_i1_j2
  %sum495 = fadd contract <8 x float> %sum474, %270
  %.splatinsert496 = insertelement <8 x float> poison, float %in_x2_i2333, i64 0
  %.splat497 = shufflevector <8 x float> %.splatinsert496, <8 x float> poison, <8 x i32> zeroinitializer
  %271 = fmul contract <8 x float> %.splat497, %w_i2_j2
  %sum498 = fadd contract <8 x float> %sum477, %271
  %.splatinsert499 = insertelement <8 x float> poison, float %in_x3_i2340, i64 0
  %.splat500 = shufflevector <8 x float> %.splatinsert499, <8 x float> poison, <8 x i32> zeroinitializer
  %272 = fmul contract <8 x float> %.splat500, %w_i2_j2
  %sum501 = fadd contract <8 x float> %sum480, %272
  %.splatinsert502 = insertelement <8 x float> poison, float %in_x4_i2347, i64 0
  %.splat503 = shufflevector <8 x float> %.splatinsert502, <8 x float> poison, <8 x i32> zeroinitializer
  %273 = fmul contract <8 x float> %.splat503, %w_i2_j2
  %sum504 = fadd contract <8 x float> %sum483, %273
  %.splatinsert505 = insertelement <8 x float> poison, float %in_x5_i2354, i64 0
  %.splat506 = shufflevector <8 x float> %.splatinsert505, <8 x float> poison, <8 x i32> zeroinitializer
  %274 = fmul contract <8 x float> %.splat506, %w_i2_j2
  %sum507 = fadd contract <8 x float> %sum486, %274
  %.splatinsert508 = insertelement <8 x float> poison, float %in_x6_i2361, i64 0
  %.splat509 = shufflevector <8 x float> %.splatinsert508, <8 x float> poison, <8 x i32> zeroinitializer
  %275 = fmul contract <8 x float> %.splat509, %w_i2_j2
  %sum510 = fadd contract <8 x float> %sum489, %275
  %.splatinsert511 = insertelement <8 x float> poison, float %in_x7_i2368, i64 0
  %.splat512 = shufflevector <8 x float> %.splatinsert511, <8 x float> poison, <8 x i32> zeroinitializer
  %276 = fmul contract <8 x float> %.splat512, %w_i2_j2
  %sum513 = fadd contract <8 x float> %sum492, %276
  %.splatinsert514 = insertelement <8 x float> poison, float %in_x8_i2450, i64 0
  %.splat515 = shufflevector <8 x float> %.splatinsert514, <8 x float> poison, <8 x i32> zeroinitializer
  %277 = fmul contract <8 x float> %.splat515, %w_i2_j2
  %sum516 = fadd contract <8 x float> %sum495, %277
  %sum_x0517 = fadd contract <8 x float> %sum498, %b_c
  %278 = fcmp olt <8 x float> %sum_x0517, zeroinitializer
  %larger_x0518 = select <8 x i1> %278, <8 x float> zeroinitializer, <8 x float> %sum_x0517
  %sum_x1519 = fadd contract <8 x float> %sum501, %b_c
  %279 = fcmp olt <8 x float> %sum_x1519, zeroinitializer
  %larger_x1520 = select <8 x i1> %279, <8 x float> zeroinitializer, <8 x float> %sum_x1519
  %sum_x2521 = fadd contract <8 x float> %sum504, %b_c
  %280 = fcmp olt <8 x float> %sum_x2521, zeroinitializer
  %larger_x2522 = select <8 x i1> %280, <8 x float> zeroinitializer, <8 x float> %sum_x2521
  %sum_x3523 = fadd contract <8 x float> %sum507, %b_c
  %281 = fcmp olt <8 x float> %sum_x3523, zeroinitializer
  %larger_x3524 = select <8 x i1> %281, <8 x float> zeroinitializer, <8 x float> %sum_x3523
  %sum_x4525 = fadd contract <8 x float> %sum510, %b_c
  %282 = fcmp olt <8 x float> %sum_x4525, zeroinitializer
  %larger_x4526 = select <8 x i1> %282, <8 x float> zeroinitializer, <8 x float> %sum_x4525
  %sum_x5527 = fadd contract <8 x float> %sum513, %b_c
  %283 = fcmp olt <8 x float> %sum_x5527, zeroinitializer
  %larger_x5528 = select <8 x i1> %283, <8 x float> zeroinitializer, <8 x float> %sum_x5527
  %sum_x6529 = fadd contract <8 x float> %sum516, %b_c
  %284 = fcmp olt <8 x float> %sum_x6529, zeroinitializer
  %larger_x6530 = select <8 x i1> %284, <8 x float> zeroinitializer, <8 x float> %sum_x6529
  %sum_x7531 = fadd contract <8 x float> %sum453, %b_c
  %285 = fcmp olt <8 x float> %sum_x7531, zeroinitializer
  %larger_x7532 = select <8 x i1> %285, <8 x float> zeroinitializer, <8 x float> %sum_x7531
  %out_at533 = add nsw i32 %out_c, %in_at241
  %286 = shufflevector <8 x float> %larger_x0518, <8 x float> %larger_x1520, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %287 = shufflevector <8 x float> %larger_x2522, <8 x float> %larger_x3524, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %288 = shufflevector <8 x float> %larger_x0518, <8 x float> %larger_x1520, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %289 = shufflevector <8 x float> %larger_x2522, <8 x float> %larger_x3524, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %290 = shufflevector <8 x float> %286, <8 x float> %287, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %291 = shufflevector <8 x float> %286, <8 x float> %287, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %292 = shufflevector <8 x float> %288, <8 x float> %289, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %293 = shufflevector <8 x float> %288, <8 x float> %289, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %294 = shufflevector <8 x float> %larger_x4526, <8 x float> %larger_x5528, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %295 = shufflevector <8 x float> %larger_x6530, <8 x float> %larger_x7532, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %296 = shufflevector <8 x float> %larger_x4526, <8 x float> %larger_x5528, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %297 = shufflevector <8 x float> %larger_x6530, <8 x float> %larger_x7532, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %298 = shufflevector <8 x float> %294, <8 x float> %295, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %299 = shufflevector <8 x float> %294, <8 x float> %295, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %300 = shufflevector <8 x float> %296, <8 x float> %297, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %301 = shufflevector <8 x float> %296, <8 x float> %297, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %302 = shufflevector <8 x float> %290, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %303 = shufflevector <8 x float> %298, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %304 = shufflevector <4 x float> %302, <4 x float> %303, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %305 = add i32 %out_at533, 0
  %306 = getelementptr inbounds float, ptr %out, i32 %305
  store <8 x float> %304, ptr %306, align 4
  %307 = shufflevector <8 x float> %291, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %308 = shufflevector <8 x float> %299, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %309 = shufflevector <4 x float> %307, <4 x float> %308, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %310 = add i32 %out_at533, 64
  %311 = getelementptr inbounds float, ptr %out, i32 %310
  store <8 x float> %309, ptr %311, align 4
  %312 = shufflevector <8 x float> %292, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %313 = shufflevector <8 x float> %300, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %314 = shufflevector <4 x float> %312, <4 x float> %313, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %315 = add i32 %out_at533, 128
  %316 = getelementptr inbounds float, ptr %out, i32 %315
  store <8 x float> %314, ptr %316, align 4
  %317 = shufflevector <8 x float> %293, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %318 = shufflevector <8 x float> %301, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %319 = shufflevector <4 x float> %317, <4 x float> %318, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %320 = add i32 %out_at533, 192
  %321 = getelementptr inbounds float, ptr %out, i32 %320
  store <8 x float> %319, ptr %321, align 4
  %322 = shufflevector <8 x float> %290, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %323 = shufflevector <8 x float> %298, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %324 = shufflevector <4 x float> %322, <4 x float> %323, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %325 = add i32 %out_at533, 256
  %326 = getelementptr inbounds float, ptr %out, i32 %325
  store <8 x float> %324, ptr %326, align 4
  %327 = shufflevector <8 x float> %291, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %328 = shufflevector <8 x float> %299, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %329 = shufflevector <4 x float> %327, <4 x float> %328, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %330 = add i32 %out_at533, 320
  %331 = getelementptr inbounds float, ptr %out, i32 %330
  store <8 x float> %329, ptr %331, align 4
  %332 = shufflevector <8 x float> %292, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %333 = shufflevector <8 x float> %300, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %334 = shufflevector <4 x float> %332, <4 x float> %333, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %335 = add i32 %out_at533, 384
  %336 = getelementptr inbounds float, ptr %out, i32 %335
  store <8 x float> %334, ptr %336, align 4
  %337 = shufflevector <8 x float> %293, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %338 = shufflevector <8 x float> %301, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %339 = shufflevector <4 x float> %337, <4 x float> %338, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %340 = add i32 %out_at533, 448
  %341 = getelementptr inbounds float, ptr %out, i32 %340
  store <8 x float> %339, ptr %341, align 4
  %y.next534 = add nsw i32 %y232, 1
  br label %y.test229

y.end231:                                         ; preds = %y.test229
  %border.next = add nsw i32 %border, 1
  br label %border.test

border.end:                                       ; preds = %border.test
  %c_tile.next = add nsw i32 %c_tile, 1
  br label %c_tile.test

c_tile.end:                                       ; preds = %c_tile.test
  ret void
}

attributes #0 = { mustprogress nounwind }
