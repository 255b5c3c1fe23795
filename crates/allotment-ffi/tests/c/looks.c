/* What a program sees of a heap, and the calls that the other programs do not make.
 *
 * usage: looks OPTIONS FOLDER
 */
#include <allotment.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
  uint64_t header;
  al_slot next;
  uint64_t key;
} cell;

static al_heap *heap;
static al_mutator *mu;
static al_shape CELL, TEXT, TRACED;
static al_error error = {.size = sizeof error};

#define DEMAND(condition)                                                        \
  do {                                                                           \
    if (!(condition)) {                                                          \
      fprintf(stderr, "line %d: %s: %s\n", __LINE__, #condition, error.text);    \
      exit(1);                                                                   \
    }                                                                            \
  } while (0)

/* Counts of rows, and of those with a name that the test looks for. */
typedef struct {
  const char *wanted;
  size_t rows, found;
  uint64_t value;
} tally;

static void count(tally *to, const char *name, uint64_t value) {
  to->rows++;
  if (!strcmp(name, to->wanted)) {
    to->found++;
    to->value += value;
  }
}

static void each_object(void *data, const al_object *object) {
  DEMAND(object->address != NULL && object->bytes >= 16 && object->shape != 0);
  count(data, object->name, object->bytes);
}
static void each_root(void *data, const al_root *root) {
  DEMAND(root->object != NULL);
  count(data, root->kind, root->weak);
}
static void each_census(void *data, const al_census_row *row) { count(data, row->name, row->objects); }
static void each_metric(void *data, const al_metric *metric) {
  DEMAND(*metric->description && *metric->unit && metric->kind <= AL_HISTOGRAM);
  DEMAND(!metric->attribute == !metric->attribute_value);
  count(data, metric->name, metric->value);
}
static void each_record(void *data, const al_record *record) {
  DEMAND(*record->text && *record->cause && record->used_before > 0);
  count(data, record->kind, record->number);
}
static void each_option(void *data, const al_option *option) {
  DEMAND(*option->text && *option->type && *option->origin && option->value && option->range);
  count(data, option->name, (uint64_t)strlen(option->value));
}

static void stopped(al_world *world, void *data) {
  tally *tallies = data;
  DEMAND(al_threads(world) == 1);
  DEMAND(al_walk(world, each_object, &tallies[0], &error) == AL_OK);
  al_roots(world, each_root, &tallies[1]);
}

static void trace_next(void *object, al_tracer *tracer, void *data) {
  al_trace(tracer, (al_slot *)(void *)((char *)object + *(size_t *)data));
}

static int collections, walks, names;
static void collected(void *data, const al_record *record) {
  DEMAND(data == &heap && *record->text);
  collections++;
}
static size_t walk_stack(void *data, uintptr_t *frames, size_t most) {
  DEMAND(data == &heap && most >= 2);
  walks++;
  frames[0] = 11;
  frames[1] = 22;
  return 2;
}
static bool name_frame(void *data, uintptr_t frame, char *name, size_t bytes) {
  DEMAND(data == &heap);
  names++;
  snprintf(name, bytes, "frame %d", (int)frame);
  return frame == 11;
}
static void late(void *data, const char *text) {
  (void)data, (void)text;
}
static uint64_t ticks;
static uint64_t clock_ns(void *data) {
  (void)data;
  return __atomic_add_fetch(&ticks, 1000, __ATOMIC_RELAXED);
}

static off_t written(const char *folder, const char *name, al_code (*write_to)(int fd)) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  int fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);
  DEMAND(fd >= 0 && write_to(fd) == AL_OK);
  off_t bytes = lseek(fd, 0, SEEK_END);
  DEMAND(close(fd) == 0); /* it is still open */
  return bytes;
}
static al_code snapshot(int fd) { return al_snapshot(heap, fd, AL_HEAPSNAPSHOT, &error); }
static al_code hprof(int fd) { return al_snapshot(heap, fd, AL_HPROF, &error); }
static al_code profile(int fd) { return al_profile(heap, fd, &error); }

static void objects(void) {
  AL_LOCALS(mu, L, list, text, traced);
  for (int i = 0; i < 10; i++) {
    cell *fresh = al_alloc_raw(mu, CELL);
    DEMAND(fresh != NULL);
    al_init(&fresh->next, L.list);
    fresh->key = 7;
    L.list = al_ref(fresh);
  }
  L.text = al_ref(al_alloc_array_raw(mu, TEXT, 100));
  DEMAND(al_length(al_addr(L.text)) == 100 && al_size(mu, al_addr(L.text)) == 120);
  DEMAND(al_bytes(TEXT, 100) == 120 && al_bytes(TEXT, 101) == 120 && al_bytes(TEXT, 105) == 128);
  DEMAND(al_bytes(CELL, 0) == sizeof(cell) && al_bytes(TEXT, 0) == 16);
  DEMAND(al_room(mu, al_bytes(TEXT, SIZE_MAX) + al_bytes(CELL, 0), NULL) == AL_E_MEMORY);
  L.traced = al_ref(al_alloc(mu, TRACED));
  al_store(mu, &((cell *)al_addr(L.traced))->next, L.list);
  uint32_t hash = al_identity_hash(mu, al_addr(L.list));
  DEMAND(al_shape_of(mu, al_addr(L.list)).header == CELL.header);
  DEMAND(al_shape_of(mu, al_addr(L.text)).element == 1 && al_size(mu, al_addr(L.list)) == sizeof(cell));
  al_value tagged = al_with_tag(L.list, (uint64_t)0xabcd << 48 | 6);
  DEMAND(al_addr(tagged) == al_addr(L.list) && al_tag(tagged) == ((uint64_t)0xabcd << 48 | 6));
  DEMAND(al_number(al_immediate(-5)) == -5 && !al_is_ref(al_immediate(-5)) && !al_addr(al_immediate(8)));
  L.text = tagged;
  al_pin *pin = al_pin_new(mu, al_addr(L.traced));
  al_handle *weak = al_weak_new(mu, L.list);
  bool collects = al_collect(mu);
  DEMAND(collects == (strcmp(al_collector(heap), "epsilon") != 0));
  DEMAND(al_addr(L.text) == al_addr(L.list) && al_tag(L.text) == ((uint64_t)0xabcd << 48 | 6));
  DEMAND(al_identity_hash(mu, al_addr(L.list)) == hash);
  DEMAND(al_pin_address(pin) == al_addr(L.traced));
  DEMAND(al_same(al_load(mu, &((cell *)al_addr(L.traced))->next), L.list));

  tally tallies[2] = {{.wanted = "Cell"}, {.wanted = "frames"}};
  DEMAND(al_stop(heap, stopped, tallies, &error) == AL_OK);
  DEMAND(tallies[0].found >= 10 && tallies[1].found == 3 && tallies[1].rows == 5);
  tally census = {.wanted = "Cell"};
  DEMAND(al_census(heap, true, each_census, &census, &error) == AL_OK);
  DEMAND(census.found == 1 && census.value == 10);

  /* Without a safepoint, within room. */
  size_t room = 2 * al_bytes(CELL, 0) + al_bytes(TEXT, 24) + al_bytes(TEXT, 17);
  DEMAND(al_room(mu, room, &error) == AL_OK);
  al_value before = L.list;
  cell *one = al_try_alloc(mu, CELL), *other = al_try_alloc_raw(mu, CELL);
  void *bytes = al_try_alloc_array(mu, TEXT, 24), *more = al_try_alloc_array_raw(mu, TEXT, 17);
  DEMAND(one && other && bytes && more && al_same(before, L.list));
  DEMAND(al_length(bytes) == 24 && ((char *)bytes)[39] == 0 && al_length(more) == 17);
  al_init(&one->next, AL_NULL);
  al_init(&other->next, al_ref(one));

  /* Frames that are not scopes. */
  al_frame_mark mark = al_frames(mu);
  al_frame first, second;
  al_value words[2] = {L.list, al_ref(other)};
  al_link(mu, &first, &words[0], 1);
  al_link(mu, &second, &words[1], 1);
  al_collect(mu);
  DEMAND(al_same(words[0], L.list) && al_addr(al_load(mu, &((cell *)al_addr(words[1]))->next)));
  al_unlink(&first); /* not the innermost */
  al_block_enter(mu);
  al_unlink(&second); /* while blocked */
  al_block_leave(mu);
  DEMAND(al_frames(mu) == mark);
  al_pin_free(pin);
  al_handle_free(weak);
}

static void describe(const char *name, size_t fixed, al_tail tail, bool traced, al_shape *shape) {
  static size_t offset = offsetof(cell, next);
  static const al_slot_desc next[] = {AL_SLOT(cell, next, AL_STRONG)};
  al_shape_desc desc = {.size = sizeof desc, .name = name, .fixed = fixed, .tail = tail};
  if (traced) {
    desc.trace = trace_next;
    desc.trace_data = &offset;
    desc.trace_lasts = true;
  } else if (tail == AL_TAIL_NONE) {
    desc.slots = next;
    desc.slot_count = 1;
  }
  DEMAND(al_shape_register(heap, &desc, shape, &error) == AL_OK);
}

int main(int number, char **arguments) {
  DEMAND(number == 3);
  DEMAND(al_abi() == AL_ABI && strlen(al_version()) >= 5 && strstr(al_manual(), "MaxHeapSize"));
  size_t rows;
  const al_layout_row *layout = al_layout(&rows);
  bool seen = false;
  for (size_t i = 0; i < rows; i++) {
    seen |= !strcmp(layout[i].name, "LINKS_OFFSET") && layout[i].value == AL_LINKS_OFFSET;
  }
  DEMAND(seen && al_current() == NULL);

  al_options options = {.size = sizeof options, .name = "looks", .options = arguments[1]};
  options.on_collection = collected;
  options.on_late_thread = late;
  options.walk_stack = walk_stack;
  options.name_frame = name_frame;
  options.clock_ns = clock_ns;
  options.data = &heap;
  DEMAND(al_heap_new(&options, &heap, &error) == AL_OK);
  describe("Cell", sizeof(cell), AL_TAIL_NONE, false, &CELL);
  describe("Text", 16, AL_TAIL_1, false, &TEXT);
  describe("Traced", sizeof(cell), AL_TAIL_NONE, true, &TRACED);
  al_sample_interval(heap, 1);
  DEMAND(al_attach(heap, &mu, &error) == AL_OK && al_current() == mu);
  objects();
  DEMAND(written(arguments[2], "attached.heapsnapshot", snapshot) > 100);
  al_detach(mu);
  DEMAND(al_current() == NULL);

  DEMAND(written(arguments[2], "detached.heapsnapshot", snapshot) > 100);
  DEMAND(written(arguments[2], "detached.hprof", hprof) > 100);
  DEMAND(written(arguments[2], "profile.pb.gz", profile) > 100);
  DEMAND(walks > 0 && names > 0 && ticks > 0);
  tally metrics = {.wanted = "allotment.memory.limit"}, records = {.wanted = "Pause Full"};
  tally option = {.wanted = "MaxHeapSize"}, census = {.wanted = "Cell"};
  al_metrics(heap, each_metric, &metrics);
  DEMAND(metrics.found == 1 && metrics.rows > 20 && metrics.value > 0);
  al_records(heap, 0, each_record, &records);
  size_t collected_rows = records.rows;
  DEMAND((collected_rows > 0) == (strcmp(al_collector(heap), "epsilon") != 0));
  al_records(heap, UINT64_MAX, each_record, &records);
  DEMAND(records.rows == collected_rows);
  al_option_rows(heap, each_option, &option);
  DEMAND(option.found == 1 && option.rows > 50 && option.value > 0);
  DEMAND(al_census(heap, false, each_census, &census, &error) == AL_OK);
  DEMAND(census.value == 0);
  DEMAND(al_verify(heap, &error) == AL_OK);
  al_request_safepoint(heap);
  DEMAND(al_heap_reset(heap, &error) == AL_OK && al_heap_uncommit(heap) > 0);
  DEMAND(al_heap_free(heap, &error) == AL_OK);
  DEMAND((size_t)collections >= collected_rows);
  puts("well");
  return 0;
}
