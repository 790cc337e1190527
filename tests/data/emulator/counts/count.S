/* int sum(int n, const int *p): the costs can be counted by eye. With n = 10:
 *   instructions  2 + 4 n + 2 = 44      loads  n + 2 = 12      stores  2      stack  8 bytes */
  .syntax unified
  .thumb
  .section .text.sum, "ax", %progbits
  .global sum
  .type sum, %function
  .thumb_func
sum:
  push {r4, lr}
  movs r4, #0
1:
  ldr r2, [r1], #4
  adds r4, r4, r2
  subs r0, r0, #1
  bne 1b
  mov r0, r4
  pop {r4, pc}
  .size sum, . - sum

/* void around(int n, const int *p): three calls of sum, of which the call instruction ends 2 bytes before a page of 1 KiB
 * ends, exactly where it ends, and 2 bytes behind. */
  .section .text.around, "ax", %progbits
  .balign 1024
  .global around
  .type around, %function
  .thumb_func
around:
  push {r4, r5, r6, lr}
  mov r5, r0
  mov r6, r1
  b.w 2f
  .balign 1024
  .space 1024 - 10
2:
  mov r0, r5
  mov r1, r6
  bl sum
  b.w 3f
  .balign 1024
  .space 1024 - 8
3:
  mov r0, r5
  mov r1, r6
  bl sum
  b.w 4f
  .balign 1024
  .space 1024 - 6
4:
  mov r0, r5
  mov r1, r6
  bl sum
  pop {r4, r5, r6, pc}
  .size around, . - around
