/* A parameter, an input and an output of each type of version 3.0: output = parameter + input. Arrays: the sums of a
   matrix' rows, and the sum of as many gains as a structural parameter says. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "fmi3Functions.h"

typedef struct {
    fmi3Float32 Float32[2]; fmi3Float64 Float64[2];
    fmi3Int8 Int8[2]; fmi3Int16 Int16[2]; fmi3Int32 Int32[2]; fmi3Int64 Int64[2];
    fmi3UInt8 UInt8[2]; fmi3UInt16 UInt16[2]; fmi3UInt32 UInt32[2]; fmi3UInt64 UInt64[2];
    fmi3Boolean Boolean[2], flags[2];
    fmi3Int64 mode[2];
    double matrix[6], gains[10];
    fmi3UInt64 n;
    bool configuring;
} Types;

fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
    fmi3Boolean logging, fmi3Boolean event_mode, fmi3Boolean early, const fmi3ValueReference required[], size_t n,
    fmi3InstanceEnvironment environment, fmi3LogMessageCallback log, fmi3IntermediateUpdateCallback update) {
    Types *u = calloc(1, sizeof(Types));
    u->n = 3; u->mode[0] = 1;
    for (int k = 0; k < 10; k++) u->gains[k] = k + 1;
    return u;
}
void fmi3FreeInstance(fmi3Instance i) { free(i); }
fmi3Status fmi3EnterConfigurationMode(fmi3Instance i) { ((Types *)i)->configuring = true; return fmi3OK; }
fmi3Status fmi3ExitConfigurationMode(fmi3Instance i) { ((Types *)i)->configuring = false; return fmi3OK; }
fmi3Status fmi3EnterInitializationMode(fmi3Instance i, fmi3Boolean d, fmi3Float64 tol, fmi3Float64 start,
    fmi3Boolean e, fmi3Float64 stop) { return fmi3OK; }
fmi3Status fmi3ExitInitializationMode(fmi3Instance i) { return fmi3OK; }
fmi3Status fmi3Reset(fmi3Instance i) { return fmi3OK; }
fmi3Status fmi3DoStep(fmi3Instance i, fmi3Float64 time, fmi3Float64 step, fmi3Boolean forget, fmi3Boolean *event,
    fmi3Boolean *end, fmi3Boolean *early, fmi3Float64 *last) {
    *event = *end = *early = false; *last = time + step; return fmi3OK;
}

#define SCALAR(T, BASE, OUT) \
    if (r >= BASE && r < BASE + 2) { x[at++] = u->T[r - BASE]; continue; } \
    if (r == BASE + 2) { x[at++] = OUT; continue; }
#define GET(T, BASE, MORE) \
    fmi3Status fmi3Get##T(fmi3Instance i, const fmi3ValueReference vr[], size_t n, fmi3##T x[], size_t m) { \
        Types *u = i; size_t at = 0; \
        for (size_t k = 0; k < n; k++) { fmi3ValueReference r = vr[k]; \
            SCALAR(T, BASE, u->T[0] + u->T[1]) MORE return fmi3Error; } \
        return at == m ? fmi3OK : fmi3Error; }
#define SET(T, BASE, MORE) \
    fmi3Status fmi3Set##T(fmi3Instance i, const fmi3ValueReference vr[], size_t n, const fmi3##T x[], size_t m) { \
        Types *u = i; size_t at = 0; \
        for (size_t k = 0; k < n; k++) { fmi3ValueReference r = vr[k]; \
            if (r >= BASE && r < BASE + 2) { u->T[r - BASE] = x[at++]; continue; } MORE return fmi3Error; } \
        return at == m ? fmi3OK : fmi3Error; }
#define BOTH(T, BASE) GET(T, BASE, ) SET(T, BASE, )

BOTH(Float32, 10) BOTH(Int8, 30) BOTH(Int16, 40) BOTH(Int32, 50)
BOTH(UInt8, 70) BOTH(UInt16, 80) BOTH(UInt32, 90)
#define ARRAY(REF, FROM, N) if (r == REF) { for (int j = 0; j < N; j++) x[at++] = FROM; continue; }
#define TAKE(REF, TO, N) if (r == REF) { for (int j = 0; j < N; j++) TO = x[at++]; continue; }
static double sum(const double *x, int n) { double s = 0; for (int k = 0; k < n; k++) s += x[k]; return s; }
GET(Float64, 20, ARRAY(200, u->matrix[j], 6) ARRAY(201, sum(u->matrix + 3 * j, 3), 2) ARRAY(202, u->gains[j], u->n)
    ARRAY(203, sum(u->gains, u->n), 1))
SET(Float64, 20, TAKE(200, u->matrix[j], 6) TAKE(202, u->gains[j], u->n))
GET(Int64, 60, ARRAY(130, u->mode[0], 1) ARRAY(131, u->mode[1], 1) ARRAY(132, u->mode[0] + u->mode[1], 1))
SET(Int64, 60, TAKE(130, u->mode[0], 1) TAKE(131, u->mode[1], 1))
GET(UInt64, 100, ARRAY(140, u->n, 1))
SET(UInt64, 100, if (r == 140 && !u->configuring) return fmi3Error; TAKE(140, u->n, 1))
GET(Boolean, 120, ARRAY(150, u->flags[j], 2))
SET(Boolean, 120, TAKE(150, u->flags[j], 2))
