/* An exported model at work: how do its outputs change with states, memory and parameters? */

#include "unit.h"

void unit_slopes(Unit *unit, const double *seed, double *slopes) {
  double m[ROOM(N_M)];
  unit_look(unit, m);
  if (N_Y > 0) model_slopes(&unit->run->t, unit->run->x, unit->run->d, m, unit->set.p, seed, slopes);
}
