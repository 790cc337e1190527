; Function Attrs: mustprogress nounwind
define void @max(ptr noalias readonly %arg) #0 {
entry:
  %0 = getelementptr inbounds ptr, ptr %arg, i64 0
  %out = load ptr, ptr %0, align 8
  %1 = getelementptr inbounds ptr, ptr %arg, i64 1
  %x = load ptr, ptr %1, align 8
  br label %n.test

n.test:                                           ; preds = %n.body, %entry
  %n = phi i32 [ 0, %entry ], [ %n.next, %n.body ]
  %2 = icmp slt i32 %n, 3
  br i1 %2, label %n.body, label %n.end

n.body:                                           ; preds = %n.test
  %x_at = mul nsw i32 %n, 8
  %3 = getelementptr inbounds float, ptr %x, i32 %x_at
  %x_k0 = load float, ptr %3, align 4
  %4 = fcmp olt float 0xFFF0000000000000, %x_k0
  %5 = fcmp uno float %x_k0, %x_k0
  %6 = or i1 %4, %5
  %larger = select i1 %6, float %x_k0, float 0xFFF0000000000000
  %x_at1 = add nsw i32 %x_at, 1
  %7 = getelementptr inbounds float, ptr %x, i32 %x_at1
  %x_k1 = load float, ptr %7, align 4
  %8 = fcmp olt float %larger, %x_k1
  %9 = fcmp uno float %x_k1, %x_k1
  %10 = or i1 %8, %9
  %larger2 = select i1 %10, float %x_k1, float %larger
  %x_at3 = add nsw i32 %x_at, 2
  %11 = getelementptr inbounds float, ptr %x, i32 %x_at3
  %x_k2 = load float, ptr %11, align 4
  %12 = fcmp olt float %larger2, %x_k2
  %13 = fcmp uno float %x_k2, %x_k2
  %14 = or i1 %12, %13
  %larger4 = select i1 %14, float %x_k2, float %larger2
  %x_at5 = add nsw i32 %x_at, 3
  %15 = getelementptr inbounds float, ptr %x, i32 %x_at5
  %x_k3 = load float, ptr %15, align 4
  %16 = fcmp olt float %larger4, %x_k3
  %17 = fcmp uno float %x_k3, %x_k3
  %18 = or i1 %16, %17
  %larger6 = select i1 %18, float %x_k3, float %larger4
  %x_at7 = add nsw i32 %x_at, 4
  %19 = getelementptr inbounds float, ptr %x, i32 %x_at7
  %x_k4 = load float, ptr %19, align 4
  %20 = fcmp olt float %larger6, %x_k4
  %21 = fcmp uno float %x_k4, %x_k4
  %22 = or i1 %20, %21
  %larger8 = select i1 %22, float %x_k4, float %larger6
  %x_at9 = add nsw i32 %x_at, 5
  %23 = getelementptr inbounds float, ptr %x, i32 %x_at9
  %x_k5 = load float, ptr %23, align 4
  %24 = fcmp olt float %larger8, %x_k5
  %25 = fcmp uno float %x_k5, %x_k5
  %26 = or i1 %24, %25
  %larger10 = select i1 %26, float %x_k5, float %larger8
  %x_at11 = add nsw i32 %x_at, 6
  %27 = getelementptr inbounds float, ptr %x, i32 %x_at11
  %x_k6 = load float, ptr %27, align 4
  %28 = fcmp olt float %larger10, %x_k6
  %29 = fcmp uno float %x_k6, %x_k6
  %30 = or i1 %28, %29
  %larger12 = select i1 %30, float %x_k6, float %larger10
  %x_at13 = add nsw i32 %x_at, 7
  %31 = getelementptr inbounds float, ptr %x, i32 %x_at13
  %x_k7 = load float, ptr %31, align 4
  %32 = fcmp olt float %larger12, %x_k7
  %33 = fcmp uno float %x_k7, %x_k7
  %34 = or i1 %32, %33
  %larger14 = select i1 %34, float %x_k7, float %larger12
  %35 = getelementptr inbounds float, ptr %out, i32 %n
  store float %larger14, ptr %35, align 4
  %n.next = add nsw i32 %n, 1
  br label %n.test

n.end:                                            ; preds = %n.test
  ret void
}

attributes #0 = { mustprogress nounwind }
