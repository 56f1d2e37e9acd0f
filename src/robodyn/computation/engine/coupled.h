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
void evaluate_terms(const CoupledUnit *unit, const Port *port);
void move_interface(const Port *port, CoupledUnit *unit, const double *inertia, int64_t steps);
/* The change of v nearest in kinetic energy, an attached inertia (k, k) included, for a wanted change of w; after
   interface_prepare for this inertia. */
void interface_prepare(const Port *port, const double *inertia);
void interface_direct(const Port *port, const double *wanted, double *change);

/* extrapolation.c */
void trend_add(Trend *trend, double begin, double end, const double *values, const int64_t *places, double gain);
int64_t trend_fit(const Trend *trend, double begin, double *coefficients);
void trend_copy(const Trend *trend, Trend *other);
double mean_power(double begin, double end, int64_t power);

#endif
