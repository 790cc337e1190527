#ifndef NET_H
#define NET_H
#include "etch_runtime.h"

#define NET_ARENA_BYTES 32u

int net_run(unsigned char *arena, const float in[16], float out[4]);

#endif
