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
  br label %c.test

c.test:                                           ; preds = %y.end, %entry
  %c = phi i32 [ 0, %entry ], [ %c.next, %y.end ]
  %4 = icmp slt i32 %c, 16
  br i1 %4, label %c.body, label %c.end

c.body:                                           ; preds = %c.test
  %w_c = mul nsw i32 %c, 9
  %5 = getelementptr inbounds float, ptr %b, i32 %c
  %b_c = load float, ptr %5, align 4
  %out_c = mul nsw i32 %c, 64
  br label %y.test

y.test:                                           ; preds = %x.end, %c.body
  %y = phi i32 [ 0, %c.body ], [ %y.next, %x.end ]
  %6 = icmp slt i32 %y, 8
  br i1 %6, label %y.body, label %y.end

y.body:                                           ; preds = %y.test
  %at_y = mul nsw i32 %y, 8
  %out_at = add nsw i32 %out_c, %at_y
  br label %x.test

x.test:                                           ; preds = %i.end, %y.body
  %x = phi i32 [ 0, %y.body ], [ %x.next, %i.end ]
  %7 = icmp slt i32 %x, 8
  br i1 %7, label %x.body, label %x.end

x.body:                                           ; preds = %x.test
  %in_yx = add nsw i32 %at_y, %x
  br label %i.test

i.test:                                           ; preds = %then.end, %x.body
  %acc.0 = phi float [ 0.000000e+00, %x.body ], [ %acc.3, %then.end ]
  %i = phi i32 [ 0, %x.body ], [ %i.next, %then.end ]
  %8 = icmp slt i32 %i, 3
  br i1 %8, label %i.body, label %i.end

i.body:                                           ; preds = %i.test
  %yi = add nsw i32 %y, %i
  %yi_below_9 = icmp slt i32 %yi, 9
  %yi_above_0 = icmp slt i32 0, %yi
  %yi_inside = and i1 %yi_below_9, %yi_above_0
  %in_i = mul nsw i32 %i, 8
  %in_at = add nsw i32 %in_yx, %in_i
  %w_i = mul nsw i32 %i, 3
  %w_at = add nsw i32 %w_c, %w_i
  br i1 %yi_inside, label %then, label %then.end

then:                                             ; preds = %i.body
  br label %j.test

j.test:                                           ; preds = %then.end5, %then
  %acc.1 = phi float [ %acc.0, %then ], [ %acc.2, %then.end5 ]
  %j = phi i32 [ 0, %then ], [ %j.next, %then.end5 ]
  %9 = icmp slt i32 %j, 3
  br i1 %9, label %j.body, label %j.end

j.body:                                           ; preds = %j.test
  %xj = add nsw i32 %x, %j
  %xj_below_9 = icmp slt i32 %xj, 9
  %xj_above_0 = icmp slt i32 0, %xj
  %xj_inside = and i1 %xj_below_9, %xj_above_0
  %in_at1 = add nsw i32 %in_at, %j
  %in_at2 = sub nsw i32 %in_at1, 9
  %w_at3 = add nsw i32 %w_at, %j
  br i1 %xj_inside, label %then4, label %then.end5

then4:                                            ; preds = %j.body
  %10 = getelementptr inbounds float, ptr %in, i32 %in_at2
  %in_yxij = load float, ptr %10, align 4
  %11 = getelementptr inbounds float, ptr %w, i32 %w_at3
  %w_cij = load float, ptr %11, align 4
  %12 = fmul contract float %in_yxij, %w_cij
  %sum = fadd contract float %acc.1, %12
  br label %then.end5

then.end5:                                        ; preds = %then4, %j.body
  %acc.2 = phi float [ %sum, %then4 ], [ %acc.1, %j.body ]
  %j.next = add nsw i32 %j, 1
  br label %j.test

j.end:                                            ; preds = %j.test
  br label %then.end

then.end:                                         ; preds = %j.end, %i.body
  %acc.3 = phi float [ %acc.1, %j.end ], [ %acc.0, %i.body ]
  %i.next = add nsw i32 %i, 1
  br label %i.test

i.end:                                            ; preds = %i.test
  %sum6 = fadd contract float %acc.0, %b_c
  %13 = fcmp olt float %sum6, 0.000000e+00
  %larger = select i1 %13, float 0.000000e+00, float %sum6
  %out_at7 = add nsw i32 %out_at, %x
  %14 = getelementptr inbounds float, ptr %out, i32 %out_at7
  store float %larger, ptr %14, align 4
  %x.next = add nsw i32 %x, 1
  br label %x.test

x.end:                                            ; preds = %x.test
  %y.next = add nsw i32 %y, 1
  br label %y.test

y.end:                                            ; preds = %y.test
  %c.next = add nsw i32 %c, 1
  br label %c.test

c.end:                                            ; preds = %c.test
  ret void
}

attributes #0 = { mustprogress nounwind }
