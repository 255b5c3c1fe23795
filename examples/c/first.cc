/* first.cc: first.c in C++17, with scopes for all that has to be given back.
 *
 *     c++ -std=c++17 first.cc -o first $(pkg-config --cflags --libs allotment)
 */
#include <allotment.h>

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>

namespace {

struct Node {
  uint64_t header;
  al_slot left, right;
  uint64_t key;
};

/* A code of the library as an exception. */
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Error : al_error {
  Error() : al_error() { size = sizeof(al_error); }
  void check(al_code answer) const {
    if (answer != AL_OK) throw Failure(text);
  }
};

struct FreeHeap {
  void operator()(al_heap *heap) const {
    Error error;
    if (al_heap_free(heap, &error)) std::fprintf(stderr, "first: %s\n", error.text);
  }
};
using Heap = std::unique_ptr<al_heap, FreeHeap>;

Heap new_heap(const char *defaults) {
  Error error;
  al_options options{};
  options.size = sizeof options;
  options.defaults = defaults;
  al_heap *heap;
  error.check(al_heap_new(&options, &heap, &error));
  return Heap(heap);
}

Node *node_at(al_value value) { return static_cast<Node *>(al_addr(value)); }

/* [S] Adds a key to the tree that a local holds. */
void insert(al_mutator *mu, al_shape shape, al_value &tree, uint64_t key) {
  auto *fresh = static_cast<Node *>(al_alloc(mu, shape));
  if (!fresh) {
    Error error;
    error.check(al_alloc_error(mu, &error));
  }
  fresh->key = key;
  if (al_is_null(tree)) {
    tree = al_ref(fresh);
    return;
  }
  for (Node *at = node_at(tree);;) {
    al_slot *side = key < at->key ? &at->left : &at->right;
    al_value next = al_load(mu, side);
    if (al_is_null(next)) {
      al_store(mu, side, al_ref(fresh));
      return;
    }
    at = node_at(next);
  }
}

uint64_t sum(al_mutator *mu, al_value tree) {
  if (al_is_null(tree)) return 0;
  const Node *at = node_at(tree);
  return at->key + sum(mu, al_load(mu, &at->left)) + sum(mu, al_load(mu, &at->right));
}

/* [S] Makes 2000 trees, of which one stays. */
al::Handle work(al_mutator *mu, al_shape shape) {
  al::Locals<2> locals(mu);
  al_value &tree = locals[0], &first = locals[1]; /* references to locals are current, too */
  for (uint32_t round = 0; round < 2000; round++) {
    tree = AL_NULL;
    for (uint32_t i = 0; i < 1000; i++) insert(mu, shape, tree, i * 2654435761u % 1000);
    if (round == 0) first = tree;
  }
  return al::Handle(mu, first);
}

void run() {
  Heap heap = new_heap("MaxHeapSize=32m");
  const al_slot_desc slots[] = {AL_SLOT(Node, left, AL_STRONG), AL_SLOT(Node, right, AL_STRONG)};
  al_shape_desc desc{};
  desc.size = sizeof desc;
  desc.name = "Node";
  desc.fixed = sizeof(Node);
  desc.slots = slots;
  desc.slot_count = 2;
  Error error;
  al_shape shape;
  error.check(al_shape_register(heap.get(), &desc, &shape, &error));

  al::Attachment mu(heap.get(), &error); /* after the heap, so that it ends before the heap */
  error.check(mu.code());
  al::Handle kept = work(mu, shape);
  al::Pin root(mu, al_addr(kept.get(mu))); /* its address lasts as long as the pin */
  const auto *top = static_cast<const Node *>(root.address());
  al_collect(mu);
  std::printf("the first tree: %" PRIu64 "\n", sum(mu, al_ref(top)));
  std::printf("its first key: %" PRIu64 "\n", top->key);
}

}  // namespace

int main() {
  try {
    run();
  } catch (const std::exception &error) {
    std::fprintf(stderr, "first: %s\n", error.what());
    return 1;
  }
  return 0;
}
