/* A parameter, an input and an output of each type of version 2.0: output = parameter + input. */
#include <stdlib.h>
#include "fmi2Functions.h"

typedef struct { double real[2]; int integer[2], boolean[2], mode[2]; } Types;

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
    const fmi2CallbackFunctions *callbacks, fmi2Boolean visible, fmi2Boolean logging) { return calloc(1, sizeof(Types)); }
void fmi2FreeInstance(fmi2Component c) { free(c); }
fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean d, fmi2Real tol, fmi2Real start, fmi2Boolean e,
    fmi2Real stop) { return fmi2OK; }
fmi2Status fmi2EnterInitializationMode(fmi2Component c) { return fmi2OK; }
fmi2Status fmi2ExitInitializationMode(fmi2Component c) { return fmi2OK; }
fmi2Status fmi2Reset(fmi2Component c) { return fmi2OK; }
fmi2Status fmi2DoStep(fmi2Component c, fmi2Real t, fmi2Real h, fmi2Boolean forget) { return fmi2OK; }

#define BOTH(T, C, PLACE) \
    fmi2Status fmi2Get##T(fmi2Component c, const fmi2ValueReference vr[], size_t n, C x[]) { \
        Types *u = c; for (size_t k = 0; k < n; k++) { C *at = PLACE; unsigned r = vr[k] % 10; \
            x[k] = r < 2 ? at[r] : at[0] + at[1]; } return fmi2OK; } \
    fmi2Status fmi2Set##T(fmi2Component c, const fmi2ValueReference vr[], size_t n, const C x[]) { \
        Types *u = c; for (size_t k = 0; k < n; k++) { C *at = PLACE; at[vr[k] % 10] = x[k]; } return fmi2OK; }
BOTH(Real, fmi2Real, u->real)
BOTH(Integer, fmi2Integer, vr[k] < 10 ? u->integer : u->mode)
BOTH(Boolean, fmi2Boolean, u->boolean)
