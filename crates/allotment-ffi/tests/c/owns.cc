/* Handles that C++ objects own; errors of calls that fail and then succeed; arguments that are
 * evaluated once. */
#include <allotment.h>
#include <cstdio>
#include <cstdlib>
#include <utility>

#define DEMAND(condition) \
  if (!(condition)) (std::printf("%s:%d: %s\n", __FILE__, __LINE__, #condition), std::exit(1))

struct vector {
  uint64_t header;
  size_t length;
};

int main() {
  al_heap *heap;
  DEMAND(!al_heap_new(nullptr, &heap, nullptr));
  al_shape shape;
  al_shape_desc desc = {};
  desc.size = sizeof desc;
  desc.name = "Vector";
  desc.fixed = sizeof(vector);
  desc.tail = AL_TAIL_SLOTS;
  DEMAND(!al_shape_register(heap, &desc, &shape, nullptr));
  {
    al::Attachment mu(heap);
    al::Locals<1> locals(mu);
    locals[0] = al_ref(al_alloc_array(mu, shape, 8));
    al::Handle one(mu, locals[0]);
    al::Handle other(std::move(one));
    al::Handle empty(one);
    al::Handle copy(other);
    empty = one;
    one = copy;
    DEMAND(al_same(one.get(mu), other.get(mu)));

    al_error error = {};
    error.size = sizeof error;
    DEMAND(al_room(mu, SIZE_MAX / 8, &error) == AL_E_MEMORY);
    DEMAND(error.bytes != 0 && error.heap_bytes != 0);
    DEMAND(al_room(mu, 64, &error) == AL_OK);
    DEMAND(error.bytes == 0 && error.heap_bytes == 0);

    /* An error without its size is refused before the reason is taken out. */
    DEMAND(!al_alloc_array(mu, shape, SIZE_MAX / 64));
    error.size = 0;
    DEMAND(al_alloc_error(mu, &error) == AL_E_ABI);
    error.size = sizeof error;
    DEMAND(al_alloc_error(mu, &error) == AL_E_MEMORY);
    DEMAND(al_alloc_error(mu, &error) == AL_OK && error.bytes == 0);

    al_slot *slots = al::tail<al_slot>(static_cast<vector *>(al_addr(locals[0])));
    size_t count = 0;
    int asked = 0;
    auto once = [&]() -> al_mutator * { return asked++, mu; };
    al_fill(once(), slots, count++, al_immediate(1));
    DEMAND(count == 1 && asked == 1);
    al_copy(once(), slots, slots + 1, count++);
    DEMAND(count == 2 && asked == 2);
    DEMAND(al_is_null(al_load(once(), slots)) && asked == 3);
    DEMAND(al_try_alloc_array(once(), shape, count++) && count == 3 && asked == 4);
  }
  return al_heap_free(heap, nullptr) != AL_OK;
}
