#include <stdint.h>
typedef void (*etch_after_call)(void *user, int call);
typedef void (*their_hook)(void *user, int call);
typedef int (*etch_other)(int x);
void allowed(etch_after_call after, void *user) {
  after(user, 1);
  (*after)(user, 2);
}
void theirs(their_hook hook, void *user) { hook(user, 1); }  // expect: indirect-call
void plain(void (*f)(void)) { f(); }  // expect: indirect-call
etch_other changed(etch_after_call after) { return (etch_other)after; }  // expect: function-pointer-cast
uintptr_t number(etch_after_call after) { return (uintptr_t)after; }  // expect: function-pointer-cast
etch_after_call from_data(void *p) { return (etch_after_call)p; }  // expect: function-pointer-cast
etch_after_call same(etch_after_call after) { return (etch_after_call)after; }
etch_after_call none(void) { return (etch_after_call)0; }
