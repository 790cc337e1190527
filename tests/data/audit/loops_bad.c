#include <setjmp.h>
#include <stdint.h>
int opaque(void);
struct node {
  struct node *next;
};
void endless(volatile int *flag) {
  for (;;) opaque();  // expect: unbounded-loop
  while (1) opaque();  // expect: unbounded-loop
  while (*flag != 0) opaque();  // expect: unbounded-loop
  do opaque();  // expect: unbounded-loop
  while (opaque());
}
int chain(const struct node *n) {
  int count = 0;
  for (; n != 0; n = n->next) count++;  // expect: unbounded-loop
  return count;
}
void body_changes(int n) {
  for (int i = 0; i < n; i++) {  // expect: unbounded-loop
    if (opaque()) i = 0;
  }
  for (int i = 0; i < n; i++) {  // expect: unbounded-loop
    n += opaque();
  }
  for (int i = 0; i < n; i++) {  // expect: unbounded-loop
    int *const p = &i;
    *p = opaque();
  }
}
void bound_by_pointer(int *n) {
  for (int i = 0; i < *n; i++) *n += 1;  // expect: unbounded-loop
  for (int i = 0; i < opaque(); i++) opaque();  // expect: unbounded-loop
}
void narrow(unsigned n) {
  for (uint8_t i = 0; i < 300; i++) opaque();  // expect: unbounded-loop
  for (uint8_t i = 0; i <= 255; i++) opaque();  // expect: unbounded-loop
  for (uint8_t i = 0; i < n; i++) opaque();  // expect: unbounded-loop
  for (int i = 0; i < n; i++) opaque();  // expect: unbounded-loop
  for (unsigned i = 0; i <= n; i++) opaque();  // expect: unbounded-loop
  for (unsigned i = 0; i < n; i += 4) opaque();  // expect: unbounded-loop
  for (unsigned i = 8; i >= 0; i--) opaque();  // expect: unbounded-loop
  for (uint8_t i = 0; i < 254; i += 4) opaque();  // expect: unbounded-loop
}
void wrong_way(int n) {
  for (int i = 0; i < n; i--) opaque();  // expect: unbounded-loop
  for (int i = n; i > 0; i++) opaque();  // expect: unbounded-loop
  for (int i = 0; i < n; i += 0) opaque();  // expect: unbounded-loop
  for (int i = 0; i != n; i += 2) opaque();  // expect: unbounded-loop
  for (int i = 1; i < n; i *= 2) opaque();  // expect: unbounded-loop
  for (float x = 0; x < 1e9f; x += 1.0f) opaque();  // expect: unbounded-loop
  for (int i = 0; i < n || opaque(); i++) opaque();  // expect: unbounded-loop
  for (int i = 0; i < n;) opaque();  // expect: unbounded-loop
  for (int i = 0; i < n; opaque()) {  // expect: unbounded-loop
    if (n > 3) i++;
  }
}
void sometimes(int n) {
  int i = 0;
  while (i < n) {  // expect: unbounded-loop
    if (opaque()) continue;
    i++;
  }
}
void skipped(int n) {
  int i = 0;
  while (i < n) {  // expect: unbounded-loop
    if (opaque()) goto skip;
    i++;
  skip:
    opaque();
  }
  for (int k = 0; k < n; k++) {
    if (opaque()) goto next;
    opaque();
  next:
    opaque();
  }
}
int jumps(int n, jmp_buf env) {
again:
  n--;
  if (n > 0) goto again;  // expect: unbounded-loop
  if (setjmp(env) != 0) longjmp(env, 1);  // expect: unbounded-loop
  return n;
}
