/* machine.c: the heap with its shapes, which outlive a program; and the begin and end of a program:
 * the primitives, the provider, the empty text. */
#include "stack.h"
#include <stdlib.h>
#include <string.h>

shapes_of_heap shapes;
machine the_machine = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- The heap ---- */

void die(al_code code, const al_error *error) {
  fprintf(stderr, "stack: %s: %s\n", al_code_text(code), error->text);
  exit(2);
}

/* Runs on collecting threads, beside running ones: so it reads only words that never change. */
AL_ANY_THREAD static void block_trace(void *object, al_tracer *tracer, void *data) {
  block *of = object;
  (void)data;
  al_trace_weak(tracer, &of->owner);
  size_t count = __atomic_load_n(&of->literals, __ATOMIC_RELAXED);
  for (size_t i = 0; i < count; i++) al_trace(tracer, &of->words[i]);
}

static void add_shape(al_shape *place, al_shape_desc desc) {
  al_error error = {.size = sizeof error};
  desc.size = sizeof desc;
  al_code code = al_shape_register(the_machine.heap, &desc, place, &error);
  if (code != AL_OK) die(code, &error);
}

static void add_shapes(void) {
  static const al_slot_desc pair_slots[] = {AL_SLOT(pair, first, AL_STRONG),
                                            AL_SLOT(pair, rest, AL_STRONG)};
  static const al_slot_desc symbol_slots[] = {AL_SLOT(symbol, name, AL_STRONG),
                                              AL_SLOT(symbol, meaning, AL_STRONG)};
  static const al_slot_desc closure_slots[] = {AL_SLOT(closure, block, AL_STRONG),
                                               AL_SLOT(closure, scope, AL_STRONG)};
  static const al_slot_desc table_slots[] = {AL_SLOT(table, entries, AL_STRONG)};
  static const al_slot_desc box_slots[] = {AL_SLOT(box, held, AL_STRONG)};
  static const al_slot_desc weak_slots[] = {AL_SLOT(box, held, AL_WEAK)};
#define FIXED(name_, type, slots_)                                                      \
  (al_shape_desc){.name = (name_), .fixed = sizeof(type), .slots = (slots_),            \
                  .slot_count = sizeof(slots_) / sizeof *(slots_)}
#define TAILED(name_, type, tail_) \
  (al_shape_desc){.name = (name_), .fixed = sizeof(type), .tail = (tail_)}
  add_shape(&shapes.pair, FIXED("Pair", pair, pair_slots));
  add_shape(&shapes.symbol, FIXED("Symbol", symbol, symbol_slots));
  add_shape(&shapes.closure, FIXED("Closure", closure, closure_slots));
  add_shape(&shapes.table, FIXED("Table", table, table_slots));
  add_shape(&shapes.box, FIXED("Box", box, box_slots));
  add_shape(&shapes.weak, FIXED("Weak", box, weak_slots));
  add_shape(&shapes.native, TAILED("Native", native, AL_TAIL_NONE));
  add_shape(&shapes.text, TAILED("Text", text, AL_TAIL_1));
  add_shape(&shapes.scope, TAILED("Scope", array, AL_TAIL_SLOTS));
  add_shape(&shapes.array, TAILED("Array", array, AL_TAIL_SLOTS));
  add_shape(&shapes.entries, TAILED("Entries", array, AL_TAIL_SLOTS));
  add_shape(&shapes.names, TAILED("Names", array, AL_TAIL_WEAK_SLOTS));
  al_shape_desc traced = TAILED("Block", block, AL_TAIL_8);
  traced.trace = block_trace;
  traced.trace_lasts = true;
  add_shape(&shapes.block, traced);
#undef FIXED
#undef TAILED
}

void heap_make(const char *chosen) {
  al_error error = {.size = sizeof error};
  al_options options = {.size = sizeof options, .name = "stack"};
  options.defaults = "MaxHeapSize=64m";
  options.options = chosen;
  choose_callbacks(&options);
  al_code code = al_heap_new(&options, &the_machine.heap, &error);
  if (code != AL_OK) die(code, &error);
  add_shapes();
}

void heap_end(void) {
  al_error error = {.size = sizeof error};
  al_code code = al_verify(the_machine.heap, &error);
  if (code == AL_OK) code = al_heap_free(the_machine.heap, &error);
  if (code != AL_OK) die(code, &error);
}

/* ---- A program ---- */

const primitive *primitive_at(size_t number) {
  static const primitive *const all[] = {control_words, number_words, list_words,
                                         text_words,    table_words,  thread_words,
                                         generator_words, heap_words};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    for (const primitive *at = all[i]; at->name; at++) {
      if (!number--) return at;
    }
  }
  return NULL;
}

/* The roots that are neither in frames nor in handles. Pauses ask for them, so they are few. */
AL_ANY_THREAD static void show_roots(al_visitor *visitor, void *data) {
  machine *m = data;
  al_visit(visitor, &m->names);
  al_visit(visitor, &m->definitions);
  al_visit_weak(visitor, &m->recent);
  al_visit_pinned(visitor, m->empty);
  show_generators(visitor);
}

static const char prelude[] =
    ": 2dup | a b | a b a b ;\n"
    ": rot | a b c | b c a ;\n"
    ": > swap < ;\n"
    ": <= > not ;\n"
    ": when [ ] if ;\n"
    ": unless [ ] swap if ;\n"
    ": null? nil = ;\n"
    ": fold | list value body | value list body each ;\n"
    ": reverse | list | nil list [ swap cons ] each ;\n"
    ": map | list body | nil list [ body call swap cons ] each reverse ;\n"
    ": filter | list test | nil list [ | x | x test call [ x swap cons ] when ] each reverse ;\n"
    ": count | list | 0 list [ drop 1 + ] each ;\n"
    ": range | n | nil n [ | i | n 1 - i - swap cons ] times ;\n"
    ": append | a b | b a reverse [ swap cons ] each ;\n";

void machine_start(vm_state *vm) {
  machine *m = &the_machine;
  al_error error = {.size = sizeof error};
  al_code code = al_provider_add(m->heap, show_roots, m, &m->provider, &error);
  if (code != AL_OK) die(code, &error);
  al_value empty = new_text(vm, "", 0);
  m->empty = al_to_word(empty);
  const primitive *at;
  for (size_t number = 0; (at = primitive_at(number)); number++) {
    al_value name = intern(vm, at->name, strlen(at->name));
    define(vm, name, al_immediate((int64_t)number));
  }
  compile(vm, prelude);
  call_top(vm);
}

/* Gives up every root of the machine's, so that the heap can be reset. */
void machine_end(vm_state *vm) {
  machine *m = &the_machine;
  join_all(vm);
  free_generators();
  for (size_t i = 0; i < SOFT; i++) {
    al_handle_free(m->soft[i]);
    m->soft[i] = NULL;
  }
  if (m->provider) al_provider_remove(m->heap, m->provider);
  m->provider = NULL;
  m->names = m->recent = m->definitions = m->empty = 0;
  free(m->hashes);
  m->hashes = NULL;
  for (size_t i = 0; i < m->word_count; i++) free(m->words[i]);
  free(m->words);
  m->words = NULL;
  m->word_count = 0;
}
