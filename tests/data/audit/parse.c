int broken(int x) { return y; }  // expect: parse
int fine(int x) { return x; }
