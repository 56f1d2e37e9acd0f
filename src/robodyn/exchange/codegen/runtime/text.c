/* How are sentences made without <stdio.h>, which small targets lack and which would be a quarter of a module? */

#include "unit.h"

#include <math.h>
#include <stdarg.h>

enum { DIGITS = 6 };

/* Append what fits, a zero behind it. */
static size_t append(char *to, size_t room, size_t used, const char *text) {
  for (; *text && used + 1 < room; text++) to[used++] = *text;
  to[used] = '\0';
  return used;
}

static char *put_integer(char *to, int value) {
  if (value >= 10) to = put_integer(to, value / 10);
  *to = (char)('0' + value % 10);
  return to + 1;
}

/* Mantissa of DIGITS figures and exponent: x = n 10^(e - DIGITS + 1), x > 0. */
static int split_number(double x, int *e) {
  int n;
  for (*e = 0; x >= 10.0; ++*e) x /= 10.0;
  for (; x < 1.0; --*e) x *= 10.0;
  n = (int)(x * 1e5 + 0.5);
  if (n < 1000000) return n;
  ++*e;
  return n / 10;
}

/* As %g prints a number; to has room for 24 characters. */
static void write_number(char *to, double x) {
  char figures[DIGITS + 1];
  int e, last = DIGITS - 1, n;
  if (x < 0.0) *to++ = '-';
  x = fabs(x);
  if (!(x > 0.0 && x <= 1.7e308)) {
    append(to, 8, 0, isnan(x) ? "nan" : x > 0.0 ? "inf" : "0");
    return;
  }
  n = split_number(x, &e);
  put_integer(figures, n);
  while (last > 0 && figures[last] == '0') last--;
  int plain = e >= -4 && e < DIGITS, first = plain ? e : 0;
  if (first < 0) *to++ = '0', *to++ = '.';
  for (int k = first + 1; k < 0; k++) *to++ = '0';
  for (int k = 0; k <= last || k <= first; k++) {
    if (first >= 0 && k == first + 1) *to++ = '.';
    *to++ = figures[k];
  }
  if (!plain) {
    *to++ = 'e';
    *to++ = e < 0 ? '-' : '+';
    if (e > -10 && e < 10) *to++ = '0';
    to = put_integer(to, e < 0 ? -e : e);
  }
  *to = '\0';
}

void compose(char *to, size_t room, const char *format, ...) {
  char piece[32];
  size_t used = 0;
  va_list values;
  va_start(values, format);
  for (; *format; format++) {
    if (*format == '%' && *++format == 's') {
      used = append(to, room, used, va_arg(values, const char *));
    } else if (*format == 'g' && format[-1] == '%') {
      write_number(piece, va_arg(values, double));
      used = append(to, room, used, piece);
    } else {
      piece[0] = *format;
      piece[1] = '\0';
      used = append(to, room, used, piece);
    }
  }
  va_end(values);
}
