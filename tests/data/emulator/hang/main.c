int main(void) {
  volatile int turns = 0;
  for (;;) turns++;
}
