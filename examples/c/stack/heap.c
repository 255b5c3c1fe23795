/* heap.c: words that look at the heap: collections, counts, figures, files. Texts that are names go
 * to C memory first, since most of these calls are [S]. */
#include "stack.h"
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { NAME_BYTES = 256 };

/* Takes a text from the stack. */
AL_NO_SAFEPOINT static void pop_name(vm_state *vm, char *name) {
  takes(vm, "t");
  const text *from = AT(text, peek(vm, 0));
  size_t length = from->length;
  if (length >= NAME_BYTES) fail(vm, "a name of %zu bytes", length);
  memcpy(name, from->bytes, length);
  name[length] = 0;
  drop(vm, 1);
}

AL_SAFEPOINT static bool push_text(vm_state *vm, const char *bytes) {
  al_value found = new_text(vm, bytes, strlen(bytes));
  push(vm, found);
  return false;
}

/* ---- Counts. Callbacks use no mutator, so they only count. ---- */

typedef struct tally {
  const char *name;
  uint64_t value;
  size_t rows;
  char text[NAME_BYTES];
} tally;

AL_ANY_THREAD static void count_census(void *data, const al_census_row *row) {
  tally *to = data;
  if (!strcmp(row->name, to->name)) to->value += row->objects;
}
AL_ANY_THREAD static void count_object(void *data, const al_object *object) {
  tally *to = data;
  if (!strcmp(object->name, to->name)) to->value++;
}
AL_ANY_THREAD static void count_root(void *data, const al_root *root) {
  tally *to = data;
  if (!strcmp(root->kind, to->name)) to->value++;
}
AL_ANY_THREAD static void add_metric(void *data, const al_metric *metric) {
  tally *to = data;
  if (strcmp(metric->name, to->name)) return;
  to->value += metric->value;
  to->rows++;
}
AL_ANY_THREAD static void count_record(void *data, const al_record *record) {
  tally *to = data;
  to->rows++;
  to->value += record->pause_ns;
}
AL_ANY_THREAD static void find_option(void *data, const al_option *option) {
  tally *to = data;
  if (strcmp(option->name, to->name)) return;
  snprintf(to->text, sizeof to->text, "%s", option->value);
  to->rows++;
}

/* ( name -- n ) The live objects of a shape. */
static bool word_census(vm_state *vm) {
  char name[NAME_BYTES];
  pop_name(vm, name);
  tally count = {.name = name};
  al_error error = {.size = sizeof error};
  al_code code = al_census(the_machine.heap, false, count_census, &count, &error);
  if (code != AL_OK) fail(vm, "%s: %.150s", al_code_text(code), error.text);
  push(vm, al_immediate((int64_t)count.value));
  return false;
}

/* Counts of a stopped heap. */
typedef struct stopped {
  tally objects, roots;
  size_t threads;
  al_code code;
} stopped;

AL_ANY_THREAD static void count_stopped(al_world *world, void *data) {
  stopped *to = data;
  to->code = al_walk(world, count_object, &to->objects, NULL);
  al_roots(world, count_root, &to->roots);
  to->threads = al_threads(world);
}

AL_SAFEPOINT static stopped stop(vm_state *vm, const char *name) {
  stopped to = {.objects.name = name, .roots.name = name};
  al_code code = al_stop(the_machine.heap, count_stopped, &to, NULL);
  if (code == AL_OK) code = to.code;
  if (code != AL_OK) fail(vm, "%s", al_code_text(code));
  return to;
}

/* ( name -- n ) Objects of a shape, garbage included. */
static bool word_objects(vm_state *vm) {
  char name[NAME_BYTES];
  pop_name(vm, name);
  stopped found = stop(vm, name);
  push(vm, al_immediate((int64_t)found.objects.value));
  return false;
}
/* ( kind -- n ) Roots of a kind. */
static bool word_roots(vm_state *vm) {
  char name[NAME_BYTES];
  pop_name(vm, name);
  stopped found = stop(vm, name);
  push(vm, al_immediate((int64_t)found.roots.value));
  return false;
}
static bool word_threads(vm_state *vm) {
  stopped found = stop(vm, "");
  push(vm, al_immediate((int64_t)found.threads));
  return false;
}

/* ---- Figures ---- */

/* ( name -- n ) */
static bool word_metric(vm_state *vm) {
  char name[NAME_BYTES];
  pop_name(vm, name);
  tally found = {.name = name};
  al_metrics(the_machine.heap, add_metric, &found);
  if (!found.rows) fail(vm, "no metric %s", name);
  push(vm, al_immediate((int64_t)found.value));
  return false;
}

/* ( -- collections nanoseconds ) Of the latest collections: their number, and their pauses. */
static bool word_records(vm_state *vm) {
  tally found = {0};
  al_records(the_machine.heap, 0, count_record, &found);
  push(vm, al_immediate((int64_t)found.rows));
  push(vm, al_immediate((int64_t)found.value));
  return false;
}

/* ( name -- text ) The value of an option. */
static bool word_option(vm_state *vm) {
  char name[NAME_BYTES];
  pop_name(vm, name);
  tally found = {.name = name};
  al_option_rows(the_machine.heap, find_option, &found);
  if (!found.rows) fail(vm, "no option %s", name);
  return push_text(vm, found.text);
}

static bool word_collector(vm_state *vm) { return push_text(vm, al_collector(the_machine.heap)); }

/* ( -- flag ) 0: this collector does not collect. */
static bool word_collect(vm_state *vm) {
  bool collects = al_collect(vm->mu);
  push(vm, al_immediate(collects));
  return false;
}

/* ( -- n ) Collections that the callback counted. */
static bool word_collections(vm_state *vm) {
  uint64_t count = __atomic_load_n(&the_machine.collections, __ATOMIC_RELAXED);
  push(vm, al_immediate((int64_t)count));
  return false;
}

/* ( -- bytes ) Gives memory back to the system. Buffers of all threads go first, so that their
 * regions may be empty; this thread gives up its own at the poll. */
static bool word_trim(vm_state *vm) {
  al_request_safepoint(the_machine.heap);
  al_poll(vm->mu);
  al_collect(vm->mu);
  push(vm, al_immediate((int64_t)al_heap_uncommit(the_machine.heap)));
  return false;
}

/* ---- Objects ---- */

/* ( value -- bytes ) */
static bool word_size(vm_state *vm) {
  takes(vm, ".");
  al_value of = pop(vm);
  if (!al_is_ref(of)) fail(vm, "not an object");
  push(vm, al_immediate((int64_t)al_size(vm->mu, al_addr(of))));
  return false;
}

/* ( value -- flag ) Whether an object has elements. */
static bool word_has_elements(vm_state *vm) {
  takes(vm, ".");
  al_value of = pop(vm);
  if (!al_is_ref(of)) fail(vm, "not an object");
  al_shape shape = al_shape_of(vm->mu, al_addr(of));
  push(vm, al_immediate(shape.element != 0));
  return false;
}

/* ( weak -- flag ) Whether the referent lives, without keeping it alive. */
static bool word_live(vm_state *vm) {
  takes(vm, "w");
  al_value of = pop(vm);
  push(vm, al_immediate(al_weak_live(vm->mu, &AT(box, of)->held)));
  return false;
}

/* ---- Files ---- */

typedef enum file { HEAPSNAPSHOT, HPROF, PROFILE } file;

/* ( path -- bytes ) */
AL_SAFEPOINT static bool write_file(vm_state *vm, file format) {
  char path[NAME_BYTES];
  pop_name(vm, path);
  int fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0666);
  if (fd < 0) fail(vm, "cannot write %s", path);
  al_error error = {.size = sizeof error};
  al_code code;
  if (format == PROFILE) {
    code = al_profile(the_machine.heap, fd, &error);
  } else {
    al_snapshot_format as = format == HPROF ? AL_HPROF : AL_HEAPSNAPSHOT;
    code = al_snapshot(the_machine.heap, fd, as, &error);
  }
  int64_t bytes = lseek(fd, 0, SEEK_END);
  close(fd);
  if (code != AL_OK) fail(vm, "%s: %.150s", al_code_text(code), error.text);
  push(vm, al_immediate(bytes));
  return false;
}
static bool word_snapshot(vm_state *vm) { return write_file(vm, HEAPSNAPSHOT); }
static bool word_hprof(vm_state *vm) { return write_file(vm, HPROF); }
static bool word_profile(vm_state *vm) { return write_file(vm, PROFILE); }

/* ( bytes -- ) The profile has an allocation in so many bytes. */
static bool word_sample(vm_state *vm) {
  takes(vm, "n");
  al_sample_interval(the_machine.heap, (size_t)al_number(pop(vm)));
  return false;
}

static bool word_argument(vm_state *vm) {
  push(vm, al_immediate(the_machine.argument));
  return false;
}

const primitive heap_words[] = {
    {"census", word_census},     {"objects", word_objects},
    {"roots", word_roots},       {"threads", word_threads},
    {"metric", word_metric},     {"records", word_records},
    {"option", word_option},     {"collector", word_collector},
    {"collect", word_collect},   {"collections", word_collections},
    {"trim", word_trim},         {"size", word_size},
    {"elements?", word_has_elements}, {"live", word_live},
    {"snapshot", word_snapshot}, {"hprof", word_hprof},
    {"profile", word_profile},   {"sample", word_sample},
    {"argument", word_argument}, {NULL, NULL}};
