float sum(int n, const float in[]) {
  float copy[n];  // expect: vla
  enum { kFixed = 8 };
  float fixed[kFixed] = {0};
  float out = fixed[3];
  for (int i = 0; i < n; i++) copy[i] = in[i];
  for (int i = 0; i < n; i++) out += copy[i];
  return out;
}
