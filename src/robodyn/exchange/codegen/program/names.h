/* What a user sees of a model by name, and what its run keeps: generated in names.c. */

#ifndef NAMES_H
#define NAMES_H

#include "engine.h"

typedef struct {
  int count;
  const char *const *name;
  const char *const *unit;
} Names;

extern const Names NAMES[];              /* by the kinds of simulation.h */
extern const int32_t PARAMETER_PLACE[];  /* of those shown among all */
extern const int32_t EVENT_FAILS[];      /* 1: ends a run that could not be carried through */
extern const char SCENARIO[];
extern const double DURATION;
extern const Recording RECORDING;
extern const double RECORD_RATE;         /* where rows are kept at a rate [Hz]: their times are computed */

#endif
