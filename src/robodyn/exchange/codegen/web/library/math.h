/* Mathematics in WebAssembly: what is an instruction, what is written here, and what whoever loads the module brings. */
#ifndef MATH_H
#define MATH_H

#define INFINITY __builtin_inf()
#define NAN __builtin_nan("")
#define isnan(x) __builtin_isnan(x)
#define isfinite(x) __builtin_isfinite(x)
#define isinf(x) __builtin_isinf(x)
#define signbit(x) __builtin_signbit(x)

#define sqrt(x) __builtin_sqrt(x)
#define fabs(x) __builtin_fabs(x)
#define floor(x) __builtin_floor(x)
#define ceil(x) __builtin_ceil(x)
#define trunc(x) __builtin_trunc(x)
#define rint(x) __builtin_rint(x)
#define copysign(x, y) __builtin_copysign(x, y)

/* Of equal numbers the first, as machine code has it; what is no number does not count. */
static inline double fmax(double a, double b) { return a != a || b > a ? b : a; }
static inline double fmin(double a, double b) { return a != a || b < a ? b : a; }

/* Imported: JavaScript's. Models call none but fmod, which is exact; their other functions are arithmetic. */
double pow(double x, double y);
double fmod(double x, double y);
double hypot(double x, double y);
double atan2(double y, double x);
double sin(double x);
double cos(double x);
double exp(double x);
double log(double x);

double remainder(double x, double y);
double erf(double x);
double nextafter(double x, double y);

#endif
