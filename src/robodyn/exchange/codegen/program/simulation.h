/* A simulation as C: what can a program do with it?

   Two ways to use it. From one communication point to the next, for test benches and targets:

     Simulation *robot = simulation_new(SIMULATION_STEPPED);
     simulation_set(robot, SIMULATION_INPUTS, simulation_find(SIMULATION_INPUTS, "push.value"), 2.0);
     for (int ok = simulation_begin(robot), k = 1; ok && k <= 1000; k++) ok = simulation_advance(robot, k * 1e-3);

   Or the scenario's whole run with its record, as main.c does it:

     Simulation *robot = simulation_new(SIMULATION_RECORDED);
     simulation_begin(robot);
     for (int k = 0; k < simulation_n_rows(robot); k++) use(simulation_row(robot, k));

   Functions that can be refused return 1, or 0 and say why in simulation_sentence. Any number of simulations may run at
   once, each in one thread at a time: there is no other state. All quantities are in SI units. */

#ifndef SIMULATION_H
#define SIMULATION_H

typedef struct Simulation Simulation;

/* What has names, numbered from 0 in each kind. Parameters, states and inputs can be set, these and outputs be read. */
enum { SIMULATION_PARAMETERS, SIMULATION_STATES, SIMULATION_INPUTS, SIMULATION_OUTPUTS, SIMULATION_EVENTS };
const char *simulation_scenario(void);
double simulation_duration(void);
int simulation_count(int kind);
const char *simulation_name(int kind, int number);
const char *simulation_unit(int kind, int number);
/* The number of a name; -1 where there is none. */
int simulation_find(int kind, const char *name);

/* Everything as described; null where there is no memory. */
enum { SIMULATION_STEPPED, SIMULATION_RECORDED };
Simulation *simulation_new(int way);
void simulation_free(Simulation *simulation);
/* Back to before the start, all numbers as described. */
int simulation_reset(Simulation *simulation);

/* Inputs are held until they are set again. States set before the start are start values, later the motion goes on from
   there. Parameters may be set at any time, but times of delays before the start only. */
int simulation_set(Simulation *simulation, int kind, int number, double value);
/* Not a number where there is none. */
double simulation_get(Simulation *simulation, int kind, int number);
/* All outputs at once, simulation_count(SIMULATION_OUTPUTS) numbers: right limits at the present time. */
void simulation_read(Simulation *simulation, double *outputs);

/* Stand at time 0, its tasks and events done; a recorded simulation runs to its end. */
int simulation_begin(Simulation *simulation);
/* Go on to a time [s], not before the present one; 0 where the run ends before it. */
int simulation_advance(Simulation *simulation, double time);
double simulation_time(const Simulation *simulation);

/* How it stands: it goes on; it has reached its end or a terminal event; it could not be carried through. */
enum { SIMULATION_GOES_ON, SIMULATION_DONE, SIMULATION_FAILED };
int simulation_outcome(const Simulation *simulation);
const char *simulation_sentence(const Simulation *simulation);

/* The record: rows [time, outputs], and events by their time and number. */
int simulation_n_rows(const Simulation *simulation);
const double *simulation_row(const Simulation *simulation, int row);
int simulation_n_events(const Simulation *simulation);
double simulation_event_time(const Simulation *simulation, int event);
int simulation_event(const Simulation *simulation, int event);

#endif
