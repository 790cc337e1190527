/* int sum(int n, const int *p): the costs can be counted by eye. With n = 10:
 *   instructions  2 + 4 n + 2 = 44      loads  n + 2 = 12      stores  2      stack  8 bytes */
  .syntax unified
  .arm
  .section .text.sum, "ax", %progbits
  .global sum
  .type sum, %function
sum:
  push {r4, lr}
  mov r4, #0
1:
  ldr r2, [r1], #4
  add r4, r4, r2
  subs r0, r0, #1
  bne 1b
  mov r0, r4
  pop {r4, pc}
  .size sum, . - sum
  .section .note.GNU-stack, "", %progbits
