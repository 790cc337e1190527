#include "etch_runtime.h"

int etch_walk(const etch_table *table, unsigned char *arena, void *const *io, etch_hook hook, void *user) {
  if (table == NULL || arena == NULL || io == NULL) return 1;
  for (uint16_t s = 0; s < table->count; s++) {
    const etch_step *const step = &table->steps[s];
    void *arg[ETCH_MAX_ARGS];
    for (uint8_t i = 0; i < step->count; i++) {
      const etch_place place = step->place[i];
      if (place.pool == 0) {
        arg[i] = arena + place.at;
      } else if (place.pool == 1) {
        arg[i] = (void *)(uintptr_t)(table->constants + place.at);
      } else {
        arg[i] = io[place.at];
      }
    }
    step->kernel(arg);
    if (hook != NULL) hook(user, s);
  }
  return 0;
}
