/* int sum(int n, const int *p): the costs can be counted by eye. With n = 10:
 *   instructions  5 + 6 n + 4 = 69      loads  2 n + 2 + 3 of the return address = 25      stores  2      stack  3 + 2 bytes */
  .section .text.sum, "ax", @progbits
  .global sum
  .type sum, @function
sum:
  push r28
  push r29
  movw r30, r22
  ldi r18, 0
  ldi r19, 0
1:
  ld r20, Z+
  ld r21, Z+
  add r18, r20
  adc r19, r21
  sbiw r24, 1
  brne 1b
  movw r24, r18
  pop r29
  pop r28
  ret
  .size sum, . - sum
