; Function Attrs: mustprogress nounwind
define void @max_pool(ptr noalias readonly %arg) #0 {
entry:
  %0 = getelementptr inbounds ptr, ptr %arg, i64 0
  %out = load ptr, ptr %0, align 8
  %1 = getelementptr inbounds ptr, ptr %arg, i64 1
  %x = load ptr, ptr %1, align 8
  br label %cy.test

cy.test:                                          ; preds = %x.end, %entry
  %cy = phi i32 [ 0, %entry ], [ %cy.next, %x.end ]
  %2 = icmp slt i32 %cy, 6
  br i1 %2, label %cy.body, label %cy.end

cy.body:                                          ; preds = %cy.test
  %x_cy = mul nsw i32 %cy, 12
  %out_at = mul nsw i32 %cy, 3
  br label %x.test

x.test:                                           ; preds = %x.body, %cy.body
  %x1 = phi i32 [ 0, %cy.body ], [ %x.next, %x.body ]
  %3 = icmp slt i32 %x1, 3
  br i1 %3, label %x.body, label %x.end

x.body:                                           ; preds = %x.test
  %x_x = mul nsw i32 %x1, 2
  %x_at = add nsw i32 %x_cy, %x_x
  %4 = getelementptr inbounds float, ptr %x, i32 %x_at
  %x_i0_j0 = load float, ptr %4, align 4
  %5 = fcmp olt float 0xFFF0000000000000, %x_i0_j0
  %6 = fcmp uno float %x_i0_j0, %x_i0_j0
  %7 = or i1 %5, %6
  %larger = select i1 %7, float %x_i0_j0, float 0xFFF0000000000000
  %x_at2 = add nsw i32 %x_at, 6
  %8 = getelementptr inbounds float, ptr %x, i32 %x_at2
  %x_i1_j0 = load float, ptr %8, align 4
  %9 = fcmp olt float %larger, %x_i1_j0
  %10 = fcmp uno float %x_i1_j0, %x_i1_j0
  %11 = or i1 %9, %10
  %larger3 = select i1 %11, float %x_i1_j0, float %larger
  %x_at4 = add nsw i32 %x_at, 1
  %12 = getelementptr inbounds float, ptr %x, i32 %x_at4
  %x_i0_j1 = load float, ptr %12, align 4
  %13 = fcmp olt float %larger3, %x_i0_j1
  %14 = fcmp uno float %x_i0_j1, %x_i0_j1
  %15 = or i1 %13, %14
  %larger5 = select i1 %15, float %x_i0_j1, float %larger3
  %x_at6 = add nsw i32 %x_at, 7
  %16 = getelementptr inbounds float, ptr %x, i32 %x_at6
  %x_i1_j1 = load float, ptr %16, align 4
  %17 = fcmp olt float %larger5, %x_i1_j1
  %18 = fcmp uno float %x_i1_j1, %x_i1_j1
  %19 = or i1 %17, %18
  %larger7 = select i1 %19, float %x_i1_j1, float %larger5
  %out_at8 = add nsw i32 %out_at, %x1
  %20 = getelementptr inbounds float, ptr %out, i32 %out_at8
  store float %larger7, ptr %20, align 4
  %x.next = add nsw i32 %x1, 1
  br label %x.test

x.end:                                            ; preds = %x.test
  %cy.next = add nsw i32 %cy, 1
  br label %cy.test

cy.end:                                           ; preds = %cy.test
  ret void
}

attributes #0 = { mustprogress nounwind }
