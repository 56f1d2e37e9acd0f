/* Lanes: how are several runs carried out at once by functions that compute one robot in each lane of a vector?

   Every run keeps to its own course, as run_advance has it, on a stack of its own. Where it calls a function of the model
   it waits. Once all wait, those that wait for the same function, the cheapest first, are computed by one call, and
   go on. So runs need not
   take the same steps, and meet events, reject steps and end as they do alone; what a run computes does not depend on
   those beside it. Runs of one model meet again soon: while they do the same, nobody waits for long.

   A run that has returned makes room for the next of the queue. */

#define _DEFAULT_SOURCE
#include "lanes.h"

#include <stdlib.h>

/* Stacks are as large as a thread's own, of which only what is used takes memory: a function for eight lanes that is
   compiled without optimisation keeps every value there, hundreds of kilobytes. */
enum { PATIENCE = 24, STACK = 1 << 23, GUARD = 1 << 20, MOST_ENTRIES = 1 << 12 };

#if HAS_LANES
#include <sys/mman.h>

void engine_switch(void **from, void *to);
void engine_begin(void);

/* Keep the registers that a function must leave as they were, and take up another stack where it was left. A new one
   begins with its function in rbx and that one's argument in rbp. */
__asm__(
    ".text\n"
    ".p2align 4\n"
#if defined __APPLE__
    "_engine_switch:\n"
#else
    ".hidden engine_switch\n.globl engine_switch\n"
    "engine_switch:\n"
#endif
    "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
    "  movq %rsp, (%rdi)\n"
    "  movq %rsi, %rsp\n"
    "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
    "  popq %rcx\n"
    "  jmpq *%rcx\n"
    ".p2align 4\n"
#if defined __APPLE__
    "_engine_begin:\n"
#else
    ".hidden engine_begin\n.globl engine_begin\n"
    "engine_begin:\n"
#endif
    "  movq %rbp, %rdi\n"
    "  xorl %ebp, %ebp\n"
    "  callq *%rbx\n"
    "  ud2\n");

/* Whether the processor keeps a second stack of return addresses, which ours do not fit. */
static int is_shadowed(void) {
  uint64_t shadow = 0;
  __asm__ volatile("rdsspq %0" : "+r"(shadow));
  return shadow != 0;
}

#if defined __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>

/* An engine that checks its memory must know on which stack it is: it tells where the stack lies that was left. */
static void arrive(Pack *pack, void *fake_stack) {
  const void *bottom;
  size_t size;
  __sanitizer_finish_switch_fiber(fake_stack, &bottom, &size);
  if (!pack->entering) return;
  pack->entering = 0;
  pack->bottom = bottom;
  pack->size = size;
}

static void go_to(Pack *pack, void **from, const struct Lane *next) {
  void *fake_stack = NULL;
  __sanitizer_start_switch_fiber(&fake_stack, next ? next->stack : pack->bottom, next ? STACK : pack->size);
  engine_switch(from, next ? next->place : pack->place);
  arrive(pack, fake_stack);
}
#else
static void arrive(Pack *pack, void *fake_stack) { (void)pack, (void)fake_stack; }

/* Go on with another lane, or with the caller of them all. */
static void go_to(Pack *pack, void **from, const struct Lane *next) { engine_switch(from, next ? next->place : pack->place); }
#endif

/* Let the next lane go on that may, else the caller of them all. */
static void leave(struct Lane *lane) {
  struct Lane *end = lane->pack->lane + lane->pack->n_lanes, *next = lane + 1;
  while (next < end && next->status != READY) next++;
  go_to(lane->pack, &lane->place, next < end ? next : NULL);
}

/* The model's function, computed with those of other lanes. */
void wait_for(Run *run, Kernel kernel, double t, const double *x, const double *p, double *out) {
  struct Lane *lane = run->lane;
  lane->kernel = kernel;
  lane->t = t;
  lane->x = x;
  lane->p = p;
  lane->out = out;
  lane->status = WAITING;
  lane->waited = 0;
  leave(lane);
}

/* What a lane does for ever: one run of the queue after the other. */
static void work(struct Lane *lane) {
  arrive(lane->pack, NULL);
  for (;;) {
    lane->pack->reasons[lane->number] = run_advance(lane->run);
    /* A convoy ends before its leader does: others would wait for ever. */
    if (lane->run->compute != wait_for) abort();
    lane->run->compute = NULL;
    lane->run->lane = NULL;
    lane->status = IDLE;
    go_to(lane->pack, &lane->place, NULL);
  }
}

/* A stack with a megabyte below it that cannot be written: few frames reach across. */
static int make_stack(struct Lane *lane) {
  void *memory = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 0;
  lane->stack = memory;
  mprotect(memory, GUARD, PROT_NONE);
  /* r15, r14, r13, r12, rbx, rbp, and where to go on; above them the stack is empty and aligned. */
  void **top = (void **)(lane->stack + STACK) - 9;
  for (int k = 0; k < 9; k++) top[k] = NULL;
  top[4] = (void *)(uintptr_t)work;
  top[5] = lane;
  top[6] = (void *)(uintptr_t)engine_begin;
  lane->place = top;
  return 1;
}

/* Give an idle lane the next run of the queue. */
static void take_next(Pack *pack, int64_t l) {
  struct Lane *lane = &pack->lane[l];
  if (pack->next >= pack->n_queue) return;
  lane->number = pack->next++;
  lane->run = pack->queue[lane->number];
  lane->run->compute = wait_for;
  lane->run->lane = lane;
  lane->status = READY;
  for (int64_t k = 0; k < pack->n_p; k++) pack->p[k * pack->n_lanes + l] = lane->run->p[k];
}

/* Whether all lanes wait for the same function, as they mostly do. */
static int all_wait_alike(const Pack *pack) {
  int alike = 1;
  for (int64_t l = 0; l < pack->n_lanes; l++)
    alike &= pack->lane[l].status == WAITING && pack->lane[l].kernel == pack->lane[0].kernel;
  return alike;
}

/* Where a function stands among those that there are for lanes, -1 where it does not. */
static int64_t find_place(const Pack *pack, Kernel kernel) {
  for (int64_t k = 0; k < pack->n_kernels; k++)
    if (pack->kernels[k] == kernel) return k;
  return -1;
}

/* The cheapest function that a lane waits for: so all meet again at the dearest, which one call then computes for all of
   them, however many samples or steps one is behind another. One that has waited too long is not passed over again. */
static Kernel choose_kernel(const Pack *pack) {
  Kernel best = NULL;
  int64_t least_place = INT64_MAX;
  for (int64_t l = 0; l < pack->n_lanes; l++) {
    const struct Lane *lane = &pack->lane[l];
    if (lane->status != WAITING || lane->kernel == best) continue;
    int64_t place = lane->waited > PATIENCE ? -2 : find_place(pack, lane->kernel);
    if (place < least_place) {
      least_place = place;
      best = lane->kernel;
    }
  }
  return best;
}

LaneKernel find_vector(const Pack *pack, Kernel kernel) {
  int64_t place = find_place(pack, kernel);
  return place < 0 ? NULL : pack->vectors[place];
}

/* One call for all lanes of a group; the others repeat the first of it, to no effect. Where all write their memory in
   place, the function is told so by one address for both. */
void compute_vector(Pack *pack, LaneKernel vector, const int64_t *group, int64_t count) {
  const double *t[MOST_LANES], *x[MOST_LANES], *d[MOST_LANES], *m[MOST_LANES];
  double *out[MOST_LANES];
  int in_place = 1;
  for (int64_t k = 0; k < count; k++) in_place &= pack->lane[group[k]].out == pack->lane[group[k]].run->m;
  for (int64_t l = 0, k = 0; l < pack->n_lanes; l++) {
    int in_group = k < count && group[k] == l;
    struct Lane *lane = &pack->lane[in_group ? group[k++] : group[0]];
    t[l] = &lane->t;
    x[l] = lane->x;
    d[l] = lane->run->d;
    m[l] = in_group || !in_place ? lane->run->m : pack->nowhere;
    out[l] = in_group ? lane->out : pack->nowhere;
  }
  vector(t, x, d, in_place ? (const double **)out : m, pack->p, out);
}

/* Compute the cheapest of what lanes wait for. */
static void compute(Pack *pack) {
  Kernel kernel = all_wait_alike(pack) ? pack->lane[0].kernel : choose_kernel(pack);
  int64_t group[MOST_LANES], count = 0;
  int own = 1;
  for (int64_t l = 0; l < pack->n_lanes; l++) {
    struct Lane *lane = &pack->lane[l];
    if (lane->status != WAITING) continue;
    lane->waited++;
    if (lane->kernel != kernel) continue;
    group[count++] = l;
    lane->status = READY;
    own &= lane->p == lane->run->p;
  }
  pack->calls++;
  pack->computed += count;
  /* Runs that march do so together, or, where they cannot, each by itself when it goes on. */
  const March *course = pack->lane[group[0]].run->model->march;
  if (course && kernel == course->rest) {
    if (own && count > 1) march_together(pack, group, count);
    return;
  }
  LaneKernel vector = count > 1 && own ? find_vector(pack, kernel) : NULL;
  if (vector) {
    compute_vector(pack, vector, group, count);
    begin_convoy(pack, kernel, group, count);
    return;
  }
  for (int64_t k = 0; k < count; k++) {
    struct Lane *lane = &pack->lane[group[k]];
    kernel(&lane->t, lane->x, lane->run->d, lane->run->m, lane->p, lane->out);
  }
}

/* Let every lane go on until it waits or has no run left; how many wait. One that waits lets the next go on itself. */
static int64_t go_on(Pack *pack) {
  int64_t waiting = 0;
  for (int64_t l = 0; l < pack->n_lanes;) {
    struct Lane *lane = &pack->lane[l];
    if (lane->status == IDLE) take_next(pack, l);
    if (lane->status != READY) {
      l++;
      continue;
    }
    pack->entering = 1;
    go_to(pack, &pack->place, lane);
  }
  for (int64_t l = 0; l < pack->n_lanes; l++) waiting += pack->lane[l].status == WAITING;
  return waiting;
}

int64_t pack_advance(Pack *pack, Run **runs, int64_t n_runs, int64_t *reasons, int64_t budget) {
  int64_t waiting;
  pack->queue = runs;
  pack->n_queue = n_runs;
  pack->reasons = reasons;
  pack->budget = budget;
  while ((waiting = go_on(pack)) > 0 && pack->budget-- > 0) compute(pack);
  if (waiting == 0) pack->next = 0;
  return waiting;
}

Pack *pack_new(int64_t n_lanes, int64_t n_kernels, const Kernel *kernels, const LaneKernel *vectors, int64_t n_p,
               const double *table, int64_t n_table, int64_t longest) {
  Pack *pack = is_shadowed() || n_lanes > MOST_LANES ? NULL : calloc(1, sizeof(Pack));
  if (!pack) return NULL;
  pack->n_lanes = n_lanes;
  pack->n_kernels = n_kernels;
  pack->kernels = kernels;
  pack->vectors = vectors;
  pack->n_p = n_p;
  int made = (pack->memory = calloc((size_t)(n_p * n_lanes + n_table + LINE), sizeof(double))) != NULL;
  pack->p = line_start(pack->memory);
  made &= (pack->nowhere = calloc((size_t)longest + 1, sizeof(double))) != NULL;
  for (int64_t l = 0; l < n_lanes; l++) {
    pack->lane[l].pack = pack;
    made &= make_stack(&pack->lane[l]);
  }
  if (!made) {
    pack_free(pack);
    return NULL;
  }
  memcpy(pack->p + n_p * n_lanes, table, (size_t)n_table * sizeof(double));
  return pack;
}

void pack_free(Pack *pack) {
  for (int64_t l = 0; l < pack->n_lanes; l++)
    if (pack->lane[l].stack) munmap(pack->lane[l].stack, STACK);
  free(pack->memory);
  free(pack->nowhere);
  free(pack->side_by_side);
  free(pack);
}

#else

Pack *pack_new(int64_t n_lanes, int64_t n_kernels, const Kernel *kernels, const LaneKernel *vectors, int64_t n_p,
               const double *table, int64_t n_table, int64_t longest) {
  (void)n_lanes, (void)n_kernels, (void)kernels, (void)vectors, (void)n_p, (void)table, (void)n_table, (void)longest;
  return NULL;
}

int64_t pack_advance(Pack *pack, Run **runs, int64_t n_runs, int64_t *reasons, int64_t budget) {
  (void)pack, (void)runs, (void)n_runs, (void)reasons, (void)budget;
  return 0;
}

void pack_free(Pack *pack) { (void)pack; }

#endif

void compute_many(LaneKernel vector, int64_t n_lanes, int64_t n, int64_t times, double *const *arrays,
                  const int64_t *strides, int64_t n_p, double *side_by_side) {
  enum { T, X, D, M, P, OUT };
  double *clock = arrays[T];
  for (int64_t first = 0; first < n; first += n_lanes) {
    const double *place[OUT][MOST_LANES];
    double *out[MOST_LANES], spare[MOST_ENTRIES];
    for (int64_t l = 0; l < n_lanes; l++) {
      /* Lanes beyond the last robot read it, and write nowhere. */
      int64_t robot = first + l < n ? first + l : n - 1;
      for (int k = 0; k < OUT; k++) place[k][l] = arrays[k] + robot * strides[k];
      out[l] = first + l < n ? arrays[OUT] + robot * strides[OUT] : spare;
      if (strides[P] > 0 || first == 0)
        for (int64_t i = 0; i < n_p; i++) side_by_side[i * n_lanes + l] = place[P][l][i];
    }
    for (int64_t k = 0; k < times; k++) {
      clock[0] = clock[2] + (double)k * clock[1];
      vector(place[T], place[X], place[D], place[M], side_by_side, out);
    }
  }
}

void pack_count(const Pack *pack, int64_t *counts) {
  counts[0] = pack->calls;
  counts[1] = pack->computed;
  counts[2] = pack->computed_together;
}
