int swap(int x) {
  __asm__ volatile("" : "+r"(x));  // expect: asm
  return x;
}
