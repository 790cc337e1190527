#include <stdlib.h>
#include <string.h>
#define GET malloc
void *hidden(unsigned n) { return GET(n); }  // expect: heap
void *grow(void *p) { return realloc(p, 8); }  // expect: heap
typedef void *(*etch_allocator)(size_t n);
void *through(unsigned n) {
  const etch_allocator f = malloc;  // expect: heap
  return f(n);
}
void give(void *p) { free(p); }  // expect: heap
int on_stack(int n) {
  int *p = (int *)__builtin_alloca((unsigned)n);  // expect: heap
  p[0] = n;
  return p[0];
}
char *copy(const char *s) { return strdup(s); }  // expect: heap parse
size_t harmless(const char *s) { return strlen(s); }
