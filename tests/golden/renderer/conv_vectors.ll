; Function Attrs: mustprogress nounwind
define void @conv_relu(ptr noalias readonly %arg) #0 {
entry:
  %tile = alloca [64 x float], align 64
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
  %x = mul nsw i32 %x_tile, 4
  %at_yx = add nsw i32 %at_y, %x
  %x_tile_above_0 = icmp slt i32 0, %x_tile
  %x_tile_below_1 = icmp slt i32 %x_tile, 1
  br label %i.test

i.test:                                           ; preds = %then.end, %x_tile.body
  %acc_c8_x3.0 = phi <8 x float> [ zeroinitializer, %x_tile.body ], [ %acc_c8_x3.1, %then.end ]
  %acc_c0_x3.0 = phi <8 x float> [ zeroinitializer, %x_tile.body ], [ %acc_c0_x3.1, %then.end ]
  %acc_c8_x2.0 = phi <8 x float> [ zeroinitializer, %x_tile.body ], [ %acc_c8_x2.1, %then.end ]
  %acc_c0_x2.0 = phi <8 x float> [ zeroinitializer, %x_tile.body ], [ %acc_c0_x2.1, %then.end ]
  %acc_c8_x1.0 = phi <8 x float> [ zeroinitializer, %x_tile.body ], [ %acc_c8_x1.1, %then.end ]
  %acc_c0_x1.0 = phi <8 x float> [ zeroinitializer, %x_tile.body ], [ %acc_c0_x1.1, %then.end ]
  %acc_c8_x0.0 = phi <8 x float> [ zeroinitializer, %x_tile.body ], [ %acc_c8_x0.1, %then.end ]
  %acc_c0_x0.0 = phi <8 x float> [ zeroinitializer, %x_tile.body ], [ %acc_c0_x0.1, %then.end ]
  %i = phi i32 [ 0, %x_tile.body ], [ %i.next, %then.end ]
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
  %w_at6 = add nsw i32 %w_at, 16
  %w_at7 = add nsw i32 %w_at, 24
  %in_at8 = sub nsw i32 %in_at, 5
  %w_at9 = add nsw i32 %w_at, 32
  %w_at10 = add nsw i32 %w_at, 40
  %in_at11 = sub nsw i32 %in_at, 4
  br i1 %yi_inside, label %then, label %then.end

then:                                             ; preds = %i.body
  br i1 %x_tile_above_0, label %inside, label %inside.end

inside:                                           ; preds = %then
  %7 = getelementptr inbounds float, ptr %in, i32 %in_at1
  %8 = load float, ptr %7, align 4
  br label %inside.end

inside.end:                                       ; preds = %inside, %then
  %in_x0 = phi float [ %8, %inside ], [ 0.000000e+00, %then ]
  %9 = getelementptr inbounds float, ptr %w, i32 %w_at
  %w_c0_j0 = load <8 x float>, ptr %9, align 4
  %.splatinsert = insertelement <8 x float> poison, float %in_x0, i64 0
  %.splat = shufflevector <8 x float> %.splatinsert, <8 x float> poison, <8 x i32> zeroinitializer
  %10 = fmul contract <8 x float> %.splat, %w_c0_j0
  %sum = fadd contract <8 x float> %acc_c0_x0.0, %10
  %11 = getelementptr inbounds float, ptr %w, i32 %w_at2
  %w_c8_j0 = load <8 x float>, ptr %11, align 4
  %.splatinsert12 = insertelement <8 x float> poison, float %in_x0, i64 0
  %.splat13 = shufflevector <8 x float> %.splatinsert12, <8 x float> poison, <8 x i32> zeroinitializer
  %12 = fmul contract <8 x float> %.splat13, %w_c8_j0
  %sum14 = fadd contract <8 x float> %acc_c8_x0.0, %12
  %13 = getelementptr inbounds float, ptr %in, i32 %in_at3
  %in_x1 = load float, ptr %13, align 4
  %.splatinsert15 = insertelement <8 x float> poison, float %in_x1, i64 0
  %.splat16 = shufflevector <8 x float> %.splatinsert15, <8 x float> poison, <8 x i32> zeroinitializer
  %14 = fmul contract <8 x float> %.splat16, %w_c0_j0
  %sum17 = fadd contract <8 x float> %acc_c0_x1.0, %14
  %.splatinsert18 = insertelement <8 x float> poison, float %in_x1, i64 0
  %.splat19 = shufflevector <8 x float> %.splatinsert18, <8 x float> poison, <8 x i32> zeroinitializer
  %15 = fmul contract <8 x float> %.splat19, %w_c8_j0
  %sum20 = fadd contract <8 x float> %acc_c8_x1.0, %15
  %16 = getelementptr inbounds float, ptr %in, i32 %in_at4
  %in_x2 = load float, ptr %16, align 4
  %.splatinsert21 = insertelement <8 x float> poison, float %in_x2, i64 0
  %.splat22 = shufflevector <8 x float> %.splatinsert21, <8 x float> poison, <8 x i32> zeroinitializer
  %17 = fmul contract <8 x float> %.splat22, %w_c0_j0
  %sum23 = fadd contract <8 x float> %acc_c0_x2.0, %17
  %.splatinsert24 = insertelement <8 x float> poison, float %in_x2, i64 0
  %.splat25 = shufflevector <8 x float> %.splatinsert24, <8 x float> poison, <8 x i32> zeroinitializer
  %18 = fmul contract <8 x float> %.splat25, %w_c8_j0
  %sum26 = fadd contract <8 x float> %acc_c8_x2.0, %18
  %19 = getelementptr inbounds float, ptr %in, i32 %in_at5
  %in_x3 = load float, ptr %19, align 4
  %.splatinsert27 = insertelement <8 x float> poison, float %in_x3, i64 0
  %.splat28 = shufflevector <8 x float> %.splatinsert27, <8 x float> poison, <8 x i32> zeroinitializer
  %20 = fmul contract <8 x float> %.splat28, %w_c0_j0
  %sum29 = fadd contract <8 x float> %acc_c0_x3.0, %20
  %.splatinsert30 = insertelement <8 x float> poison, float %in_x3, i64 0
  %.splat31 = shufflevector <8 x float> %.splatinsert30, <8 x float> poison, <8 x i32> zeroinitializer
  %21 = fmul contract <8 x float> %.splat31, %w_c8_j0
  %sum32 = fadd contract <8 x float> %acc_c8_x3.0, %21
  %22 = getelementptr inbounds float, ptr %w, i32 %w_at6
  %w_c0_j1 = load <8 x float>, ptr %22, align 4
  %.splatinsert33 = insertelement <8 x float> poison, float %in_x1, i64 0
  %.splat34 = shufflevector <8 x float> %.splatinsert33, <8 x float> poison, <8 x i32> zeroinitializer
  %23 = fmul contract <8 x float> %.splat34, %w_c0_j1
  %sum35 = fadd contract <8 x float> %sum, %23
  %24 = getelementptr inbounds float, ptr %w, i32 %w_at7
  %w_c8_j1 = load <8 x float>, ptr %24, align 4
  %.splatinsert36 = insertelement <8 x float> poison, float %in_x1, i64 0
  %.splat37 = shufflevector <8 x float> %.splatinsert36, <8 x float> poison, <8 x i32> zeroinitializer
  %25 = fmul contract <8 x float> %.splat37, %w_c8_j1
  %sum38 = fadd contract <8 x float> %sum14, %25
  %.splatinsert39 = insertelement <8 x float> poison, float %in_x2, i64 0
  %.splat40 = shufflevector <8 x float> %.splatinsert39, <8 x float> poison, <8 x i32> zeroinitializer
  %26 = fmul contract <8 x float> %.splat40, %w_c0_j1
  %sum41 = fadd contract <8 x float> %sum17, %26
  %.splatinsert42 = insertelement <8 x float> poison, float %in_x2, i64 0
  %.splat43 = shufflevector <8 x float> %.splatinsert42, <8 x float> poison, <8 x i32> zeroinitializer
  %27 = fmul contract <8 x float> %.splat43, %w_c8_j1
  %sum44 = fadd contract <8 x float> %sum20, %27
  %.splatinsert45 = insertelement <8 x float> poison, float %in_x3, i64 0
  %.splat46 = shufflevector <8 x float> %.splatinsert45, <8 x float> poison, <8 x i32> zeroinitializer
  %28 = fmul contract <8 x float> %.splat46, %w_c0_j1
  %sum47 = fadd contract <8 x float> %sum23, %28
  %.splatinsert48 = insertelement <8 x float> poison, float %in_x3, i64 0
  %.splat49 = shufflevector <8 x float> %.splatinsert48, <8 x float> poison, <8 x i32> zeroinitializer
  %29 = fmul contract <8 x float> %.splat49, %w_c8_j1
  %sum50 = fadd contract <8 x float> %sum26, %29
  %30 = getelementptr inbounds float, ptr %in, i32 %in_at8
  %in_x4 = load float, ptr %30, align 4
  %.splatinsert51 = insertelement <8 x float> poison, float %in_x4, i64 0
  %.splat52 = shufflevector <8 x float> %.splatinsert51, <8 x float> poison, <8 x i32> zeroinitializer
  %31 = fmul contract <8 x float> %.splat52, %w_c0_j1
  %sum53 = fadd contract <8 x float> %sum29, %31
  %.splatinsert54 = insertelement <8 x float> poison, float %in_x4, i64 0
  %.splat55 = shufflevector <8 x float> %.splatinsert54, <8 x float> poison, <8 x i32> zeroinitializer
  %32 = fmul contract <8 x float> %.splat55, %w_c8_j1
  %sum56 = fadd contract <8 x float> %sum32, %32
  %33 = getelementptr inbounds float, ptr %w, i32 %w_at9
  %w_c0_j2 = load <8 x float>, ptr %33, align 4
  %.splatinsert57 = insertelement <8 x float> poison, float %in_x2, i64 0
  %.splat58 = shufflevector <8 x float> %.splatinsert57, <8 x float> poison, <8 x i32> zeroinitializer
  %34 = fmul contract <8 x float> %.splat58, %w_c0_j2
  %sum59 = fadd contract <8 x float> %sum35, %34
  %35 = getelementptr inbounds float, ptr %w, i32 %w_at10
  %w_c8_j2 = load <8 x float>, ptr %35, align 4
  %.splatinsert60 = insertelement <8 x float> poison, float %in_x2, i64 0
  %.splat61 = shufflevector <8 x float> %.splatinsert60, <8 x float> poison, <8 x i32> zeroinitializer
  %36 = fmul contract <8 x float> %.splat61, %w_c8_j2
  %sum62 = fadd contract <8 x float> %sum38, %36
  %.splatinsert63 = insertelement <8 x float> poison, float %in_x3, i64 0
  %.splat64 = shufflevector <8 x float> %.splatinsert63, <8 x float> poison, <8 x i32> zeroinitializer
  %37 = fmul contract <8 x float> %.splat64, %w_c0_j2
  %sum65 = fadd contract <8 x float> %sum41, %37
  %.splatinsert66 = insertelement <8 x float> poison, float %in_x3, i64 0
  %.splat67 = shufflevector <8 x float> %.splatinsert66, <8 x float> poison, <8 x i32> zeroinitializer
  %38 = fmul contract <8 x float> %.splat67, %w_c8_j2
  %sum68 = fadd contract <8 x float> %sum44, %38
  %.splatinsert69 = insertelement <8 x float> poison, float %in_x4, i64 0
  %.splat70 = shufflevector <8 x float> %.splatinsert69, <8 x float> poison, <8 x i32> zeroinitializer
  %39 = fmul contract <8 x float> %.splat70, %w_c0_j2
  %sum71 = fadd contract <8 x float> %sum47, %39
  %.splatinsert72 = insertelement <8 x float> poison, float %in_x4, i64 0
  %.splat73 = shufflevector <8 x float> %.splatinsert72, <8 x float> poison, <8 x i32> zeroinitializer
  %40 = fmul contract <8 x float> %.splat73, %w_c8_j2
  %sum74 = fadd contract <8 x float> %sum50, %40
  br i1 %x_tile_below_1, label %inside75, label %inside.end76

inside75:                                         ; preds = %inside.end
  %41 = getelementptr inbounds float, ptr %in, i32 %in_at11
  %42 = load float, ptr %41, align 4
  br label %inside.end76

inside.end76:                                     ; preds = %inside75, %inside.end
  %in_x5 = phi float [ %42, %inside75 ], [ 0.000000e+00, %inside.end ]
  %.splatinsert77 = insertelement <8 x float> poison, float %in_x5, i64 0
  %.splat78 = shufflevector <8 x float> %.splatinsert77, <8 x float> poison, <8 x i32> zeroinitializer
  %43 = fmul contract <8 x float> %.splat78, %w_c0_j2
  %sum79 = fadd contract <8 x float> %sum53, %43
  %.splatinsert80 = insertelement <8 x float> poison, float %in_x5, i64 0
  %.splat81 = shufflevector <8 x float> %.splatinsert80, <8 x float> poison, <8 x i32> zeroinitializer
  %44 = fmul contract <8 x float> %.splat81, %w_c8_j2
  %sum82 = fadd contract <8 x float> %sum56, %44
  br label %then.end

then.end:                                         ; preds = %inside.end76, %i.body
  %acc_c8_x3.1 = phi <8 x float> [ %sum82, %inside.end76 ], [ %acc_c8_x3.0, %i.body ]
  %acc_c0_x3.1 = phi <8 x float> [ %sum79, %inside.end76 ], [ %acc_c0_x3.0, %i.body ]
  %acc_c8_x2.1 = phi <8 x float> [ %sum74, %inside.end76 ], [ %acc_c8_x2.0, %i.body ]
  %acc_c0_x2.1 = phi <8 x float> [ %sum71, %inside.end76 ], [ %acc_c0_x2.0, %i.body ]
  %acc_c8_x1.1 = phi <8 x float> [ %sum68, %inside.end76 ], [ %acc_c8_x1.0, %i.body ]
  %acc_c0_x1.1 = phi <8 x float> [ %sum65, %inside.end76 ], [ %acc_c0_x1.0, %i.body ]
  %acc_c8_x0.1 = phi <8 x float> [ %sum62, %inside.end76 ], [ %acc_c8_x0.0, %i.body ]
  %acc_c0_x0.1 = phi <8 x float> [ %sum59, %inside.end76 ], [ %acc_c0_x0.0, %i.body ]
  %i.next = add nsw i32 %i, 1
  br label %i.test

i.end:                                            ; preds = %i.test
  %45 = getelementptr inbounds float, ptr %tile, i32 0
  store <8 x float> %acc_c0_x0.0, ptr %45, align 4
  %46 = getelementptr inbounds float, ptr %tile, i32 8
  store <8 x float> %acc_c8_x0.0, ptr %46, align 4
  %47 = getelementptr inbounds float, ptr %tile, i32 16
  store <8 x float> %acc_c0_x1.0, ptr %47, align 4
  %48 = getelementptr inbounds float, ptr %tile, i32 24
  store <8 x float> %acc_c8_x1.0, ptr %48, align 4
  %49 = getelementptr inbounds float, ptr %tile, i32 32
  store <8 x float> %acc_c0_x2.0, ptr %49, align 4
  %50 = getelementptr inbounds float, ptr %tile, i32 40
  store <8 x float> %acc_c8_x2.0, ptr %50, align 4
  %51 = getelementptr inbounds float, ptr %tile, i32 48
  store <8 x float> %acc_c0_x3.0, ptr %51, align 4
  %52 = getelementptr inbounds float, ptr %tile, i32 56
  store <8 x float> %acc_c8_x3.0, ptr %52, align 4
  br label %lane.test

lane.test:                                        ; preds = %lane.body, %i.end
  %lane = phi i32 [ 0, %i.end ], [ %lane.next, %lane.body ]
  %53 = icmp slt i32 %lane, 8
  br i1 %53, label %lane.body, label %lane.end

lane.body:                                        ; preds = %lane.test
  %54 = getelementptr inbounds float, ptr %tile, i32 %lane
  %tile_c0_x0 = load float, ptr %54, align 4
  %55 = getelementptr inbounds float, ptr %b, i32 %lane
  %b_c0 = load float, ptr %55, align 4
  %sum_c0_x0 = fadd contract float %tile_c0_x0, %b_c0
  %56 = fcmp olt float %sum_c0_x0, 0.000000e+00
  %larger_c0_x0 = select i1 %56, float 0.000000e+00, float %sum_c0_x0
  %out_c = mul nsw i32 %lane, 64
  %out_at = add nsw i32 %at_yx, %out_c
  %57 = getelementptr inbounds float, ptr %out, i32 %out_at
  store float %larger_c0_x0, ptr %57, align 4
  %at = add nsw i32 %lane, 8
  %58 = getelementptr inbounds float, ptr %tile, i32 %at
  %tile_c8_x0 = load float, ptr %58, align 4
  %59 = getelementptr inbounds float, ptr %b, i32 %at
  %b_c8 = load float, ptr %59, align 4
  %sum_c8_x0 = fadd contract float %tile_c8_x0, %b_c8
  %60 = fcmp olt float %sum_c8_x0, 0.000000e+00
  %larger_c8_x0 = select i1 %60, float 0.000000e+00, float %sum_c8_x0
  %out_at83 = add nsw i32 %out_at, 512
  %61 = getelementptr inbounds float, ptr %out, i32 %out_at83
  store float %larger_c8_x0, ptr %61, align 4
  %tile_at = add nsw i32 %lane, 16
  %62 = getelementptr inbounds float, ptr %tile, i32 %tile_at
  %tile_c0_x1 = load float, ptr %62, align 4
  %sum_c0_x1 = fadd contract float %tile_c0_x1, %b_c0
  %63 = fcmp olt float %sum_c0_x1, 0.000000e+00
  %larger_c0_x1 = select i1 %63, float 0.000000e+00, float %sum_c0_x1
  %out_at84 = add nsw i32 %out_at, 1
  %64 = getelementptr inbounds float, ptr %out, i32 %out_at84
  store float %larger_c0_x1, ptr %64, align 4
  %tile_at85 = add nsw i32 %lane, 24
  %65 = getelementptr inbounds float, ptr %tile, i32 %tile_at85
  %tile_c8_x1 = load float, ptr %65, align 4
  %sum_c8_x1 = fadd contract float %tile_c8_x1, %b_c8
  %66 = fcmp olt float %sum_c8_x1, 0.000000e+00
  %larger_c8_x1 = select i1 %66, float 0.000000e+00, float %sum_c8_x1
  %out_at86 = add nsw i32 %out_at, 513
  %67 = getelementptr inbounds float, ptr %out, i32 %out_at86
  store float %larger_c8_x1, ptr %67, align 4
  %tile_at87 = add nsw i32 %lane, 32
  %68 = getelementptr inbounds float, ptr %tile, i32 %tile_at87
  %tile_c0_x2 = load float, ptr %68, align 4
  %sum_c0_x2 = fadd contract float %tile_c0_x2, %b_c0
  %69 = fcmp olt float %sum_c0_x2, 0.000000e+00
  %larger_c0_x2 = select i1 %69, float 0.000000e+00, float %sum_c0_x2
  %out_at88 = add nsw i32 %out_at, 2
  %70 = getelementptr inbounds float, ptr %out, i32 %out_at88
  store float %larger_c0_x2, ptr %70, align 4
  %tile_at89 = add nsw i32 %lane, 40
  %71 = getelementptr inbounds float, ptr %tile, i32 %tile_at89
  %tile_c8_x2 = load float, ptr %71, align 4
  %sum_c8_x2 = fadd contract float %tile_c8_x2, %b_c8
  %72 = fcmp olt float %sum_c8_x2, 0.000000e+00
  %larger_c8_x2 = select i1 %72, float 0.000000e+00, float %sum_c8_x2
  %out_at90 = add nsw i32 %out_at, 514
  %73 = getelementptr inbounds float, ptr %out, i32 %out_at90
  store float %larger_c8_x2, ptr %73, align 4
  %tile_at91 = add nsw i32 %lane, 48
  %74 = getelementptr inbounds float, ptr %tile, i32 %tile_at91
  %tile_c0_x3 = load float, ptr %74, align 4
  %sum_c0_x3 = fadd contract float %tile_c0_x3, %b_c0
  %75 = fcmp olt float %sum_c0_x3, 0.000000e+00
  %larger_c0_x3 = select i1 %75, float 0.000000e+00, float %sum_c0_x3
  %out_at92 = add nsw i32 %out_at, 3
  %76 = getelementptr inbounds float, ptr %out, i32 %out_at92
  store float %larger_c0_x3, ptr %76, align 4
  %tile_at93 = add nsw i32 %lane, 56
  %77 = getelementptr inbounds float, ptr %tile, i32 %tile_at93
  %tile_c8_x3 = load float, ptr %77, align 4
  %sum_c8_x3 = fadd contract float %tile_c8_x3, %b_c8
  %78 = fcmp olt float %sum_c8_x3, 0.000000e+00
  %larger_c8_x3 = select i1 %78, float 0.000000e+00, float %sum_c8_x3
  %out_at94 = add nsw i32 %out_at, 515
  %79 = getelementptr inbounds float, ptr %out, i32 %out_at94
  store float %larger_c8_x3, ptr %79, align 4
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
