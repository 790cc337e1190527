static int even(int n);
static int odd(int n) { return n == 0 ? 0 : even(n - 1); }  // expect: recursion
static int even(int n) { return n == 0 ? 1 : odd(n - 1); }  // expect: recursion
int fact(int n) { return n < 2 ? 1 : n * fact(n - 1); }  // expect: recursion
int caller(int n) { return even(n) + fact(n); }

typedef void (*etch_kernel)(void *const *arg);
typedef struct {
  etch_kernel kernel;
} etch_call;
void walk(const etch_call *call, void *const *arg);
static void innocent(void *const *arg) { (void)arg; }
static void calls_the_walker(void *const *arg) {  // expect: recursion
  walk((const etch_call *)arg[0], arg);
}
static const etch_call table[2] = {{innocent}, {calls_the_walker}};
void walk(const etch_call *call, void *const *arg) { call->kernel(arg); }  // expect: recursion
void start(void *const *arg) { walk(table, arg); }
