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
  br i1 %is_n, label %inside, label %inside.end

inside:                                           ; preds = %n.body
  %9 = call float @expf(float %a_n)
  %exp_value = call float @etch_round_half(float %9)
  %10 = getelementptr inbounds i16, ptr %b, i32 %n
  %11 = load i16, ptr %10, align 2
  %b_n = call float @etch_half_to_float(i16 %11)
  %12 = fdiv float %exp_value, %b_n
  %ratio = call float @etch_round_half(float %12)
  br label %inside.end

inside.end:                                       ; preds = %inside, %n.body
  %chosen = phi float [ %ratio, %inside ], [ %a_n, %n.body ]
  %13 = call i16 @etch_float_to_half(float %chosen)
  %14 = getelementptr inbounds i16, ptr %out, i32 %n
  store i16 %13, ptr %14, align 2
  %n.next = add nsw i32 %n, 1
  br label %n.test

n.end:                                            ; preds = %n.test
  ret void
}

; Function Attrs: nounwind willreturn
declare float @etch_half_to_float(i16) #1

; Function Attrs: nounwind willreturn memory(inaccessiblemem: write)
declare float @expf(float) #2

; Function Attrs: nounwind willreturn
declare float @etch_round_half(float) #1

; Function Attrs: nounwind willreturn
declare i16 @etch_float_to_half(float) #1

attributes #0 = { mustprogress nounwind }
attributes #1 = { nounwind willreturn }
attributes #2 = { nounwind willreturn memory(inaccessiblemem: write) }
