#include "fmi2Functions.h"
#include "falling.h"

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
    const fmi2CallbackFunctions *callbacks, fmi2Boolean visible, fmi2Boolean logging) { return make(); }
void fmi2FreeInstance(fmi2Component c) { free(c); }
fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean d, fmi2Real tol, fmi2Real start, fmi2Boolean e,
    fmi2Real stop) { ((Ball *)c)->t = start; return fmi2OK; }
fmi2Status fmi2EnterInitializationMode(fmi2Component c) { return fmi2OK; }
fmi2Status fmi2ExitInitializationMode(fmi2Component c) { return fmi2OK; }
fmi2Status fmi2EnterEventMode(fmi2Component c) { return fmi2OK; }
fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c) { return fmi2OK; }
fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *info) {
    memset(info, 0, sizeof(*info)); info->valuesOfContinuousStatesChanged = settle(c);
    info->nextEventTimeDefined = 1; info->nextEventTime = ((Ball *)c)->next; return fmi2OK;
}
fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean forget, fmi2Boolean *event, fmi2Boolean *end) {
    *event = *end = 0; return fmi2OK;
}
fmi2Status fmi2SetTime(fmi2Component c, fmi2Real t) { ((Ball *)c)->t = t; return fmi2OK; }
fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real x[], size_t n) { memcpy(((Ball *)c)->x, x, 16); return fmi2OK; }
fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real x[], size_t n) { memcpy(x, ((Ball *)c)->x, 16); return fmi2OK; }
fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real x[], size_t n) { rates(c, x); return fmi2OK; }
fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real x[], size_t n) { x[0] = x[1] = 1; return fmi2OK; }
fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real z[], size_t n) { z[0] = ((Ball *)c)->x[0]; return fmi2OK; }
fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Real x[]) {
    Ball *b = c;
    for (size_t k = 0; k < n; k++) x[k] = vr[k] == 1 ? b->x[0] : vr[k] == 2 ? b->x[1] : vr[k] == 5 ? b->restitution : 0;
    return fmi2OK;
}
fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Real x[]) {
    Ball *b = c;
    for (size_t k = 0; k < n; k++) if (vr[k] == 5) b->restitution = x[k]; else b->x[vr[k] - 1] = x[k];
    return fmi2OK;
}
fmi2Status fmi2GetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Integer x[]) {
    x[0] = ((Ball *)c)->lamp; return fmi2OK;
}
