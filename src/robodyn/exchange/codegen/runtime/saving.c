/* How is the state of a unit saved, as bytes too, and put back? 1 is success, 0 refusal. */

#include "instance.h"

#include <stdlib.h>
#include <string.h>

enum { HEAD = sizeof(int64_t) + sizeof MODEL_TOKEN, SETTINGS = HEAD + sizeof(Settings) };

size_t state_size(const void *state) {
  int64_t size;
  memcpy(&size, state, sizeof size);
  return (size_t)size;
}

/* Whether a block of bytes is a state of this unit, for the use that is made of it. */
static int is_own(Instance *instance, const char *state, size_t size) {
  Settings saved;
  if (size >= SETTINGS && size == state_size(state) &&
      memcmp(state + sizeof(int64_t), MODEL_TOKEN, sizeof MODEL_TOKEN) == 0) {
    memcpy(&saved, state + HEAD, sizeof saved);
    if (saved.exchange == instance->exchange) return 1;
  }
  return refuse(instance, "these bytes are no state of this unit");
}

int instance_save(Instance *instance, void **state) {
  Unit *unit = &instance->unit;
  int64_t size = SETTINGS + run_state_size(unit->run);
  char *copy = realloc(*state, (size_t)size);
  if (copy == NULL) return refuse(instance, "there is not enough memory for the state");
  memcpy(copy, &size, sizeof size);
  memcpy(copy + sizeof size, MODEL_TOKEN, sizeof MODEL_TOKEN);
  memcpy(copy + HEAD, &unit->set, sizeof unit->set);
  run_save(unit->run, copy + SETTINGS);
  *state = copy;
  return 1;
}

int instance_restore(Instance *instance, const void *state) {
  Unit *unit = &instance->unit;
  const char *saved = state;
  if (state == NULL) return refuse(instance, "there is no state to go back to");
  if (!is_own(instance, saved, state_size(state))) return 0;
  if (!run_restore(unit->run, saved + SETTINGS, (int64_t)state_size(state) - SETTINGS))
    return refuse(instance, "there is not enough memory for the state");
  memcpy(&unit->set, saved + HEAD, sizeof unit->set);
  unit_set_tolerance(unit);
  instance->outputs_known = 0;
  return 1;
}

int state_write(Instance *instance, const void *state, void *bytes, size_t size) {
  if (size < state_size(state)) return refuse(instance, "there is too little room for the state");
  memcpy(bytes, state, state_size(state));
  return 1;
}

int state_read(Instance *instance, const void *bytes, size_t size, void **state) {
  void *copy;
  if (!is_own(instance, bytes, size)) return 0;
  copy = realloc(*state, size);
  if (copy == NULL) return refuse(instance, "there is not enough memory for the state");
  memcpy(copy, bytes, size);
  *state = copy;
  return 1;
}
