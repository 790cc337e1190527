/* int sum(int n, const int *p): the costs can be counted by eye, of registers of 8 elements. With n = 10, in two turns:
 *   instructions  4 + 9 * 2 + 5 = 27      loads  n + 2 = 12, one for each element      stores  2      stack  16 bytes */
  .section .text.sum, "ax", @progbits
  .global sum
  .type sum, @function
sum:
  addi sp, sp, -16
  sd ra, 8(sp)
  sd s0, 0(sp)
  li s0, 0
1:
  vsetvli t0, a0, e32, m1, ta, ma
  vle32.v v8, (a1)
  vmv.s.x v9, s0
  vredsum.vs v9, v8, v9
  vmv.x.s s0, v9
  slli t1, t0, 2
  add a1, a1, t1
  sub a0, a0, t0
  bnez a0, 1b
  mv a0, s0
  ld s0, 0(sp)
  ld ra, 8(sp)
  addi sp, sp, 16
  ret
  .size sum, . - sum
  .section .note.GNU-stack, "", @progbits
