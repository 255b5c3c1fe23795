/* Coroutines, each with frames of its own: resumed from two depths, while every object moves.
 *
 * A suspended coroutine keeps the mark of its frames, and the provider shows them. The main program
 * is one, too: it is suspended while another one runs. */
#include <allotment.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

typedef struct {
  uint64_t header;
  al_slot next;
  uint64_t id;
} cell;

typedef struct coroutine {
  ucontext_t context;
  al_frame_mark frames; /* while it does not run */
  struct coroutine *resumer;
  uint64_t base;
} coroutine;

static al_mutator *mu;
static al_shape CELL;
static coroutine all[3]; /* the first is the main program */
static coroutine *running = &all[0];

#define DEMAND(condition) \
  if (!(condition)) (printf("%s:%d: %s\n", __FILE__, __LINE__, #condition), exit(1))

static void show(al_visitor *visitor, void *data) {
  (void)data;
  for (size_t i = 0; i < 3; i++) {
    if (&all[i] != running) al_visit_frames(visitor, all[i].frames);
  }
}

static void go(coroutine *to) {
  coroutine *from = running;
  from->frames = al_frames(mu);
  al_frames_reset(mu, to->frames);
  running = to;
  DEMAND(swapcontext(&from->context, &to->context) == 0);
}
static void resume(coroutine *to) {
  to->resumer = running;
  go(to);
}
static void yield(void) { go(running->resumer); }

static al_value new_cell(uint64_t id) {
  cell *fresh = (cell *)al_alloc(mu, CELL);
  DEMAND(fresh);
  fresh->id = id;
  return al_ref(fresh);
}

static void check(al_value value, uint64_t id) { DEMAND(((cell *)al_addr(value))->id == id); }

static void deeper(uint64_t id, int depth) {
  AL_LOCALS(mu, L, own);
  L.own = new_cell(id);
  if (depth) {
    deeper(id + 1, depth - 1);
  } else {
    yield();
    al_collect(mu);
  }
  check(L.own, id);
}

static void body(void) {
  uint64_t base = running->base;
  AL_LOCALS(mu, L, first, second);
  L.first = new_cell(base);
  for (uint64_t turn = 0;; turn++) {
    L.second = new_cell(base + turn);
    deeper(base + 100, (int)(turn % 3));
    check(L.first, base);
    check(L.second, base + turn);
    yield();
  }
}

static void turns(uint64_t id) {
  AL_LOCALS(mu, L, own);
  L.own = new_cell(id);
  resume(&all[1]);
  check(L.own, id);
  resume(&all[2]);
  check(L.own, id);
}

int main(void) {
  al_error error = {.size = sizeof error};
  al_options options = {.size = sizeof options, .defaults = "MaxHeapSize=16m"};
  al_slot_desc slots[] = {AL_SLOT(cell, next, AL_STRONG)};
  al_shape_desc cells = {.size = sizeof cells, .name = "Cell", .fixed = sizeof(cell)};
  cells.slots = slots;
  cells.slot_count = 1;
  al_heap *heap;
  al_provider *provider;
  DEMAND(!al_heap_new(&options, &heap, &error));
  DEMAND(!al_shape_register(heap, &cells, &CELL, &error));
  DEMAND(!al_attach(heap, &mu, &error));
  DEMAND(!al_provider_add(heap, show, NULL, &provider, &error));
  for (size_t i = 1; i < 3; i++) {
    coroutine *own = &all[i];
    DEMAND(getcontext(&own->context) == 0);
    own->context.uc_stack.ss_size = 1 << 18;
    own->context.uc_stack.ss_sp = malloc(own->context.uc_stack.ss_size);
    DEMAND(own->context.uc_stack.ss_sp);
    makecontext(&own->context, body, 0);
    own->frames = AL_NO_FRAMES;
    own->base = 1000 * i;
  }
  {
    AL_LOCALS(mu, L, bottom);
    L.bottom = new_cell(7);
    for (uint64_t turn = 0; turn < 40; turn++) {
      resume(&all[1]); /* at this depth */
      turns(turn);     /* at the next one */
      check(L.bottom, 7);
    }
  }
  al_provider_remove(heap, provider); /* the coroutines are given up */
  al_detach(mu);
  for (size_t i = 1; i < 3; i++) free(all[i].context.uc_stack.ss_sp);
  DEMAND(!al_heap_free(heap, &error));
  puts("all are there");
  return 0;
}
