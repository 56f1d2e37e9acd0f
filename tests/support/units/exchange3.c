#include "fmi3Functions.h"
#include "falling.h"

fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
    fmi3Boolean logging, fmi3InstanceEnvironment environment, fmi3LogMessageCallback log) { return make(); }
void fmi3FreeInstance(fmi3Instance i) { free(i); }
fmi3Status fmi3EnterInitializationMode(fmi3Instance i, fmi3Boolean d, fmi3Float64 tol, fmi3Float64 start,
    fmi3Boolean e, fmi3Float64 stop) { ((Ball *)i)->t = start; return fmi3OK; }
fmi3Status fmi3ExitInitializationMode(fmi3Instance i) { return fmi3OK; }
fmi3Status fmi3EnterEventMode(fmi3Instance i) { return fmi3OK; }
fmi3Status fmi3EnterContinuousTimeMode(fmi3Instance i) { return fmi3OK; }
fmi3Status fmi3UpdateDiscreteStates(fmi3Instance i, fmi3Boolean *again, fmi3Boolean *end, fmi3Boolean *nominals,
    fmi3Boolean *states, fmi3Boolean *defined, fmi3Float64 *next) {
    *again = *end = *nominals = false; *states = settle(i); *defined = true; *next = ((Ball *)i)->next; return fmi3OK;
}
fmi3Status fmi3CompletedIntegratorStep(fmi3Instance i, fmi3Boolean forget, fmi3Boolean *event, fmi3Boolean *end) {
    *event = *end = false; return fmi3OK;
}
fmi3Status fmi3SetTime(fmi3Instance i, fmi3Float64 t) { ((Ball *)i)->t = t; return fmi3OK; }
fmi3Status fmi3SetContinuousStates(fmi3Instance i, const fmi3Float64 x[], size_t n) {
    memcpy(((Ball *)i)->x, x, 16); return fmi3OK;
}
fmi3Status fmi3GetContinuousStates(fmi3Instance i, fmi3Float64 x[], size_t n) {
    memcpy(x, ((Ball *)i)->x, 16); return fmi3OK;
}
fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance i, fmi3Float64 x[], size_t n) { rates(i, x); return fmi3OK; }
fmi3Status fmi3GetNominalsOfContinuousStates(fmi3Instance i, fmi3Float64 x[], size_t n) { x[0] = x[1] = 1; return fmi3OK; }
fmi3Status fmi3GetEventIndicators(fmi3Instance i, fmi3Float64 z[], size_t n) { z[0] = ((Ball *)i)->x[0]; return fmi3OK; }
fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance i, size_t *n) { *n = 2; return fmi3OK; }
fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance i, size_t *n) { *n = 1; return fmi3OK; }
fmi3Status fmi3GetFloat64(fmi3Instance i, const fmi3ValueReference vr[], size_t n, fmi3Float64 x[], size_t m) {
    Ball *b = i;
    for (size_t k = 0; k < n; k++) x[k] = vr[k] == 1 ? b->x[0] : vr[k] == 2 ? b->x[1] : vr[k] == 5 ? b->restitution : 0;
    return fmi3OK;
}
fmi3Status fmi3SetFloat64(fmi3Instance i, const fmi3ValueReference vr[], size_t n, const fmi3Float64 x[], size_t m) {
    Ball *b = i;
    for (size_t k = 0; k < n; k++) if (vr[k] == 5) b->restitution = x[k]; else b->x[vr[k] - 1] = x[k];
    return fmi3OK;
}
fmi3Status fmi3GetInt32(fmi3Instance i, const fmi3ValueReference vr[], size_t n, fmi3Int32 x[], size_t m) {
    x[0] = ((Ball *)i)->lamp; return fmi3OK;
}
