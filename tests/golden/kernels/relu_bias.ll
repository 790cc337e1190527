; Function Attrs: mustprogress nounwind
define void @relu_bias(ptr noalias readonly %arg) #0 {
entry:
  %0 = getelementptr inbounds ptr, ptr %arg, i64 0
  %out = load ptr, ptr %0, align 8
  %1 = getelementptr inbounds ptr, ptr %arg, i64 1
  %x = load ptr, ptr %1, align 8
  %2 = getelementptr inbounds ptr, ptr %arg, i64 2
  %y = load ptr, ptr %2, align 8
  br label %m.test

m.test:                                           ; preds = %n.end, %entry
  %m = phi i32 [ 0, %entry ], [ %m.next, %n.end ]
  %3 = icmp slt i32 %m, 4
  br i1 %3, label %m.body, label %m.end

m.body:                                           ; preds = %m.test
  %at = mul nsw i32 %m, 6
  %4 = getelementptr inbounds float, ptr %y, i32 %m
  %y_m = load float, ptr %4, align 4
  br label %n.test

n.test:                                           ; preds = %n.body, %m.body
  %n = phi i32 [ 0, %m.body ], [ %n.next, %n.body ]
  %5 = icmp slt i32 %n, 6
  br i1 %5, label %n.body, label %n.end

n.body:                                           ; preds = %n.test
  %at1 = add nsw i32 %at, %n
  %6 = getelementptr inbounds float, ptr %x, i32 %at1
  %x_mn = load float, ptr %6, align 4
  %sum = fadd contract float %x_mn, %y_m
  %7 = fcmp olt float %sum, 0.000000e+00
  %larger = select i1 %7, float 0.000000e+00, float %sum
  %8 = getelementptr inbounds float, ptr %out, i32 %at1
  store float %larger, ptr %8, align 4
  %n.next = add nsw i32 %n, 1
  br label %n.test

n.end:                                            ; preds = %n.test
  %m.next = add nsw i32 %m, 1
  br label %m.test

m.end:                                            ; preds = %m.test
  ret void
}

attributes #0 = { mustprogress nounwind }
