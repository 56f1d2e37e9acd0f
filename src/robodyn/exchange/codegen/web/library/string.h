/* Bytes in WebAssembly, which copies and fills them by instructions. */
#ifndef STRING_H
#define STRING_H
#include <stddef.h>
#define memcpy(to, from, n) __builtin_memcpy(to, from, n)
#define memmove(to, from, n) __builtin_memmove(to, from, n)
#define memset(to, value, n) __builtin_memset(to, value, n)
int memcmp(const void *a, const void *b, size_t n);
int strcmp(const char *a, const char *b);
#endif
