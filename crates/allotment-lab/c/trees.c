/* The trees of the experiment `trees` in C, as `experiments/trees/tree.rs` makes them in Rust: from
 * the top by stores into existing nodes, from the bottom by initialisers alone. Each way checks the
 * depth in line and has the rest in a function of its own, so no function is called for a leaf. */
#include "lab.h"

#define ALWAYS_INLINE __attribute__((always_inline)) static inline

/* A node; a leaf has no children. The key is the height above the leaves. */
typedef struct node {
  uint64_t header;
  al_slot left;
  al_slot right;
  uint64_t key;
} node;

/* The node that a root or a slot refers to. */
ALWAYS_INLINE node *node_at(al_value value) { return al_addr(value); }

/* [S] A node; NULL if the heap is full. Its children are in a frame, since the call may move them. */
ALWAYS_INLINE node *leaf(al_mutator *mu, uint64_t header, uint64_t key) {
  const al_shape shape = {header, sizeof(node), 0};
  node *made = al_alloc_raw(mu, shape);
  if (!made) return NULL;
  al_init(&made->left, AL_NULL);
  al_init(&made->right, AL_NULL);
  made->key = key;
  return made;
}

static bool hang(al_mutator *mu, uint64_t header, uint64_t below, const al_value *root);

/* [S] Hangs `depth` levels below the node in `*root`, a variable of a frame. */
ALWAYS_INLINE bool populate(al_mutator *mu, uint64_t header, uint64_t depth, const al_value *root) {
  return depth == 0 || hang(mu, header, depth - 1, root);
}

/* [S] Hangs two children below the node, and `below` levels below these. */
static bool hang(al_mutator *mu, uint64_t header, uint64_t below, const al_value *root) {
  node *left = leaf(mu, header, below);
  if (!left) return false;
  al_store(mu, &node_at(*root)->left, al_ref(left));
  node *right = leaf(mu, header, below);
  if (!right) return false;
  al_store(mu, &node_at(*root)->right, al_ref(right));
  AL_LOCALS(mu, L, child);
  L.child = al_load(mu, &node_at(*root)->left);
  if (!populate(mu, header, below, &L.child)) return false;
  L.child = al_load(mu, &node_at(*root)->right);
  return populate(mu, header, below, &L.child);
}

/* [S] A tree from its top; null if the heap is full. */
static al_value top_down(al_mutator *mu, uint64_t header, uint64_t depth) {
  AL_LOCALS(mu, L, top);
  L.top = al_ref(leaf(mu, header, depth));
  if (al_is_null(L.top) || !populate(mu, header, depth, &L.top)) return AL_NULL;
  return L.top;
}

static al_value join(al_mutator *mu, uint64_t header, uint64_t below);

/* [S] A tree from its leaves; null if the heap is full. */
ALWAYS_INLINE al_value bottom_up(al_mutator *mu, uint64_t header, uint64_t depth) {
  return depth == 0 ? al_ref(leaf(mu, header, 0)) : join(mu, header, depth - 1);
}

/* [S] Two trees of `below` levels below their tops, and their parent. */
static al_value join(al_mutator *mu, uint64_t header, uint64_t below) {
  const al_shape shape = {header, sizeof(node), 0};
  AL_LOCALS(mu, L, left, right);
  L.left = bottom_up(mu, header, below);
  if (al_is_null(L.left)) return AL_NULL;
  L.right = bottom_up(mu, header, below);
  if (al_is_null(L.right)) return AL_NULL;
  node *top = al_alloc_raw(mu, shape);
  if (!top) return AL_NULL;
  al_init(&top->left, L.left);
  al_init(&top->right, L.right);
  top->key = below + 1;
  return al_ref(top);
}

/* The number of nodes; 0 unless each node has the key of its height, and two children or none. */
static uint64_t count(al_mutator *mu, al_value tree, uint64_t height) {
  const node *top = node_at(tree);
  if (!top || top->key != height) return 0;
  al_value left = al_load(mu, &top->left), right = al_load(mu, &top->right);
  if (height == 0) return al_is_null(left) && al_is_null(right);
  uint64_t nodes_left = count(mu, left, height - 1), nodes_right = count(mu, right, height - 1);
  return nodes_left && nodes_right ? 1 + nodes_left + nodes_right : 0;
}

/* [S] Makes a tree in each way and drops it. False: the heap is full. */
LAB_EXPORT bool lab_trees(al_mutator *mu, uint64_t header, uint64_t depth) {
  al_value tree = top_down(mu, header, depth);
  if (al_is_null(tree)) return false;
  keep(al_addr(tree));
  tree = bottom_up(mu, header, depth);
  if (al_is_null(tree)) return false;
  keep(al_addr(tree));
  return true;
}

/* [S] Makes a tree in each way, and counts both together: 0 if one is not whole. */
LAB_EXPORT uint64_t lab_trees_count(al_mutator *mu, uint64_t header, uint64_t depth) {
  AL_LOCALS(mu, L, top, bottom);
  L.top = top_down(mu, header, depth);
  L.bottom = bottom_up(mu, header, depth);
  uint64_t top = count(mu, L.top, depth), bottom = count(mu, L.bottom, depth);
  return top && bottom ? top + bottom : 0;
}
