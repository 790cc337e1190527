#include <stddef.h>
#include <stdint.h>
void use(int i);
typedef struct {
  uint8_t io_count;
  uint16_t call_count;
} program;
static inline int smaller(int a, int b) { return a < b ? a : b; }
void counted(const program *p, int n, const int32_t *sizes) {
  for (int i = 0; i < 8; i++) use(i);
  for (int i = 0; 8 > i; ++i) use(i);
  for (uint8_t i = 0; i < p->io_count; i++) use(i);
  for (uint16_t i = 0; i < p->call_count; i++) use(i);
  for (uint8_t i = 0; i < 255; i++) use(i);
  for (uint8_t i = 0; i < 252; i += 4) use(i);
  for (int i = 0; i <= n; i += 4) use(i);
  for (int i = n - 1; i >= 0; i--) use(i);
  for (unsigned i = 8; i > 0; i--) use((int)i);
  for (int i = 0; i < n * 4 + (n > 3 ? 1 : 2); i = i + 1) use(i);
  for (int i = 0; i < sizes[n]; i = 2 + i) use(i);
  for (int i = 0; i < smaller(n, 7); i++) use(i);
  for (int i = 0, j = n; i < n; i++, j -= 2) use(j);
  for (int i = 0; i < 4 && sizes[i] > 0; i++) use(i);
  for (size_t i = 0; i < sizeof(program); i++) use((int)i);
  for (int64_t i = 0; i < (int64_t)n; i++) use((int)i);
  for (int y = 0; y < 8; y++) {
    const int first = y == 0 ? 1 : 0;
    const int last = y == 7 ? 2 : 3;
    for (int x = first; x < last; x++) {
      if (x == 2) continue;
      use(x);
    }
  }
}
void without_for(int n) {
  int i = 0;
  while (i < n) {
    use(i);
    i++;
  }
  do {
    i -= 1;
  } while (i > 0);
  do use(n);
  while (0);
  while (0) use(n);
  if (n > 5) goto out;
  use(n);
out:
  use(1);
}
