/* int sum(int n, const int *p): the costs can be counted by eye. With n = 10:
 *   instructions  4 + 5 n + 5 = 59      loads  n + 2 = 12      stores  2      stack  16 bytes */
#if __riscv_xlen == 64
#define STORE sd
#define LOAD ld
#else
#define STORE sw
#define LOAD lw
#endif
  .section .text.sum, "ax", @progbits
  .global sum
  .type sum, @function
sum:
  addi sp, sp, -16
  STORE ra, 8(sp)
  STORE s0, 0(sp)
  li s0, 0
1:
  lw a2, 0(a1)
  addi a1, a1, 4
  add s0, s0, a2
  addi a0, a0, -1
  bnez a0, 1b
  mv a0, s0
  LOAD s0, 0(sp)
  LOAD ra, 8(sp)
  addi sp, sp, 16
  ret
  .size sum, . - sum
  .section .note.GNU-stack, "", @progbits
