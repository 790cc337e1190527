; Function Attrs: mustprogress nounwind
define void @conv_relu(ptr noalias readonly %arg) #0 {
entry:
  %tile = alloca [80 x float], align 64
  %0 = getelementptr inbounds ptr, ptr %arg, i64 0
  %out = load ptr, ptr %0, align 8
  %1 = getelementptr inbounds ptr, ptr %arg, i64 1
  %in = load ptr, ptr %1, align 8
  %2 = getelementptr inbounds ptr, ptr %arg, i64 2
  %w = load ptr, ptr %2, align 8
  %3 = getelementptr inbounds ptr, ptr %arg, i64 3
  %b = load ptr, ptr %3, align 8
  br label %y.test

y.test:                                           ; preds = %x_tile.end, %entry
  %y = phi i32 [ 0, %entry ], [ %y.next, %x_tile.end ]
  %4 = icmp slt i32 %y, 8
  br i1 %4, label %y.body, label %y.end

y.body:                                           ; preds = %y.test
  %at_y = mul nsw i32 %y, 8
  br label %x_tile.test

x_tile.test:                                      ; preds = %lane.end, %y.body
  %x_tile = phi i32 [ 0, %y.body ], [ %x_tile.next, %lane.end ]
  %5 = icmp slt i32 %x_tile, 2
  br i1 %5, label %x_tile.body, label %x_tile.end

x_tile.body:                                      ; preds = %x_tile.test
  %x_tile_below_1 = icmp slt i32 %x_tile, 1
  br i1 %x_tile_below_1, label %inside, label %inside.end

inside:                                           ; preds = %x_tile.body
  %at_x = mul nsw i32 %x_tile, 5
  br label %inside.end

inside.end:                                       ; preds = %inside, %x_tile.body
  %x = phi i32 [ %at_x, %inside ], [ 3, %x_tile.body ]
  %at_yx = add nsw i32 %at_y, %x
  %x_above_0 = icmp slt i32 0, %x
  %x_below_3 = icmp slt i32 %x, 3
  br label %i.test

i.test:                                           ; preds = %then.end, %inside.end
  %acc_c8_x4.0 = phi <8 x float> [ zeroinitializer, %inside.end ], [ %acc_c8_x4.1, %then.end ]
  %acc_c0_x4.0 = phi <8 x float> [ zeroinitializer, %inside.end ], [ %acc_c0_x4.1, %then.end ]
  %acc_c8_x3.0 = phi <8 x float> [ zeroinitializer, %inside.end ], [ %acc_c8_x3.1, %then.end ]
  %acc_c0_x3.0 = phi <8 x float> [ zeroinitializer, %inside.end ], [ %acc_c0_x3.1, %then.end ]
  %acc_c8_x2.0 = phi <8 x float> [ zeroinitializer, %inside.end ], [ %acc_c8_x2.1, %then.end ]
  %acc_c0_x2.0 = phi <8 x float> [ zeroinitializer, %inside.end ], [ %acc_c0_x2.1, %then.end ]
  %acc_c8_x1.0 = phi <8 x float> [ zeroinitializer, %inside.end ], [ %acc_c8_x1.1, %then.end ]
  %acc_c0_x1.0 = phi <8 x float> [ zeroinitializer, %inside.end ], [ %acc_c0_x1.1, %then.end ]
  %acc_c8_x0.0 = phi <8 x float> [ zeroinitializer, %inside.end ], [ %acc_c8_x0.1, %then.end ]
  %acc_c0_x0.0 = phi <8 x float> [ zeroinitializer, %inside.end ], [ %acc_c0_x0.1, %then.end ]
  %i = phi i32 [ 0, %inside.end ], [ %i.next, %then.end ]
  %6 = icmp slt i32 %i, 3
  br i1 %6, label %i.body, label %i.end

i.body:                                           ; preds = %i.test
  %yi = add nsw i32 %y, %i
  %yi_below_9 = icmp slt i32 %yi, 9
  %yi_above_0 = icmp slt i32 0, %yi
  %yi_inside = and i1 %yi_below_9, %yi_above_0
  %in_i = mul nsw i32 %i, 8
  %in_at = add nsw i32 %at_yx, %in_i
  %in_at1 = sub nsw i32 %in_at, 9
  %w_at = mul nsw i32 %i, 48
  %w_at2 = add nsw i32 %w_at, 8
  %in_at3 = sub nsw i32 %in_at, 8
  %in_at4 = sub nsw i32 %in_at, 7
  %in_at5 = sub nsw i32 %in_at, 6
  %in_at6 = sub nsw i32 %in_at, 5
  %w_at7 = add nsw i32 %w_at, 16
  %w_at8 = add nsw i32 %w_at, 24
  %in_at9 = sub nsw i32 %in_at, 4
  %w_at10 = add nsw i32 %w_at, 32
  %w_at11 = add nsw i32 %w_at, 40
  %in_at12 = sub nsw i32 %in_at, 3
  br i1 %yi_inside, label %then, label %then.end

then:                                             ; preds = %i.body
  br i1 %x_above_0, label %inside13, label %inside.end14

inside13:                                         ; preds = %then
  %7 = getelementptr inbounds float, ptr %in, i32 %in_at1
  %8 = load float, ptr %7, align 4
  br label %inside.end14

inside.end14:                                     ; preds = %inside13, %then
  %in_x0 = phi float [ %8, %inside13 ], [ 0.000000e+00, %then ]
  %9 = getelementptr inbounds float, ptr %w, i32 %w_at
  %w_c0_j0 = load <8 x float>, ptr %9, align 4
  %.splatinsert = insertelement <8 x float> poison, float %in_x0, i64 0
  %.splat = shufflevector <8 x float> %.splatinsert, <8 x float> poison, <8 x i32> zeroinitializer
  %10 = fmul contract <8 x float> %.splat, %w_c0_j0
  %sum = fadd contract <8 x float> %acc_c0_x0.0, %10
  %11 = getelementptr inbounds float, ptr %w, i32 %w_at2
  %w_c8_j0 = load <8 x float>, ptr %11, align 4
  %.splatinsert15 = insertelement <8 x float> poison, float %in_x0, i64 0
  %.splat16 = shufflevector <8 x float> %.splatinsert15, <8 x float> poison, <8 x i32> zeroinitializer
  %12 = fmul contract <8 x float> %.splat16, %w_c8_j0
  %sum17 = fadd contract <8 x float> %acc_c8_x0.0, %12
  %13 = getelementptr inbounds float, ptr %in, i32 %in_at3
  %in_x1 = load float, ptr %13, align 4
  %.splatinsert18 = insertelement <8 x float> poison, float %in_x1, i64 0
  %.splat19 = shufflevector <8 x float> %.splatinsert18, <8 x float> poison, <8 x i32> zeroinitializer
  %14 = fmul contract <8 x float> %.splat19, %w_c0_j0
  %sum20 = fadd contract <8 x float> %acc_c0_x1.0, %14
  %.splatinsert21 = insertelement <8 x float> poison, float %in_x1, i64 0
  %.splat22 = shufflevector <8 x float> %.splatinsert21, <8 x float> poison, <8 x i32> zeroinitializer
  %15 = fmul contract <8 x float> %.splat22, %w_c8_j0
  %sum23 = fadd contract <8 x float> %acc_c8_x1.0, %15
  %16 = getelementptr inbounds float, ptr %in, i32 %in_at4
  %in_x2 = load float, ptr %16, align 4
  %.splatinsert24 = insertelement <8 x float> poison, float %in_x2, i64 0
  %.splat25 = shufflevector <8 x float> %.splatinsert24, <8 x float> poison, <8 x i32> zeroinitializer
  %17 = fmul contract <8 x float> %.splat25, %w_c0_j0
  %sum26 = fadd contract <8 x float> %acc_c0_x2.0, %17
  %.splatinsert27 = insertelement <8 x float> poison, float %in_x2, i64 0
  %.splat28 = shufflevector <8 x float> %.splatinsert27, <8 x float> poison, <8 x i32> zeroinitializer
  %18 = fmul contract <8 x float> %.splat28, %w_c8_j0
  %sum29 = fadd contract <8 x float> %acc_c8_x2.0, %18
  %19 = getelementptr inbounds float, ptr %in, i32 %in_at5
  %in_x3 = load float, ptr %19, align 4
  %.splatinsert30 = insertelement <8 x float> poison, float %in_x3, i64 0
  %.splat31 = shufflevector <8 x float> %.splatinsert30, <8 x float> poison, <8 x i32> zeroinitializer
  %20 = fmul contract <8 x float> %.splat31, %w_c0_j0
  %sum32 = fadd contract <8 x float> %acc_c0_x3.0, %20
  %.splatinsert33 = insertelement <8 x float> poison, float %in_x3, i64 0
  %.splat34 = shufflevector <8 x float> %.splatinsert33, <8 x float> poison, <8 x i32> zeroinitializer
  %21 = fmul contract <8 x float> %.splat34, %w_c8_j0
  %sum35 = fadd contract <8 x float> %acc_c8_x3.0, %21
  %22 = getelementptr inbounds float, ptr %in, i32 %in_at6
  %in_x4 = load float, ptr %22, align 4
  %.splatinsert36 = insertelement <8 x float> poison, float %in_x4, i64 0
  %.splat37 = shufflevector <8 x float> %.splatinsert36, <8 x float> poison, <8 x i32> zeroinitializer
  %23 = fmul contract <8 x float> %.splat37, %w_c0_j0
  %sum38 = fadd contract <8 x float> %acc_c0_x4.0, %23
  %.splatinsert39 = insertelement <8 x float> poison, float %in_x4, i64 0
  %.splat40 = shufflevector <8 x float> %.splatinsert39, <8 x float> poison, <8 x i32> zeroinitializer
  %24 = fmul contract <8 x float> %.splat40, %w_c8_j0
  %sum41 = fadd contract <8 x float> %acc_c8_x4.0, %24
  %25 = getelementptr inbounds float, ptr %w, i32 %w_at7
  %w_c0_j1 = load <8 x float>, ptr %25, align 4
  %.splatinsert42 = insertelement <8 x float> poison, float %in_x1, i64 0
  %.splat43 = shufflevector <8 x float> %.splatinsert42, <8 x float> poison, <8 x i32> zeroinitializer
  %26 = fmul contract <8 x float> %.splat43, %w_c0_j1
  %sum44 = fadd contract <8 x float> %sum, %26
  %27 = getelementptr inbounds float, ptr %w, i32 %w_at8
  %w_c8_j1 = load <8 x float>, ptr %27, align 4
  %.splatinsert45 = insertelement <8 x float> poison, float %in_x1, i64 0
  %.splat46 = shufflevector <8 x float> %.splatinsert45, <8 x float> poison, <8 x i32> zeroinitializer
  %28 = fmul contract <8 x float> %.splat46, %w_c8_j1
  %sum47 = fadd contract <8 x float> %sum17, %28
  %.splatinsert48 = insertelement <8 x float> poison, float %in_x2, i64 0
  %.splat49 = shufflevector <8 x float> %.splatinsert48, <8 x float> poison, <8 x i32> zeroinitializer
  %29 = fmul contract <8 x float> %.splat49, %w_c0_j1
  %sum50 = fadd contract <8 x float> %sum20, %29
  %.splatinsert51 = insertelement <8 x float> poison, float %in_x2, i64 0
  %.splat52 = shufflevector <8 x float> %.splatinsert51, <8 x float> poison, <8 x i32> zeroinitializer
  %30 = fmul contract <8 x float> %.splat52, %w_c8_j1
  %sum53 = fadd contract <8 x float> %sum23, %30
  %.splatinsert54 = insertelement <8 x float> poison, float %in_x3, i64 0
  %.splat55 = shufflevector <8 x float> %.splatinsert54, <8 x float> poison, <8 x i32> zeroinitializer
  %31 = fmul contract <8 x float> %.splat55, %w_c0_j1
  %sum56 = fadd contract <8 x float> %sum26, %31
  %.splatinsert57 = insertelement <8 x float> poison, float %in_x3, i64 0
  %.splat58 = shufflevector <8 x float> %.splatinsert57, <8 x float> poison, <8 x i32> zeroinitializer
  %32 = fmul contract <8 x float> %.splat58, %w_c8_j1
  %sum59 = fadd contract <8 x float> %sum29, %32
  %.splatinsert60 = insertelement <8 x float> poison, float %in_x4, i64 0
  %.splat61 = shufflevector <8 x float> %.splatinsert60, <8 x float> poison, <8 x i32> zeroinitializer
  %33 = fmul contract <8 x float> %.splat61, %w_c0_j1
  %sum62 = fadd contract <8 x float> %sum32, %33
  %.splatinsert63 = insertelement <8 x float> poison, float %in_x4, i64 0
  %.splat64 = shufflevector <8 x float> %.splatinsert63, <8 x float> poison, <8 x i32> zeroinitializer
  %34 = fmul contract <8 x float> %.splat64, %w_c8_j1
  %sum65 = fadd contract <8 x float> %sum35, %34
  %35 = getelementptr inbounds float, ptr %in, i32 %in_at9
  %in_x5 = load float, ptr %35, align 4
  %.splatinsert66 = insertelement <8 x float> poison, float %in_x5, i64 0
  %.splat67 = shufflevector <8 x float> %.splatinsert66, <8 x float> poison, <8 x i32> zeroinitializer
  %36 = fmul contract <8 x float> %.splat67, %w_c0_j1
  %sum68 = fadd contract <8 x float> %sum38, %36
  %.splatinsert69 = insertelement <8 x float> poison, float %in_x5, i64 0
  %.splat70 = shufflevector <8 x float> %.splatinsert69, <8 x float> poison, <8 x i32> zeroinitializer
  %37 = fmul contract <8 x float> %.splat70, %w_c8_j1
  %sum71 = fadd contract <8 x float> %sum41, %37
  %38 = getelementptr inbounds float, ptr %w, i32 %w_at10
  %w_c0_j2 = load <8 x float>, ptr %38, align 4
  %.splatinsert72 = insertelement <8 x float> poison, float %in_x2, i64 0
  %.splat73 = shufflevector <8 x float> %.splatinsert72, <8 x float> poison, <8 x i32> zeroinitializer
  %39 = fmul contract <8 x float> %.splat73, %w_c0_j2
  %sum74 = fadd contract <8 x float> %sum44, %39
  %40 = getelementptr inbounds float, ptr %w, i32 %w_at11
  %w_c8_j2 = load <8 x float>, ptr %40, align 4
  %.splatinsert75 = insertelement <8 x float> poison, float %in_x2, i64 0
  %.splat76 = shufflevector <8 x float> %.splatinsert75, <8 x float> poison, <8 x i32> zeroinitializer
  %41 = fmul contract <8 x float> %.splat76, %w_c8_j2
  %sum77 = fadd contract <8 x float> %sum47, %41
  %.splatinsert78 = insertelement <8 x float> poison, float %in_x3, i64 0
  %.splat79 = shufflevector <8 x float> %.splatinsert78, <8 x float> poison, <8 x i32> zeroinitializer
  %42 = fmul contract <8 x float> %.splat79, %w_c0_j2
  %sum80 = fadd contract <8 x float> %sum50, %42
  %.splatinsert81 = insertelement <8 x float> poison, float %in_x3, i64 0
  %.splat82 = shufflevector <8 x float> %.splatinsert81, <8 x float> poison, <8 x i32> zeroinitializer
  %43 = fmul contract <8 x float> %.splat82, %w_c8_j2
  %sum83 = fadd contract <8 x float> %sum53, %43
  %.splatinsert84 = insertelement <8 x float> poison, float %in_x4, i64 0
  %.splat85 = shufflevector <8 x float> %.splatinsert84, <8 x float> poison, <8 x i32> zeroinitializer
  %44 = fmul contract <8 x float> %.splat85, %w_c0_j2
  %sum86 = fadd contract <8 x float> %sum56, %44
  %.splatinsert87 = insertelement <8 x float> poison, float %in_x4, i64 0
  %.splat88 = shufflevector <8 x float> %.splatinsert87, <8 x float> poison, <8 x i32> zeroinitializer
  %45 = fmul contract <8 x float> %.splat88, %w_c8_j2
  %sum89 = fadd contract <8 x float> %sum59, %45
  %.splatinsert90 = insertelement <8 x float> poison, float %in_x5, i64 0
  %.splat91 = shufflevector <8 x float> %.splatinsert90, <8 x float> poison, <8 x i32> zeroinitializer
  %46 = fmul contract <8 x float> %.splat91, %w_c0_j2
  %sum92 = fadd contract <8 x float> %sum62, %46
  %.splatinsert93 = insertelement <8 x float> poison, float %in_x5, i64 0
  %.splat94 = shufflevector <8 x float> %.splatinsert93, <8 x float> poison, <8 x i32> zeroinitializer
  %47 = fmul contract <8 x float> %.splat94, %w_c8_j2
  %sum95 = fadd contract <8 x float> %sum65, %47
  br i1 %x_below_3, label %inside96, label %inside.end97

inside96:                                         ; preds = %inside.end14
  %48 = getelementptr inbounds float, ptr %in, i32 %in_at12
  %49 = load float, ptr %48, align 4
  br label %inside.end97

inside.end97:                                     ; preds = %inside96, %inside.end14
  %in_x6 = phi float [ %49, %inside96 ], [ 0.000000e+00, %inside.end14 ]
  %.splatinsert98 = insertelement <8 x float> poison, float %in_x6, i64 0
  %.splat99 = shufflevector <8 x float> %.splatinsert98, <8 x float> poison, <8 x i32> zeroinitializer
  %50 = fmul contract <8 x float> %.splat99, %w_c0_j2
  %sum100 = fadd contract <8 x float> %sum68, %50
  %.splatinsert101 = insertelement <8 x float> poison, float %in_x6, i64 0
  %.splat102 = shufflevector <8 x float> %.splatinsert101, <8 x float> poison, <8 x i32> zeroinitializer
  %51 = fmul contract <8 x float> %.splat102, %w_c8_j2
  %sum103 = fadd contract <8 x float> %sum71, %51
  br label %then.end

then.end:                                         ; preds = %inside.end97, %i.body
  %acc_c8_x4.1 = phi <8 x float> [ %sum103, %inside.end97 ], [ %acc_c8_x4.0, %i.body ]
  %acc_c0_x4.1 = phi <8 x float> [ %sum100, %inside.end97 ], [ %acc_c0_x4.0, %i.body ]
  %acc_c8_x3.1 = phi <8 x float> [ %sum95, %inside.end97 ], [ %acc_c8_x3.0, %i.body ]
  %acc_c0_x3.1 = phi <8 x float> [ %sum92, %inside.end97 ], [ %acc_c0_x3.0, %i.body ]
  %acc_c8_x2.1 = phi <8 x float> [ %sum89, %inside.end97 ], [ %acc_c8_x2.0, %i.body ]
  %acc_c0_x2.1 = phi <8 x float> [ %sum86, %inside.end97 ], [ %acc_c0_x2.0, %i.body ]
  %acc_c8_x1.1 = phi <8 x float> [ %sum83, %inside.end97 ], [ %acc_c8_x1.0, %i.body ]
  %acc_c0_x1.1 = phi <8 x float> [ %sum80, %inside.end97 ], [ %acc_c0_x1.0, %i.body ]
  %acc_c8_x0.1 = phi <8 x float> [ %sum77, %inside.end97 ], [ %acc_c8_x0.0, %i.body ]
  %acc_c0_x0.1 = phi <8 x float> [ %sum74, %inside.end97 ], [ %acc_c0_x0.0, %i.body ]
  %i.next = add nsw i32 %i, 1
  br label %i.test

i.end:                                            ; preds = %i.test
  %52 = getelementptr inbounds float, ptr %tile, i32 0
  store <8 x float> %acc_c0_x0.0, ptr %52, align 4
  %53 = getelementptr inbounds float, ptr %tile, i32 8
  store <8 x float> %acc_c8_x0.0, ptr %53, align 4
  %54 = getelementptr inbounds float, ptr %tile, i32 16
  store <8 x float> %acc_c0_x1.0, ptr %54, align 4
  %55 = getelementptr inbounds float, ptr %tile, i32 24
  store <8 x float> %acc_c8_x1.0, ptr %55, align 4
  %56 = getelementptr inbounds float, ptr %tile, i32 32
  store <8 x float> %acc_c0_x2.0, ptr %56, align 4
  %57 = getelementptr inbounds float, ptr %tile, i32 40
  store <8 x float> %acc_c8_x2.0, ptr %57, align 4
  %58 = getelementptr inbounds float, ptr %tile, i32 48
  store <8 x float> %acc_c0_x3.0, ptr %58, align 4
  %59 = getelementptr inbounds float, ptr %tile, i32 56
  store <8 x float> %acc_c8_x3.0, ptr %59, align 4
  %60 = getelementptr inbounds float, ptr %tile, i32 64
  store <8 x float> %acc_c0_x4.0, ptr %60, align 4
  %61 = getelementptr inbounds float, ptr %tile, i32 72
  store <8 x float> %acc_c8_x4.0, ptr %61, align 4
  br label %lane.test

lane.test:                                        ; preds = %lane.body, %i.end
  %lane = phi i32 [ 0, %i.end ], [ %lane.next, %lane.body ]
  %62 = icmp slt i32 %lane, 8
  br i1 %62, label %lane.body, label %lane.end

lane.body:                                        ; preds = %lane.test
  %63 = getelementptr inbounds float, ptr %tile, i32 %lane
  %tile_c0_x0 = load float, ptr %63, align 4
  %64 = getelementptr inbounds float, ptr %b, i32 %lane
  %b_c0 = load float, ptr %64, align 4
  %sum_c0_x0 = fadd contract float %tile_c0_x0, %b_c0
  %65 = fcmp olt float %sum_c0_x0, 0.000000e+00
  %larger_c0_x0 = select i1 %65, float 0.000000e+00, float %sum_c0_x0
  %out_c = mul nsw i32 %lane, 64
  %out_at = add nsw i32 %at_yx, %out_c
  %66 = getelementptr inbounds float, ptr %out, i32 %out_at
  store float %larger_c0_x0, ptr %66, align 4
  %at = add nsw i32 %lane, 8
  %67 = getelementptr inbounds float, ptr %tile, i32 %at
  %tile_c8_x0 = load float, ptr %67, align 4
  %68 = getelementptr inbounds float, ptr %b, i32 %at
  %b_c8 = load float, ptr %68, align 4
  %sum_c8_x0 = fadd contract float %tile_c8_x0, %b_c8
  %69 = fcmp olt float %sum_c8_x0, 0.000000e+00
  %larger_c8_x0 = select i1 %69, float 0.000000e+00, float %sum_c8_x0
  %out_at104 = add nsw i32 %out_at, 512
  %70 = getelementptr inbounds float, ptr %out, i32 %out_at104
  store float %larger_c8_x0, ptr %70, align 4
  %tile_at = add nsw i32 %lane, 16
  %71 = getelementptr inbounds float, ptr %tile, i32 %tile_at
  %tile_c0_x1 = load float, ptr %71, align 4
  %sum_c0_x1 = fadd contract float %tile_c0_x1, %b_c0
  %72 = fcmp olt float %sum_c0_x1, 0.000000e+00
  %larger_c0_x1 = select i1 %72, float 0.000000e+00, float %sum_c0_x1
  %out_at105 = add nsw i32 %out_at, 1
  %73 = getelementptr inbounds float, ptr %out, i32 %out_at105
  store float %larger_c0_x1, ptr %73, align 4
  %tile_at106 = add nsw i32 %lane, 24
  %74 = getelementptr inbounds float, ptr %tile, i32 %tile_at106
  %tile_c8_x1 = load float, ptr %74, align 4
  %sum_c8_x1 = fadd contract float %tile_c8_x1, %b_c8
  %75 = fcmp olt float %sum_c8_x1, 0.000000e+00
  %larger_c8_x1 = select i1 %75, float 0.000000e+00, float %sum_c8_x1
  %out_at107 = add nsw i32 %out_at, 513
  %76 = getelementptr inbounds float, ptr %out, i32 %out_at107
  store float %larger_c8_x1, ptr %76, align 4
  %tile_at108 = add nsw i32 %lane, 32
  %77 = getelementptr inbounds float, ptr %tile, i32 %tile_at108
  %tile_c0_x2 = load float, ptr %77, align 4
  %sum_c0_x2 = fadd contract float %tile_c0_x2, %b_c0
  %78 = fcmp olt float %sum_c0_x2, 0.000000e+00
  %larger_c0_x2 = select i1 %78, float 0.000000e+00, float %sum_c0_x2
  %out_at109 = add nsw i32 %out_at, 2
  %79 = getelementptr inbounds float, ptr %out, i32 %out_at109
  store float %larger_c0_x2, ptr %79, align 4
  %tile_at110 = add nsw i32 %lane, 40
  %80 = getelementptr inbounds float, ptr %tile, i32 %tile_at110
  %tile_c8_x2 = load float, ptr %80, align 4
  %sum_c8_x2 = fadd contract float %tile_c8_x2, %b_c8
  %81 = fcmp olt float %sum_c8_x2, 0.000000e+00
  %larger_c8_x2 = select i1 %81, float 0.000000e+00, float %sum_c8_x2
  %out_at111 = add nsw i32 %out_at, 514
  %82 = getelementptr inbounds float, ptr %out, i32 %out_at111
  store float %larger_c8_x2, ptr %82, align 4
  %tile_at112 = add nsw i32 %lane, 48
  %83 = getelementptr inbounds float, ptr %tile, i32 %tile_at112
  %tile_c0_x3 = load float, ptr %83, align 4
  %sum_c0_x3 = fadd contract float %tile_c0_x3, %b_c0
  %84 = fcmp olt float %sum_c0_x3, 0.000000e+00
  %larger_c0_x3 = select i1 %84, float 0.000000e+00, float %sum_c0_x3
  %out_at113 = add nsw i32 %out_at, 3
  %85 = getelementptr inbounds float, ptr %out, i32 %out_at113
  store float %larger_c0_x3, ptr %85, align 4
  %tile_at114 = add nsw i32 %lane, 56
  %86 = getelementptr inbounds float, ptr %tile, i32 %tile_at114
  %tile_c8_x3 = load float, ptr %86, align 4
  %sum_c8_x3 = fadd contract float %tile_c8_x3, %b_c8
  %87 = fcmp olt float %sum_c8_x3, 0.000000e+00
  %larger_c8_x3 = select i1 %87, float 0.000000e+00, float %sum_c8_x3
  %out_at115 = add nsw i32 %out_at, 515
  %88 = getelementptr inbounds float, ptr %out, i32 %out_at115
  store float %larger_c8_x3, ptr %88, align 4
  %tile_at116 = add nsw i32 %lane, 64
  %89 = getelementptr inbounds float, ptr %tile, i32 %tile_at116
  %tile_c0_x4 = load float, ptr %89, align 4
  %sum_c0_x4 = fadd contract float %tile_c0_x4, %b_c0
  %90 = fcmp olt float %sum_c0_x4, 0.000000e+00
  %larger_c0_x4 = select i1 %90, float 0.000000e+00, float %sum_c0_x4
  %out_at117 = add nsw i32 %out_at, 4
  %91 = getelementptr inbounds float, ptr %out, i32 %out_at117
  store float %larger_c0_x4, ptr %91, align 4
  %tile_at118 = add nsw i32 %lane, 72
  %92 = getelementptr inbounds float, ptr %tile, i32 %tile_at118
  %tile_c8_x4 = load float, ptr %92, align 4
  %sum_c8_x4 = fadd contract float %tile_c8_x4, %b_c8
  %93 = fcmp olt float %sum_c8_x4, 0.000000e+00
  %larger_c8_x4 = select i1 %93, float 0.000000e+00, float %sum_c8_x4
  %out_at119 = add nsw i32 %out_at, 516
  %94 = getelementptr inbounds float, ptr %out, i32 %out_at119
  store float %larger_c8_x4, ptr %94, align 4
  %lane.next = add nsw i32 %lane, 1
  br label %lane.test, !llvm.loop !0

lane.end:                                         ; preds = %lane.test
  %x_tile.next = add nsw i32 %x_tile, 1
  br label %x_tile.test

x_tile.end:                                       ; preds = %x_tile.test
  %y.next = add nsw i32 %y, 1
  br label %y.test

y.end:                                            ; preds = %y.test
  ret void
}

attributes #0 = { mustprogress nounwind }

!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.vectorize.enable", i1 false}
