static void gather(void *const *arg) {
  float *const out = (float *)arg[0];
  const float *const x = (const float *)arg[1];
  const int64_t *const y = (const int64_t *)arg[2];
  for (int m = 0; m < 4; m++) {
    const int64_t y_m = y[m];
    const int64_t raised = y_m < INT64_C(-10) ? INT64_C(-10) : y_m;
    const int64_t limited = INT64_C(9) < raised ? INT64_C(9) : raised;
    const int64_t from_start = limited < INT64_C(0) ? limited + INT64_C(10) : limited;
    const int picked = (int32_t)from_start;
    const int x_raised = picked * 6;
    const int out_at = m * 6;
    for (int n = 0; n < 6; n++) {
      out[out_at + n] = x[n + x_raised];
    }
  }
}
