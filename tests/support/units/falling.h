/* A ball that falls and bounces, as equations: h' = v, v' = -g, an event where h crosses zero; a lamp is switched at
   announced times. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef struct { double t, x[2], restitution, next; int lamp; } Ball;

static Ball *make(void) {
    Ball *b = calloc(1, sizeof(Ball));
    b->x[0] = 1.0; b->restitution = 0.7; b->next = 0.25;
    return b;
}
static bool settle(Ball *b) {
    bool hit = b->x[0] <= 0 && b->x[1] < 0;
    if (hit) { b->x[0] = 0; b->x[1] *= -b->restitution; }
    if (b->t >= b->next) { b->lamp = !b->lamp; b->next += 0.25; }
    return hit;
}
static void rates(const Ball *b, double *dx) { dx[0] = b->x[1]; dx[1] = -9.81; }
