; Function Attrs: mustprogress nounwind
define void @gather(ptr noalias readonly %arg) #0 {
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
  %4 = getelementptr inbounds i64, ptr %y, i32 %m
  %y_m = load i64, ptr %4, align 8
  %5 = icmp slt i64 %y_m, -10
  %raised = select i1 %5, i64 -10, i64 %y_m
  %6 = icmp sgt i64 %raised, 9
  %limited = select i1 %6, i64 9, i64 %raised
  %raised_below_0 = icmp slt i64 %limited, 0
  br i1 %raised_below_0, label %inside, label %inside.end

inside:                                           ; preds = %m.body
  %raised1 = add nsw i64 %limited, 10
  br label %inside.end

inside.end:                                       ; preds = %inside, %m.body
  %from_start = phi i64 [ %raised1, %inside ], [ %limited, %m.body ]
  %picked = trunc i64 %from_start to i32
  %x_raised = mul nsw i32 %picked, 6
  %out_at = mul nsw i32 %m, 6
  br label %n.test

n.test:                                           ; preds = %n.body, %inside.end
  %n = phi i32 [ 0, %inside.end ], [ %n.next, %n.body ]
  %7 = icmp slt i32 %n, 6
  br i1 %7, label %n.body, label %n.end

n.body:                                           ; preds = %n.test
  %x_at = add nsw i32 %n, %x_raised
  %8 = getelementptr inbounds float, ptr %x, i32 %x_at
  %x_nraised = load float, ptr %8, align 4
  %out_at2 = add nsw i32 %out_at, %n
  %9 = getelementptr inbounds float, ptr %out, i32 %out_at2
  store float %x_nraised, ptr %9, align 4
  %n.next = add nsw i32 %n, 1
  br label %n.test

n.end:                                            ; preds = %n.test
  %m.next = add nsw i32 %m, 1
  br label %m.test

m.end:                                            ; preds = %m.test
  ret void
}

attributes #0 = { mustprogress nounwind }
