// A global object whose destructor detaches the thread that exits, and frees the heap.
#include <allotment.h>
#include <cstdio>
#include <cstdlib>

namespace {
struct Runtime {
  al_heap *heap = nullptr;
  al_mutator *mu = nullptr;
  Runtime() = default;
  Runtime(const Runtime &) = delete;
  Runtime &operator=(const Runtime &) = delete;
  ~Runtime() {
    if (al_current()) abort();
    al_detach(mu);
    if (al_heap_free(heap, nullptr) != AL_OK) abort();
    std::puts("freed late");
    std::fflush(stdout);
  }
};
Runtime runtime;
}  // namespace

int main() {
  if (al_heap_new(nullptr, &runtime.heap, nullptr) != AL_OK) return 3;
  if (al_attach(runtime.heap, &runtime.mu, nullptr) != AL_OK) return 4;
  return 0;
}
