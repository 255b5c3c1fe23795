/* Callbacks that throw.
 *
 * usage: throws provider|stop
 */
#include <allotment.h>
#include <cstring>
#include <stdexcept>

static void provides(al_visitor *, void *) { throw std::runtime_error("in a provider"); }
static void stopped(al_world *, void *) { throw std::runtime_error("in a stop"); }

int main(int count, char **arguments) {
  al_heap *heap;
  al_mutator *mu;
  al_options options = {};
  options.size = sizeof options;
  options.defaults = "MaxHeapSize=16m";
  if (count != 2 || al_heap_new(&options, &heap, nullptr) || al_attach(heap, &mu, nullptr)) return 1;
  try {
    if (!std::strcmp(arguments[1], "stop")) return al_stop(heap, stopped, nullptr, nullptr);
    al_provider *provider;
    if (al_provider_add(heap, provides, nullptr, &provider, nullptr)) return 1;
    al_collect(mu);
  } catch (const std::runtime_error &) {
    return 2;
  }
  return 3;
}
