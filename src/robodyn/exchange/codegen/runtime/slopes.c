/* An exported model at work: how do its outputs change with states, memory and parameters? */

#include "unit.h"

void unit_slopes(Unit *unit, const double *seed, double *slopes) {
  double m[ROOM(N_M)], x[ROOM(N_X)];
  unit_look(unit, m);
  place_states(unit, m, x);
  if (N_Y + N_RATES > 0) model_slopes(&unit->run->t, x, unit->run->d, m, unit->set.p, seed, slopes);
  for (int k = 0; k < N_LIMITED && N_RATES > 0; k++)
    if (unit->set.held[k]) slopes[N_Y + MODEL.limited[k]] = 0.0;
}
