/* The scenario's run: rows as CSV on stdout, events on stderr or into a file, the outcome in the exit code.

   NAME=VALUE sets a parameter, a start value or an input. Exit codes: 0 done, 2 wrong arguments, 3 not carried through. */

#include "simulation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DONE, BAD_INPUT = 2, NOT_CARRIED_THROUGH };

static int complain(const char *what, const char *about) {
  fprintf(stderr, "%s: %s\n", about, what);
  return 0;
}

/* Set what NAME=VALUE says. */
static int set_number(Simulation *simulation, char *text) {
  char *equals = strchr(text, '='), *end;
  double value;
  if (equals == NULL) return complain("must be NAME=VALUE, --hex or --events FILE", text);
  value = strtod(equals + 1, &end);
  if (end == equals + 1 || *end != '\0') return complain("the value must be a number", text);
  *equals = '\0';
  for (int kind = SIMULATION_PARAMETERS; kind <= SIMULATION_INPUTS; kind++) {
    int number = simulation_find(kind, text);
    if (number < 0) continue;
    return simulation_set(simulation, kind, number, value) || complain(simulation_sentence(simulation), text);
  }
  return complain("there is no parameter, state or input of this name", text);
}

static void print_heading(void) {
  fputs("time [s]", stdout);
  for (int k = 0; k < simulation_count(SIMULATION_OUTPUTS); k++) {
    const char *unit = simulation_unit(SIMULATION_OUTPUTS, k);
    printf(unit[0] ? ",%s [%s]" : ",%s", simulation_name(SIMULATION_OUTPUTS, k), unit);
  }
  putchar('\n');
}

static void print_row(const double *row, const char *format) {
  for (int k = 0; k <= simulation_count(SIMULATION_OUTPUTS); k++) {
    if (k > 0) putchar(',');
    printf(format, row[k]);
  }
  putchar('\n');
}

static void print_events(const Simulation *simulation, FILE *file, const char *format) {
  for (int k = 0; k < simulation_n_events(simulation); k++) {
    fprintf(file, format, simulation_event_time(simulation, k));
    fprintf(file, ",%s\n", simulation_name(SIMULATION_EVENTS, simulation_event(simulation, k)));
  }
}

static int print_run(const Simulation *simulation, const char *events, const char *format) {
  FILE *file = events ? fopen(events, "w") : stderr;
  if (file == NULL) return complain("cannot be written", events);
  print_heading();
  for (int k = 0; k < simulation_n_rows(simulation); k++) print_row(simulation_row(simulation, k), format);
  print_events(simulation, file, format);
  if (events && fclose(file) != 0) return complain("cannot be written", events);
  return fflush(stdout) == 0 || complain("cannot be written", "stdout");
}

int main(int n, char **arguments) {
  const char *format = "%.17g", *events = NULL;
  int result = DONE;
  Simulation *simulation = simulation_new(SIMULATION_RECORDED);
  if (simulation == NULL) {
    complain("there is not enough memory", simulation_scenario());
    return NOT_CARRIED_THROUGH;
  }
  for (int k = 1; k < n && result == DONE; k++) {
    if (strcmp(arguments[k], "--hex") == 0)
      format = "%a";
    else if (strcmp(arguments[k], "--events") == 0 && k + 1 < n)
      events = arguments[++k];
    else if (!set_number(simulation, arguments[k]))
      result = BAD_INPUT;
  }
  if (result == DONE) {
    simulation_begin(simulation);
    if (!print_run(simulation, events, format)) result = BAD_INPUT;
    complain(simulation_sentence(simulation), simulation_scenario());
    if (simulation_outcome(simulation) != SIMULATION_DONE) result = NOT_CARRIED_THROUGH;
  }
  simulation_free(simulation);
  return result;
}
