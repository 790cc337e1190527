/* int sum(int n, const int *p): the costs can be counted by eye. With n = 10:
 *   instructions  3 + 4 n + 4 = 47      loads  n + 3 = 13      stores  3      stack  32 bytes */
  .section .text.sum, "ax", %progbits
  .global sum
  .type sum, %function
sum:
  stp x29, x30, [sp, #-32]!
  str x19, [sp, #16]
  mov w19, #0
1:
  ldr w2, [x1], #4
  add w19, w19, w2
  subs w0, w0, #1
  b.ne 1b
  mov w0, w19
  ldr x19, [sp, #16]
  ldp x29, x30, [sp], #32
  ret
  .size sum, . - sum
  .section .note.GNU-stack, "", %progbits
