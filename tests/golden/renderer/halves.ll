; Function Attrs: mustprogress nounwind
define void @halves(ptr noalias readonly %arg) #0 {
entry:
  %0 = getelementptr inbounds ptr, ptr %arg, i64 0
  %out = load ptr, ptr %0, align 8
  %1 = getelementptr inbounds ptr, ptr %arg, i64 1
  %a = load ptr, ptr %1, align 8
  %2 = getelementptr inbounds ptr, ptr %arg, i64 2
  %b = load ptr, ptr %2, align 8
  %3 = getelementptr inbounds ptr, ptr %arg, i64 3
  %is = load ptr, ptr %3, align 8
  br label %n.test

n.test:                                           ; preds = %inside.end, %entry
  %n = phi i32 [ 0, %entry ], [ %n.next, %inside.end ]
  %4 = icmp slt i32 %n, 9
  br i1 %4, label %n.body, label %n.end

n.body:                                           ; preds = %n.test
  %5 = getelementptr inbounds i8, ptr %is, i32 %n
  %6 = load i8, ptr %5, align 1
  %is_n = icmp ne i8 %6, 0
  %7 = getelementptr inbounds i16, ptr %a, i32 %n
  %8 = load i16, ptr %7, align 2
  %a_n = call float @etch_half_to_float(i16 %8)
  %less = fcmp olt float %a_n, -1.040000e+02
  %above = select i1 %less, float -1.040000e+02, float %a_n
  %less1 = fcmp olt float 8.900000e+01, %above
  %bounded = select i1 %less1, float 8.900000e+01, float %above
  %product = fmul contract float %bounded, 0x3FF7154760000000
  %is_small = fcmp olt float %a_n, 0.000000e+00
  %to_whole = select i1 %is_small, float 0x41680017E0000000, float 0x41680007E0000000
  %whole = fadd contract float %product, %to_whole
  %n2 = fsub contract float %whole, %to_whole
  %product3 = fmul contract float %n2, 0x3FE6300000000000
  %diff = fsub contract float %bounded, %product3
  %product4 = fmul contract float %n2, 0x3F2BD01060000000
  %r = fadd contract float %diff, %product4
  %product5 = fmul contract float 0x3F56A4F700000000, %r
  %sum = fadd contract float %product5, 0x3F81239860000000
  %product6 = fmul contract float %sum, %r
  %sum7 = fadd contract float %product6, 0x3FA5558AE0000000
  br i1 %is_n, label %inside, label %inside.end

inside:                                           ; preds = %n.body
  %product8 = fmul contract float %sum7, %r
  %sum9 = fadd contract float %product8, 0x3FC5554920000000
  %product10 = fmul contract float %sum9, %r
  %sum11 = fadd contract float %product10, 0x3FDFFFFFC0000000
  %product12 = fmul contract float %sum11, %r
  %sum13 = fadd contract float %product12, 1.000000e+00
  %product14 = fmul contract float %sum13, %r
  %sum15 = fadd contract float %product14, 1.000000e+00
  %value = bitcast float %whole to i32
  %shifted = call i32 @etch_shl_u32(i32 %value, i32 23)
  %value16 = bitcast i32 %shifted to float
  %product17 = fmul contract float %sum15, %value16
  %chosen = select i1 %is_small, float 0x3BF0000000000000, float 0x43F0000000000000
  %product18 = fmul contract float %product17, %chosen
  %value19 = call float @etch_round_half(float %product18)
  %9 = getelementptr inbounds i16, ptr %b, i32 %n
  %10 = load i16, ptr %9, align 2
  %b_n = call float @etch_half_to_float(i16 %10)
  %11 = fdiv float %value19, %b_n
  %ratio = call float @etch_round_half(float %11)
  br label %inside.end

inside.end:                                       ; preds = %inside, %n.body
  %chosen20 = phi float [ %ratio, %inside ], [ %a_n, %n.body ]
  %12 = call i16 @etch_float_to_half(float %chosen20)
  %13 = getelementptr inbounds i16, ptr %out, i32 %n
  store i16 %12, ptr %13, align 2
  %n.next = add nsw i32 %n, 1
  br label %n.test

n.end:                                            ; preds = %n.test
  ret void
}

; Function Attrs: nounwind willreturn
declare float @etch_half_to_float(i16) #1

; Function Attrs: nounwind willreturn
declare i32 @etch_shl_u32(i32, i32) #1

; Function Attrs: nounwind willreturn
declare float @etch_round_half(float) #1

; Function Attrs: nounwind willreturn
declare i16 @etch_float_to_half(float) #1

attributes #0 = { mustprogress nounwind }
attributes #1 = { nounwind willreturn }
