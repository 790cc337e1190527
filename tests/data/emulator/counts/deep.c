int sum(int n, const int *p);

/* Fills 1000 bytes of stack, from the top down, and sums them again. */
int deep(int n, const int *p) {
  volatile int copy[250];
  for (int i = 249; i >= 0; i--) copy[i] = i < n ? p[i] : 0;
  int numbers[10];
  for (int i = 0; i < 10; i++) numbers[i] = copy[i];
  return sum(n, numbers);
}
