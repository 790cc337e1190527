// options: prefix=etch_,net_
int etch_run(void);
int net_run(int x) { return x; }
const int net_weights[2] = {1, 2};
static int helper(int x) { return x + 1; }
int run(int x) { return helper(x); }  // expect: prefix
const int weights[2] = {1, 2};  // expect: prefix
int declared_only(void);  // expect: prefix
