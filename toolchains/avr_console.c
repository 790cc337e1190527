/* Of programs for an AVR that are tested in a simulator: what they print goes to UART 0, and behind main() the processor sleeps with
 * interrupts off, its exit status in GPIOR0. Leave it out of firmware that has its own console. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>
#include <stdio.h>

static int put(char c, FILE *file) {
  (void)file;
  loop_until_bit_is_set(UCSR0A, UDRE0);
  UDR0 = (uint8_t)c;
  return 0;
}

static FILE console = FDEV_SETUP_STREAM(put, NULL, _FDEV_SETUP_WRITE);

__attribute__((constructor)) static void open_console(void) {
  UCSR0B = _BV(TXEN0);
  stdout = &console;
  stderr = &console;
}

/* exit() goes through the sections .fini9 to .fini0, with its status still in r24 at first. */
__attribute__((naked, used, section(".fini8"))) static void keep_status(void) {
  __asm__ volatile("out %0, r24" : : "I"(_SFR_IO_ADDR(GPIOR0)));
}

__attribute__((naked, used, section(".fini1"))) static void stop(void) {
  cli();
  sleep_enable();
  sleep_cpu();
}
