/* C library of a module: what do the engine and models need of one? Memory, bytes, and a little mathematics. */

#include <stdint.h>

#include "math.h"
#include "stdlib.h"
#include "string.h"

enum { PAGE = 65536, ALIGNMENT = 16 };

/* A block of memory: its size with this head, and the next free one, in the order of their places. */
typedef struct Block {
  size_t size;
  struct Block *next;
  size_t unused[2];
} Block;

extern unsigned char __heap_base;
static Block *first_free;
static uintptr_t end_of_heap;

/* Give a block back, and join it with free ones beside it. */
void free(void *given) {
  if (!given) return;
  Block *block = (Block *)given - 1, *before = NULL, *after = first_free;
  while (after && after < block) before = after, after = after->next;
  if (after && (char *)block + block->size == (char *)after) {
    block->size += after->size;
    after = after->next;
  }
  block->next = after;
  if (before && (char *)before + before->size == (char *)block) {
    before->size += block->size;
    before->next = after;
  } else if (before) {
    before->next = block;
  } else {
    first_free = block;
  }
}

/* Ask for more pages, at least so many bytes; 0 where there are none. */
static int grow(size_t size) {
  if (!end_of_heap) {
    end_of_heap = ((uintptr_t)&__heap_base + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  }
  size_t pages = (size + PAGE - 1) / PAGE + 1;
  size_t had = __builtin_wasm_memory_size(0);
  if (__builtin_wasm_memory_grow(0, pages) == (size_t)-1) return 0;
  Block *block = (Block *)end_of_heap;
  block->size = (had + pages) * PAGE - end_of_heap;
  end_of_heap += block->size;
  free(block + 1);
  return 1;
}

/* The first free block that is large enough, cut to its size. */
static void *take(size_t size) {
  for (Block **link = &first_free; *link; link = &(*link)->next) {
    Block *block = *link;
    if (block->size < size) continue;
    if (block->size - size >= 2 * sizeof(Block)) {
      Block *rest = (Block *)((char *)block + size);
      rest->size = block->size - size;
      rest->next = block->next;
      block->size = size;
      *link = rest;
    } else {
      *link = block->next;
    }
    return block + 1;
  }
  return NULL;
}

void *malloc(size_t size) {
  if (size > SIZE_MAX / 2) return NULL;
  size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + sizeof(Block);
  void *found = take(size);
  return found || !grow(size) ? found : take(size);
}

void *calloc(size_t count, size_t size) {
  if (size && count > SIZE_MAX / 2 / size) return NULL;
  void *block = malloc(count * size);
  return block ? memset(block, 0, count * size) : NULL;
}

void *realloc(void *block, size_t size) {
  if (!block) return malloc(size);
  size_t had = ((Block *)block - 1)->size - sizeof(Block);
  if (size <= had) return block;
  void *longer = malloc(size);
  if (!longer) return NULL;
  memcpy(longer, block, had);
  free(block);
  return longer;
}

int memcmp(const void *a, const void *b, size_t n) {
  const unsigned char *x = a, *y = b;
  for (; n; n--, x++, y++) {
    if (*x != *y) return *x - *y;
  }
  return 0;
}

int strcmp(const char *a, const char *b) {
  for (; *a && *a == *b; a++, b++) {
  }
  return (unsigned char)*a - (unsigned char)*b;
}

/* x - n y with the whole number n nearest to x / y, the even one of two: exact. */
double remainder(double x, double y) {
  double size = fabs(y), rest = fabs(fmod(x, 2.0 * size));
  if (rest + rest > size) {
    rest -= size;
    if (rest + rest >= size) rest -= size;
  }
  return copysign(1.0, x) < 0.0 ? -rest : rest;
}

/* The next number towards y, by its bits. */
double nextafter(double x, double y) {
  union { double number; int64_t bits; } next = {x};
  if (x != x || y != y) return x + y;
  if (x == y) return y;
  if (x == 0.0) {
    next.bits = 1;
    return copysign(next.number, y);
  }
  next.bits += (x < y) == (x > 0.0) ? 1 : -1;
  return next.number;
}

/* 2 / sqrt(pi) exp(-x^2) sum 2^n x^(2n + 1) / (1 3 5 ... (2n + 1)): all terms have one sign. */
double erf(double x) {
  double term = x, sum = x;
  if (fabs(x) >= 6.0) return copysign(1.0, x);
  for (int n = 1; n < 200 && sum + term != sum; n++) sum += term *= 2.0 * x * x / (2.0 * n + 1.0);
  return 1.1283791670955126 * exp(-x * x) * sum;
}
