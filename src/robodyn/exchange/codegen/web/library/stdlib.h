/* Memory in WebAssembly. */
#ifndef STDLIB_H
#define STDLIB_H
#include <stddef.h>
void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *block, size_t size);
void free(void *block);
#endif
