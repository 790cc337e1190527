#include <stdio.h>

int sum(int n, const int *p);

static const int numbers[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

int main(void) {
  int total = sum(10, numbers) + sum(1, numbers);
  printf("%d\n", total);
  return total == 55 + 1 ? 0 : 1;
}
