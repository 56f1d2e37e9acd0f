/* What do the parts of coupled runs ask of one another? */

#ifndef COUPLED_H
#define COUPLED_H

#include "coupling.h"
#include "parts.h"

/* Most signals of a channel: those of a rotation. */
enum { MOST_SIGNALS = 9 };

/* interface_model.c, coupled_motion.c */
int prepare_reduced(const Port *port);
const double *port_motion(const Port *port);
double motion_gap(const Port *port, const double *first, const double *second);
void move_interface(const Port *port, CoupledRun *unit, const double *inertia, const double *motion);

/* extrapolation.c */
void trend_add(Trend *trend, double begin, double end, const double *values, const int64_t *places, double gain);
int64_t trend_fit(const Trend *trend, double begin, double *coefficients);
void trend_copy(const Trend *trend, Trend *other);

#endif
