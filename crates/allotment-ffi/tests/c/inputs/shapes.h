/* Descriptions that describe no object. Included by inputs.c. */

static void shape_null(void) {
  begin("MaxHeapSize=16m");
  say(al_shape_register(heap, NULL, &CELL, &error));
}
static void shape_without_name(void) {
  begin("MaxHeapSize=16m");
  al_shape_desc desc = cell_desc();
  desc.name = NULL;
  say(al_shape_register(heap, &desc, &CELL, &error));
}
static void shape_size_0(void) {
  begin("MaxHeapSize=16m");
  al_shape_desc desc = cell_desc();
  desc.size = 0;
  say(al_shape_register(heap, &desc, &CELL, &error));
}
static void shape_too_small_a_size(void) {
  begin("MaxHeapSize=16m");
  al_shape_desc desc = cell_desc();
  desc.size -= 8;
  say(al_shape_register(heap, &desc, &CELL, &error));
}
static void shape_unknown_member(void) {
  begin("MaxHeapSize=16m");
  struct {
    al_shape_desc known;
    uint64_t more;
  } desc = {.known = cell_desc(), .more = 1};
  desc.known.size = sizeof desc;
  say(al_shape_register(heap, &desc.known, &CELL, &error));
}
static void shape_name_empty(void) {
  begin("MaxHeapSize=16m");
  al_shape_desc desc = cell_desc();
  desc.name = "";
  say(al_shape_register(heap, &desc, &CELL, &error));
}
static void shape_slot_count(void) {
  begin("MaxHeapSize=16m");
  al_shape_desc desc = cell_desc();
  desc.slot_count = SIZE_MAX;
  say(al_shape_register(heap, &desc, &CELL, &error));
}
static void shape_slot(size_t offset, al_slot_kind kind, size_t count) {
  begin("MaxHeapSize=16m");
  al_slot_desc slots[2] = {{"a", offset, kind}, {"b", offset, kind}};
  al_shape_desc desc = cell_desc();
  desc.slots = slots;
  desc.slot_count = count;
  say(al_shape_register(heap, &desc, &CELL, &error));
}
static void shape_slot_outside(void) { shape_slot(24, AL_STRONG, 1); }
static void shape_slot_off_a_word(void) { shape_slot(12, AL_STRONG, 1); }
static void shape_slot_twice(void) { shape_slot(8, AL_STRONG, 2); }
static void shape_slot_kind(void) { shape_slot(8, (al_slot_kind)7, 1); }
static void shape_slots_null(void) {
  begin("MaxHeapSize=16m");
  al_shape_desc desc = cell_desc();
  desc.slots = NULL;
  say(al_shape_register(heap, &desc, &CELL, &error));
}
static void shape_tail(void) {
  begin("MaxHeapSize=16m");
  al_shape_desc desc = cell_desc();
  desc.tail = (al_tail)3;
  say(al_shape_register(heap, &desc, &CELL, &error));
}
static void shape_too_small(void) {
  begin("MaxHeapSize=16m");
  al_shape_desc desc = {.size = sizeof desc, .name = "Small", .fixed = 8};
  say(al_shape_register(heap, &desc, &CELL, &error));
}
/* Each of these describes no object. */
static void shape_sizes(void) {
  begin("MaxHeapSize=16m");
  static const size_t fixed[] = {0, 1, 8, 15, ((size_t)1 << 46) + 8, (size_t)1 << 47, (size_t)1 << 63,
                                 SIZE_MAX - 7, SIZE_MAX};
  static const al_tail tails[] = {AL_TAIL_NONE, AL_TAIL_1, AL_TAIL_2, AL_TAIL_4, AL_TAIL_8, AL_TAIL_SLOTS,
                                  AL_TAIL_WEAK_SLOTS};
  for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
    for (size_t t = 0; t < sizeof tails / sizeof *tails; t++) {
      al_shape_desc desc = {.size = sizeof desc, .name = "Odd", .fixed = fixed[i], .tail = tails[t]};
      al_code code = al_shape_register(heap, &desc, &CELL, &error);
      if (code != AL_E_SHAPE) {
        printf("%zu with tail %d: %s\n", fixed[i], (int)tails[t], al_code_text(code));
        exit(6);
      }
    }
  }
  say(AL_E_SHAPE);
}
static void shape_slot_offsets(void) {
  begin("MaxHeapSize=16m");
  static const size_t offsets[] = {0, 4, 20, 24, 32, (size_t)1 << 46, SIZE_MAX - 7, SIZE_MAX};
  for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
    al_slot_desc slot = {"slot", offsets[i], AL_STRONG};
    al_shape_desc desc = {.size = sizeof desc, .name = "Odd", .fixed = 24, .slots = &slot, .slot_count = 1};
    al_code code = al_shape_register(heap, &desc, &CELL, &error);
    if (code != AL_E_SHAPE) {
      printf("%zu: %s\n", offsets[i], al_code_text(code));
      exit(6);
    }
  }
  say(AL_E_SHAPE);
}
/* An object consists of whole words, whatever its description says. */
static void shape_of_odd_size(void) {
  attached();
  al_shape shape;
  al_shape_desc desc = {.size = sizeof desc, .name = "Odd", .fixed = 17};
  demand(al_shape_register(heap, &desc, &shape, &error));
  for (int i = 0; i < 10; i++) {
    void *object = al_alloc(mu, shape);
    if ((uintptr_t)object % 8 || al_size(mu, object) != 24) exit(6);
  }
  al_collect(mu);
  say(AL_OK);
}
static void shape_slot_on_length(void) {
  begin("MaxHeapSize=16m");
  al_slot_desc slot = {"slot", 8, AL_STRONG};
  al_shape_desc desc = {.size = sizeof desc, .name = "Odd", .fixed = 24, .slots = &slot, .slot_count = 1};
  desc.tail = AL_TAIL_SLOTS;
  say(al_shape_register(heap, &desc, &CELL, &error));
}
static void trace(void *object, al_tracer *tracer, void *data) {
  (void)data;
  al_trace(tracer, &((cell *)object)->next);
}
static void shape_trace_may_change(void) {
  begin("Collector=shenandoah,MaxHeapSize=32m");
  al_shape_desc desc = {.size = sizeof desc, .name = "Traced", .fixed = sizeof(cell), .trace = trace};
  say(al_shape_register(heap, &desc, &CELL, &error));
}
