/* first.c: trees of numbers in a garbage-collected heap. docs/c/tutorial.md explains each part.
 *
 *     cc first.c -o first $(pkg-config --cflags --libs allotment)
 *     ALLOTMENT_OPTIONS=Collector=shenandoah ./first
 */
#include <allotment.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* An object: the header, which is the library's; slots, which refer to objects; plain fields. */
typedef struct {
  uint64_t header;
  al_slot left, right;
  uint64_t key;
} node;

static al_shape NODE;

/* [S] Adds a key to a tree. `tree` is the address of a local, which is current at all times. */
AL_SAFEPOINT static bool insert(al_mutator *mu, al_value *tree, uint64_t key) {
  node *fresh = al_alloc(mu, NODE); /* may move every object: so it comes first */
  if (!fresh) return false;
  fresh->key = key;
  if (al_is_null(*tree)) {
    *tree = al_ref(fresh);
    return true;
  }
  node *at = al_addr(*tree); /* good up to the next [S] call, and there is none below */
  for (;;) {
    al_slot *side = key < at->key ? &at->left : &at->right;
    al_value next = al_load(mu, side);
    if (al_is_null(next)) {
      al_store(mu, side, al_ref(fresh));
      return true;
    }
    at = al_addr(next);
  }
}

/* [N] The sum of a tree's keys. */
static uint64_t sum(al_mutator *mu, al_value tree) {
  if (al_is_null(tree)) return 0;
  const node *at = al_addr(tree);
  return at->key + sum(mu, al_load(mu, &at->left)) + sum(mu, al_load(mu, &at->right));
}

/* [S] Makes 2000 trees, of which one stays: the program gets it as a handle. */
AL_SAFEPOINT static al_handle *work(al_mutator *mu) {
  AL_LOCALS(mu, L, tree, first); /* null at first, and roots to the end of the scope */
  for (uint32_t round = 0; round < 2000; round++) {
    L.tree = AL_NULL;
    for (uint32_t i = 0; i < 1000; i++) {
      if (!insert(mu, &L.tree, i * 2654435761u % 1000)) return NULL;
    }
    if (round == 0) L.first = L.tree;
  }
  if (!al_collect(mu)) puts("this collector never collects");
  return al_handle_new(mu, L.first);
}

static void show(void *data, const al_metric *metric) {
  (void)data;
  if (!strcmp(metric->name, "allotment.gc.collections") && metric->value > 0) {
    printf("%" PRIu64 " collections (%s)\n", metric->value, metric->attribute_value);
  }
}

static int fail(const char *what, const al_error *error) {
  fprintf(stderr, "first: %s: %s\n", what, error->text);
  return 1;
}

int main(void) {
  al_error error = {.size = sizeof error};
  al_options options = {.size = sizeof options, .defaults = "MaxHeapSize=32m"};
  al_heap *heap;
  if (al_heap_new(&options, &heap, &error)) return fail("no heap", &error);

  al_slot_desc slots[] = {AL_SLOT(node, left, AL_STRONG), AL_SLOT(node, right, AL_STRONG)};
  al_shape_desc desc = {.size = sizeof desc, .name = "Node", .fixed = sizeof(node)};
  desc.slots = slots;
  desc.slot_count = 2;
  if (al_shape_register(heap, &desc, &NODE, &error)) return fail("no shape", &error);

  al_mutator *mu;
  if (al_attach(heap, &mu, &error)) return fail("not attached", &error);
  al_handle *kept = work(mu);
  if (!kept) {
    al_alloc_error(mu, &error);
  } else {
    printf("the first tree: %" PRIu64 "\n", sum(mu, al_handle_get(mu, kept)));
  }
  al_detach(mu);
  if (!kept) return fail("no memory", &error);

  al_metrics(heap, show, NULL);
  al_handle_free(kept);
  if (al_heap_free(heap, &error)) return fail("the heap stays", &error);
  return 0;
}
