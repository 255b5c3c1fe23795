/* The model test: threads change graphs of objects, and compare them with models in malloc memory.
 *
 * usage: model OPTIONS STEPS THREADS SEED
 *
 * Each thread has a table of nodes with links among them, two big arrays whose nodes are known in
 * one place only and change places, a stack of its own that grows (AL_WORDS), handles, weak handles,
 * and a root that a provider shows. All threads share one array. Objects that hang on a table as
 * well would hide a missing barrier, so the big arrays' nodes do not. */
#define _GNU_SOURCE
#include <allotment.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct {
  uint64_t header;
  al_slot kid[3];
  uint64_t id;
} node;
typedef struct {
  uint64_t header;
  size_t length;
  al_slot at[];
} array;
typedef struct {
  uint64_t header;
  al_slot car, cdr;
} pair;
typedef struct {
  uint64_t header;
  al_slot target;
  uint64_t id;
} weak_box;

enum { NODES = 300, SHARED = 64, BIG = 2000, STACK = 200, THREADS = 8 };

/* The model of a node: the numbers of its kids, -1 for null. */
typedef struct {
  int kid[3];
  uint64_t id;
} model;

/* A thread, and its model. */
typedef struct {
  al_mutator *mu;
  uint64_t seed;
  model nodes[NODES];
  uint64_t big[2][BIG];
  uint64_t *stack_ids;
  al_value *stack;
  size_t stack_count, stack_room;
  al_pin *pin;
  uint64_t *pinned, pinned_id;
  al_handle *handle, *weak;
  uint64_t handle_id;
  size_t list_length, depth;
} thread;

static al_heap *heap;
static al_shape NODE, ARRAY, PAIR, WEAK;
static al_handle *shared;
static long steps;
/* The roots that the provider shows: one word for each thread, which writes it. */
static al_word provided[THREADS];
static uint64_t provided_id[THREADS];

#define DIE(...) (fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), abort())

static uint64_t next(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static array *array_at(al_value value) { return (array *)al_addr(value); }
static node *node_at(al_value value) { return (node *)al_addr(value); }
static pair *pair_at(al_value value) { return (pair *)al_addr(value); }

static void *made(al_mutator *mu, void *object) {
  if (!object) {
    al_error error = {.size = sizeof error};
    al_alloc_error(mu, &error);
    DIE("no memory: %s", error.text);
  }
  return object;
}

AL_SAFEPOINT static node *new_node(thread *t) {
  node *made_node = made(t->mu, al_alloc(t->mu, NODE));
  made_node->id = next(&t->seed);
  return made_node;
}

AL_SAFEPOINT static array *new_array(thread *t, size_t length) {
  return made(t->mu, al_alloc_array(t->mu, ARRAY, length));
}

static void check_nodes(thread *t, al_value table, const char *where) {
  array *nodes = array_at(table);
  for (int i = 0; i < NODES; i++) {
    al_value value = al_load(t->mu, &nodes->at[i]);
    if (al_is_null(value)) DIE("%s: node %d is lost", where, i);
    node *found = node_at(value);
    if (found->id != t->nodes[i].id) DIE("%s: node %d is another", where, i);
    for (int k = 0; k < 3; k++) {
      al_value kid = al_load(t->mu, &found->kid[k]);
      int wanted = t->nodes[i].kid[k];
      if (wanted < 0) {
        if (!al_is_null(kid)) DIE("%s: kid %d of node %d is not null", where, k, i);
      } else if (!al_same(kid, al_load(t->mu, &nodes->at[wanted]))) {
        DIE("%s: kid %d of node %d is not node %d", where, k, i, wanted);
      }
    }
  }
}

static void check_big(thread *t, al_value one, al_value other) {
  for (int side = 0; side < 2; side++) {
    for (int i = 0; i < BIG; i++) {
      al_value value = al_load(t->mu, &array_at(side ? other : one)->at[i]);
      if (al_is_null(value) || node_at(value)->id != t->big[side][i]) DIE("big %d %d", side, i);
    }
  }
}

static size_t count_tree(al_mutator *mu, al_value tree) {
  if (al_is_null(tree)) return 0;
  pair *at = pair_at(tree);
  return 1 + count_tree(mu, al_load(mu, &at->car)) + count_tree(mu, al_load(mu, &at->cdr));
}

AL_SAFEPOINT static al_value new_tree(al_mutator *mu, size_t depth) {
  if (!depth) return AL_NULL;
  AL_LOCALS(mu, L, one, other);
  L.one = new_tree(mu, depth - 1);
  L.other = new_tree(mu, depth - 1);
  pair *top = made(mu, al_alloc_raw(mu, PAIR));
  al_init(&top->car, L.one);
  al_init(&top->cdr, L.other);
  return al_ref(top);
}

/* Links, unlinks, replaces and exchanges among the nodes of the table. */
static void link_nodes(thread *t, al_value table, uint64_t r) {
  int i = (int)(r % NODES), j = (int)((r >> 16) % NODES), k = (int)((r >> 32) % 3);
  array *nodes = array_at(table);
  node *from = node_at(al_load(t->mu, &nodes->at[i]));
  al_value to = al_load(t->mu, &nodes->at[j]);
  if ((r >> 44) % 4 == 0) {
    al_store(t->mu, &from->kid[k], AL_NULL);
    t->nodes[i].kid[k] = -1;
  } else if ((r >> 44) % 4 == 1) {
    al_value expected = al_load(t->mu, &from->kid[k]);
    if (!al_cas(t->mu, &from->kid[k], &expected, to)) DIE("cas failed");
    t->nodes[i].kid[k] = j;
    expected = al_immediate(0x5eed);
    if (al_cas(t->mu, &from->kid[k], &expected, AL_NULL)) DIE("cas of another word");
    if (!al_same(expected, al_load(t->mu, &from->kid[k]))) DIE("cas told another word");
  } else {
    al_store(t->mu, &from->kid[k], to);
    t->nodes[i].kid[k] = j;
  }
}

static void unlink_all(thread *t, al_value table, int to) {
  for (int i = 0; i < NODES; i++) {
    for (int k = 0; k < 3; k++) {
      if (t->nodes[i].kid[k] == to) {
        al_store(t->mu, &node_at(al_load(t->mu, &array_at(table)->at[i]))->kid[k], AL_NULL);
        t->nodes[i].kid[k] = -1;
      }
    }
  }
}

/* Nodes that are known in one place only change places. */
static void change_places(thread *t, al_value one, al_value other) {
  for (int turn = 0; turn < 20; turn++) {
    uint64_t r = next(&t->seed);
    size_t x = r % BIG, y = (r >> 20) % BIG, sx = (r >> 40) & 1, sy = (r >> 41) & 1;
    al_slot *from = &array_at(sx ? other : one)->at[x], *to = &array_at(sy ? other : one)->at[y];
    al_value value = al_load(t->mu, from), displaced = al_load(t->mu, to);
    al_store(t->mu, from, AL_NULL);
    al_store(t->mu, to, AL_NULL);
    al_store(t->mu, to, value);
    if (from != to) al_store(t->mu, from, displaced);
    uint64_t id = t->big[sx][x];
    t->big[sx][x] = t->big[sy][y];
    t->big[sy][y] = id;
    if (node_at(al_load(t->mu, from))->id != t->big[sx][x]) DIE("a node is lost on its way");
  }
}

/* Slots move within one array: the ranges overlap. */
static void shift(thread *t, al_value one, uint64_t r) {
  size_t from = r % (BIG / 2), to = (r >> 16) % (BIG / 2), count = (r >> 32) % (BIG / 2);
  al_slot *slots = array_at(one)->at;
  al_copy(t->mu, &slots[to], &slots[from], count);
  uint64_t ids[BIG];
  for (size_t i = 0; i < count; i++) ids[i] = t->big[0][from + i];
  for (size_t i = 0; i < count; i++) t->big[0][to + i] = ids[i];
}

static void use_shared(thread *t, uint64_t r) {
  al_mutator *mu = t->mu;
  AL_LOCALS(mu, F, box, copy);
  pair *fresh = made(mu, al_alloc(mu, PAIR));
  al_init(&fresh->car, al_immediate((int64_t)(r >> 8)));
  F.box = al_ref(fresh);
  {
    AL_SPAN;
    al_slot *slot = &array_at(al_handle_get(mu, shared))->at[(r >> 50) % SHARED];
    al_value expected = al_load(mu, slot);
    while (!al_cas(mu, slot, &expected, F.box)) {
    }
    if (al_is_ref(expected) && al_is_ref(al_load(mu, &pair_at(expected)->car))) DIE("shared box");
  }
  F.copy = al_ref(new_array(t, SHARED));
  AL_SPAN;
  al_slot *copied = array_at(F.copy)->at;
  al_copy(mu, copied, array_at(al_handle_get(mu, shared))->at, SHARED);
  al_copy(mu, copied + 3, copied, SHARED - 3);
  al_fill(mu, copied, 3, F.box);
  for (int i = 0; i < SHARED; i++) {
    al_value value = al_load(mu, &copied[i]);
    if (al_is_ref(value) && al_is_ref(al_load(mu, &pair_at(value)->car))) DIE("copied box");
  }
}

static void pin_or_unpin(thread *t, al_value table, uint64_t r) {
  if (t->pin) {
    if (*t->pinned != t->pinned_id) DIE("a pinned object changed");
    al_pin_free(t->pin);
    t->pin = NULL;
    return;
  }
  node *at = node_at(al_load(t->mu, &array_at(table)->at[r % NODES]));
  t->pin = al_pin_new(t->mu, at);
  t->pinned = &((node *)al_pin_address(t->pin))->id;
  t->pinned_id = at->id;
  al_block_enter(t->mu);
  if (*t->pinned != t->pinned_id) DIE("a pinned object changed while its thread is blocked");
  if ((r >> 50) % 16 == 0) {
    struct timespec time = {0, 100000};
    nanosleep(&time, NULL);
  }
  al_block_leave(t->mu);
  if (*t->pinned != t->pinned_id) DIE("a pinned object moved");
}

static void use_handles(thread *t, al_value table, uint64_t r) {
  if (t->handle) {
    if (node_at(al_handle_get(t->mu, t->handle))->id != t->handle_id) DIE("handle");
    al_value weak = al_handle_get(t->mu, t->weak);
    if (al_is_null(weak)) DIE("the referent of a strong handle died");
    if (node_at(weak)->id != t->handle_id) DIE("weak handle");
    al_handle *copy = al_handle_copy(t->handle);
    al_handle_free(t->handle);
    if (node_at(al_handle_get(t->mu, copy))->id != t->handle_id) DIE("copied handle");
    al_handle_free(copy);
    al_handle_free(t->weak);
    t->handle = t->weak = NULL;
    return;
  }
  al_value value = al_load(t->mu, &array_at(table)->at[r % NODES]);
  t->handle_id = node_at(value)->id;
  t->handle = al_handle_new(t->mu, AL_NULL);
  al_handle_set(t->mu, t->handle, value);
  t->weak = al_weak_new(t->mu, value);
}

AL_SAFEPOINT static void push_or_pop(thread *t, al_frame *frame, uint64_t r) {
  if (t->stack_count > 0 && (r >> 20) % 5 < 2) {
    al_value top = t->stack[--t->stack_count];
    if (node_at(top)->id != t->stack_ids[t->stack_count]) DIE("stack");
    al_words_set(frame, t->stack, t->stack_count);
    return;
  }
  if (t->stack_count == STACK) return;
  if (t->stack_count == t->stack_room) {
    t->stack_room = t->stack_room * 2 + 4;
    t->stack = realloc(t->stack, t->stack_room * sizeof *t->stack);
    t->stack_ids = realloc(t->stack_ids, t->stack_room * sizeof *t->stack_ids);
    al_words_set(frame, t->stack, t->stack_count);
  }
  node *fresh = new_node(t);
  t->stack_ids[t->stack_count] = fresh->id;
  t->stack[t->stack_count++] = al_ref(fresh);
  al_words_set(frame, t->stack, t->stack_count);
}

/* Several objects without a safepoint between them. */
AL_SAFEPOINT static void use_room(thread *t, uint64_t r) {
  size_t count = 1 + (r >> 30) % 50;
  if (al_room(t->mu, count * NODE.fixed, NULL) != AL_OK) DIE("no room");
  AL_SPAN;
  al_value list = AL_NULL;
  for (size_t i = 0; i < count; i++) {
    node *fresh = (node *)al_try_alloc(t->mu, NODE);
    if (!fresh) DIE("no room for object %zu of %zu", i, count);
    fresh->id = i;
    al_init(&fresh->kid[0], list);
    list = al_ref(fresh);
  }
  for (size_t i = count; i-- > 0; list = al_load(t->mu, &node_at(list)->kid[0])) {
    if (node_at(list)->id != i) DIE("object %zu of a room", i);
  }
}

AL_SAFEPOINT static void use_weak(thread *t, al_value table, uint64_t r) {
  AL_LOCALS(t->mu, L, table, box);
  L.table = table;
  L.box = al_ref(made(t->mu, al_alloc(t->mu, WEAK)));
  al_value target = al_load(t->mu, &array_at(L.table)->at[r % NODES]);
  ((weak_box *)al_addr(L.box))->id = node_at(target)->id;
  al_store(t->mu, &((weak_box *)al_addr(L.box))->target, target);
  new_node(t);
  weak_box *box = (weak_box *)al_addr(L.box);
  if (!al_weak_live(t->mu, &box->target)) DIE("a live referent counts as dead");
  if (node_at(al_load_weak(t->mu, &box->target))->id != box->id) DIE("weak slot");
}

AL_SAFEPOINT static void use_provided(thread *t, size_t own) {
  if (provided[own]) {
    if (node_at(al_from_word(provided[own]))->id != provided_id[own]) DIE("provided root");
  }
  node *fresh = new_node(t);
  provided_id[own] = fresh->id;
  provided[own] = al_to_word(al_ref(fresh));
}

static void visit_provided(al_visitor *visitor, void *data) {
  (void)data;
  for (int i = 0; i < THREADS; i++) al_visit(visitor, &provided[i]);
}

static void *run(void *argument) {
  size_t own = (size_t)(uintptr_t)argument % 64;
  thread *t = calloc(1, sizeof *t);
  if (!t) DIE("no memory for a model");
  t->seed = ((uintptr_t)argument + 1) * 0x9E3779B97F4A7C15u | 1;
  al_error error = {.size = sizeof error};
  if (al_attach(heap, &t->mu, &error) != AL_OK) DIE("%s", error.text);
  {
    AL_LOCALS(t->mu, L, table, temporary, list, tree);
    AL_LOCALS(t->mu, B, one, other);
    AL_WORDS(t->mu, S, t->stack, 0);
    L.table = al_ref(new_array(t, NODES));
    for (int i = 0; i < NODES; i++) {
      node *fresh = new_node(t);
      t->nodes[i] = (model){{-1, -1, -1}, fresh->id};
      al_store(t->mu, &array_at(L.table)->at[i], al_ref(fresh));
    }
    B.one = al_ref(new_array(t, BIG));
    B.other = al_ref(new_array(t, BIG));
    for (int i = 0; i < 2 * BIG; i++) {
      node *fresh = new_node(t);
      t->big[i % 2][i / 2] = fresh->id;
      al_store(t->mu, &array_at(i % 2 ? B.other : B.one)->at[i / 2], al_ref(fresh));
    }
    for (long step = 0; step < steps; step++) {
      uint64_t r = next(&t->seed);
      switch ((r >> 40) % 20) {
        case 0:
        case 1:
        case 2:
        case 3:
          link_nodes(t, L.table, r);
          break;
        case 4: {
          int i = (int)(r % NODES);
          node *fresh = new_node(t);
          uint64_t id = fresh->id;
          L.temporary = al_ref(fresh);
          unlink_all(t, L.table, i);
          t->nodes[i] = (model){{-1, -1, -1}, id};
          al_store(t->mu, &array_at(L.table)->at[i], L.temporary);
          L.temporary = AL_NULL;
          break;
        }
        case 5: {
          L.list = AL_NULL;
          t->list_length = (r >> 50) % 256;
          for (size_t i = 0; i < t->list_length; i++) {
            pair *fresh = made(t->mu, al_alloc(t->mu, PAIR));
            al_init(&fresh->car, al_immediate((int64_t)i));
            al_init(&fresh->cdr, L.list);
            L.list = al_ref(fresh);
          }
          break;
        }
        case 6: {
          size_t length = 0;
          for (al_value at = L.list; !al_is_null(at); at = al_load(t->mu, &pair_at(at)->cdr)) length++;
          if (length != t->list_length) DIE("a list of %zu, not %zu", length, t->list_length);
          break;
        }
        case 7:
          if (!al_is_null(L.tree) && count_tree(t->mu, L.tree) != ((size_t)1 << t->depth) - 1) {
            DIE("a tree of depth %zu", t->depth);
          }
          t->depth = 2 + (r >> 50) % 7;
          L.tree = new_tree(t->mu, t->depth);
          break;
        case 8:
          use_shared(t, r);
          break;
        case 9:
          pin_or_unpin(t, L.table, r);
          break;
        case 10:
          use_handles(t, L.table, r);
          break;
        case 11:
        case 12:
        case 13:
          change_places(t, B.one, B.other);
          break;
        case 14: {
          /* A copy that stays, and one node that becomes garbage. */
          array *copy = new_array(t, BIG);
          al_copy(t->mu, copy->at, array_at(B.one)->at, BIG);
          B.one = al_ref(copy);
          node *fresh = new_node(t);
          size_t x = (r >> 45) % BIG;
          t->big[0][x] = fresh->id;
          al_store(t->mu, &array_at(B.one)->at[x], al_ref(fresh));
          break;
        }
        case 15:
          if ((r >> 60) == 0) shift(t, B.one, r);
          break;
        case 16:
          push_or_pop(t, &S, r);
          push_or_pop(t, &S, r >> 7);
          break;
        case 17:
          use_room(t, r);
          use_weak(t, L.table, r);
          break;
        case 18:
          use_provided(t, own);
          break;
        default:
          al_poll(t->mu);
          if ((r >> 50) % 32 == 1) check_big(t, B.one, B.other);
          if ((r >> 50) % 32 == 0) check_nodes(t, L.table, "step");
          if ((r >> 50) % 1024 == 7) al_collect(t->mu);
      }
    }
    check_nodes(t, L.table, "end");
    check_big(t, B.one, B.other);
    al_handle_free(t->handle);
    al_handle_free(t->weak);
    al_pin_free(t->pin);
  }
  provided[own] = 0;
  al_detach(t->mu);
  free(t->stack);
  free(t->stack_ids);
  free(t);
  return NULL;
}

static void demand(al_code code, const al_error *error) {
  if (code != AL_OK) DIE("%s: %s", al_code_text(code), error->text);
}

int main(int count, char **arguments) {
  if (count != 5) DIE("usage: model OPTIONS STEPS THREADS SEED");
  steps = atol(arguments[2]);
  size_t threads = (size_t)atol(arguments[3]);
  if (threads > THREADS) DIE("at most %d threads", THREADS);
  size_t seed = (size_t)atol(arguments[4]);
  al_error error = {.size = sizeof error};
  al_options options = {.size = sizeof options, .name = "model", .options = arguments[1]};
  demand(al_heap_new(&options, &heap, &error), &error);
  al_slot_desc kids[] = {{"kid 0", offsetof(node, kid), AL_STRONG},
                         {"kid 1", offsetof(node, kid) + 8, AL_STRONG},
                         {"kid 2", offsetof(node, kid) + 16, AL_STRONG}};
  al_slot_desc parts[] = {AL_SLOT(pair, car, AL_STRONG), AL_SLOT(pair, cdr, AL_STRONG)};
  al_slot_desc target[] = {AL_SLOT(weak_box, target, AL_WEAK)};
  al_shape_desc shapes[] = {
      {.size = sizeof *shapes, .name = "Node", .fixed = sizeof(node), .slots = kids, .slot_count = 3},
      {.size = sizeof *shapes, .name = "Array", .fixed = sizeof(array), .tail = AL_TAIL_SLOTS},
      {.size = sizeof *shapes, .name = "Pair", .fixed = sizeof(pair), .slots = parts, .slot_count = 2},
      {.size = sizeof *shapes, .name = "Weak", .fixed = sizeof(weak_box), .slots = target, .slot_count = 1}};
  al_shape *places[] = {&NODE, &ARRAY, &PAIR, &WEAK};
  for (int i = 0; i < 4; i++) demand(al_shape_register(heap, &shapes[i], places[i], &error), &error);
  al_provider *provider;
  demand(al_provider_add(heap, visit_provided, NULL, &provider, &error), &error);
  al_mutator *mu;
  demand(al_attach(heap, &mu, &error), &error);
  shared = al_handle_new(mu, al_ref(made(mu, al_alloc_array(mu, ARRAY, SHARED))));
  al_detach(mu);
  pthread_t thread_of[THREADS];
  for (size_t i = 0; i < threads; i++) {
    pthread_create(&thread_of[i], NULL, run, (void *)(uintptr_t)(seed * 64 + i));
  }
  for (size_t i = 0; i < threads; i++) pthread_join(thread_of[i], NULL);
  al_handle_free(shared);
  demand(al_verify(heap, &error), &error);
  al_provider_remove(heap, provider);
  demand(al_heap_free(heap, &error), &error);
  puts("well");
  return 0;
}
