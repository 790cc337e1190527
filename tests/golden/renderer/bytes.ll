; Function Attrs: mustprogress nounwind
define void @bytes(ptr noalias readonly %arg) #0 {
entry:
  %0 = getelementptr inbounds ptr, ptr %arg, i64 0
  %out = load ptr, ptr %0, align 8
  %1 = getelementptr inbounds ptr, ptr %arg, i64 1
  %in = load ptr, ptr %1, align 8
  %2 = getelementptr inbounds ptr, ptr %arg, i64 2
  %3 = load ptr, ptr %2, align 8
  %n = load i32, ptr %3, align 4
  br label %m.test

m.test:                                           ; preds = %nn.end, %entry
  %m = phi i32 [ 0, %entry ], [ %m.next, %nn.end ]
  %4 = icmp slt i32 %m, %n
  br i1 %4, label %m.body, label %m.end

m.body:                                           ; preds = %m.test
  %at = mul nsw i32 %m, 5
  br label %nn.test

nn.test:                                          ; preds = %nn.body, %m.body
  %nn = phi i32 [ 0, %m.body ], [ %nn.next, %nn.body ]
  %5 = icmp slt i32 %nn, 5
  br i1 %5, label %nn.body, label %nn.end

nn.body:                                          ; preds = %nn.test
  %at1 = add nsw i32 %at, %nn
  %6 = getelementptr inbounds i8, ptr %in, i32 %at1
  %in_mnn = load i8, ptr %6, align 1
  %sum = add i8 %in_mnn, 1
  %product = mul i8 %sum, %in_mnn
  %7 = getelementptr inbounds i8, ptr %out, i32 %at1
  store i8 %product, ptr %7, align 1
  %nn.next = add nsw i32 %nn, 1
  br label %nn.test

nn.end:                                           ; preds = %nn.test
  %m.next = add nsw i32 %m, 1
  br label %m.test

m.end:                                            ; preds = %m.test
  ret void
}

attributes #0 = { mustprogress nounwind }
