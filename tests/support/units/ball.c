/* A ball that falls and bounces, solved exactly: version 3.0, co-simulation with event mode and early return. A lamp is
   switched at announced times; a gust, a discrete input, changes the speed at once. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "fmi3Functions.h"

enum { TIME, HEIGHT, SPEED, RESTITUTION, LAMP, PERIOD, GUST, BOUNCES, END_AFTER, WIND, FEEL };

typedef struct {
    double t, h, v, restitution, period, next, wind;
    bool event_mode, in_event, early, hit;
    int32_t lamp, gust, felt, bounces, end_after;
} Ball;

static const double g = 9.81;

fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
    fmi3Boolean logging, fmi3Boolean event_mode, fmi3Boolean early, const fmi3ValueReference required[], size_t n,
    fmi3InstanceEnvironment environment, fmi3LogMessageCallback log, fmi3IntermediateUpdateCallback update) {
    if (strcmp(token, "{ball}") != 0) return NULL;
    Ball *b = calloc(1, sizeof(Ball));
    b->h = 1.0; b->restitution = 0.7; b->period = 0.25;
    b->event_mode = event_mode; b->early = early;
    return b;
}
void fmi3FreeInstance(fmi3Instance i) { free(i); }
fmi3Status fmi3EnterInitializationMode(fmi3Instance i, fmi3Boolean d, fmi3Float64 tol, fmi3Float64 start,
    fmi3Boolean e, fmi3Float64 stop) { ((Ball *)i)->t = start; return fmi3OK; }
fmi3Status fmi3ExitInitializationMode(fmi3Instance i) {
    Ball *b = i; b->in_event = b->event_mode; b->next = b->t + b->period; return fmi3OK;
}
fmi3Status fmi3EnterEventMode(fmi3Instance i) {
    Ball *b = i; if (!b->event_mode || b->in_event) return fmi3Error; b->in_event = true; return fmi3OK;
}
fmi3Status fmi3EnterStepMode(fmi3Instance i) { ((Ball *)i)->in_event = false; return fmi3OK; }
fmi3Status fmi3UpdateDiscreteStates(fmi3Instance i, fmi3Boolean *again, fmi3Boolean *end, fmi3Boolean *nominals,
    fmi3Boolean *states, fmi3Boolean *defined, fmi3Float64 *next) {
    Ball *b = i;
    *again = *end = *nominals = *states = false;
    if (!b->in_event) return fmi3Error;
    if (b->hit) { /* asks for a second update, so that one is not enough */
        b->v = -b->restitution * b->v; b->h = 0.0; b->hit = false; b->bounces++; *states = *again = true;
    }
    if (b->gust != b->felt) { b->v += b->gust; b->felt = b->gust; *states = true; }
    if (b->t >= b->next) { b->lamp = !b->lamp; b->next += b->period; }
    *defined = true; *next = b->next;
    *end = b->end_after && b->bounces >= b->end_after;
    return fmi3OK;
}
fmi3Status fmi3DoStep(fmi3Instance i, fmi3Float64 time, fmi3Float64 step, fmi3Boolean forget, fmi3Boolean *event,
    fmi3Boolean *end, fmi3Boolean *early, fmi3Float64 *last) {
    Ball *b = i;
    *event = *end = *early = false;
    if (b->in_event || fabs(time - b->t) > 1e-12) return fmi3Error;
    b->t = time;
    /* h + v s - g s^2 / 2 = 0 */
    double s = (b->v + sqrt(b->v * b->v + 2 * g * b->h)) / g;
    if (b->event_mode && s <= step) {
        b->hit = *event = true; *early = b->early && s < step;
        b->h = 0.0; b->v -= g * s; b->t = time + s;
    } else {
        b->h += (b->v - g * step / 2) * step; b->v -= g * step; b->t = time + step;
    }
    *last = b->t;
    return fmi3OK;
}
fmi3Status fmi3GetFloat64(fmi3Instance i, const fmi3ValueReference vr[], size_t n, fmi3Float64 x[], size_t m) {
    Ball *b = i;
    for (size_t k = 0; k < n; k++) switch (vr[k]) {
        case TIME: x[k] = b->t; break;
        case HEIGHT: x[k] = b->h; break;
        case SPEED: x[k] = b->v; break;
        case RESTITUTION: x[k] = b->restitution; break;
        case PERIOD: x[k] = b->period; break;
        case WIND: x[k] = b->wind; break;
        case FEEL: x[k] = 2 * b->wind; break;
        default: return fmi3Error;
    }
    return fmi3OK;
}
fmi3Status fmi3SetFloat64(fmi3Instance i, const fmi3ValueReference vr[], size_t n, const fmi3Float64 x[], size_t m) {
    Ball *b = i;
    for (size_t k = 0; k < n; k++) switch (vr[k]) {
        case HEIGHT: b->h = x[k]; break;
        case RESTITUTION: b->restitution = x[k]; break;
        case PERIOD: b->period = x[k]; break;
        case WIND: b->wind = x[k]; break;
        default: return fmi3Error;
    }
    return fmi3OK;
}
fmi3Status fmi3GetInt32(fmi3Instance i, const fmi3ValueReference vr[], size_t n, fmi3Int32 x[], size_t m) {
    Ball *b = i;
    for (size_t k = 0; k < n; k++)
        x[k] = vr[k] == LAMP ? b->lamp : vr[k] == GUST ? b->gust : vr[k] == BOUNCES ? b->bounces : b->end_after;
    return fmi3OK;
}
fmi3Status fmi3SetInt32(fmi3Instance i, const fmi3ValueReference vr[], size_t n, const fmi3Int32 x[], size_t m) {
    Ball *b = i;
    for (size_t k = 0; k < n; k++) {
        if (vr[k] == GUST) b->gust = x[k]; else b->end_after = x[k];
    }
    return fmi3OK;
}
fmi3Status fmi3GetFMUState(fmi3Instance i, fmi3FMUState *s) {
    if (*s == NULL) *s = malloc(sizeof(Ball)); memcpy(*s, i, sizeof(Ball)); return fmi3OK;
}
fmi3Status fmi3SetFMUState(fmi3Instance i, fmi3FMUState s) { memcpy(i, s, sizeof(Ball)); return fmi3OK; }
fmi3Status fmi3FreeFMUState(fmi3Instance i, fmi3FMUState *s) { free(*s); *s = NULL; return fmi3OK; }
fmi3Status fmi3Reset(fmi3Instance i) {
    Ball *b = i; bool mode = b->event_mode, early = b->early; memset(b, 0, sizeof(Ball));
    b->h = 1.0; b->restitution = 0.7; b->period = 0.25; b->event_mode = mode; b->early = early; return fmi3OK;
}
