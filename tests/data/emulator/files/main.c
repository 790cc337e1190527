#include <stdio.h>

/* Reads numbers from a file of the host, writes their sum to another; the exit status says what went wrong. */
int main(void) {
  FILE *in = fopen("in.bin", "rb");
  if (in == NULL) return 3;
  unsigned char bytes[4] = {0};
  if (fread(bytes, 1, sizeof bytes, in) != sizeof bytes) return 4;
  FILE *out = fopen("out.bin", "wb");
  if (out == NULL) return 5;
  const unsigned char sum = (unsigned char)(bytes[0] + bytes[1] + bytes[2] + bytes[3]);
  if (fwrite(&sum, 1, 1, out) != 1) return 6;
  return fclose(out) == 0 ? 7 : 8;
}
