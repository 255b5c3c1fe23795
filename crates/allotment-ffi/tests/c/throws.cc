/* Callbacks that throw.
 *
 * usage: throws provider|stop|walk|roots|trace|collection|limit|census|metrics
 */
#include <allotment.h>
#include <cstring>
#include <stdexcept>

static const char *how;
static al_heap *heap;
static al_mutator *mu;

static bool is(const char *name) { return !std::strcmp(how, name); }
static void throw_in(const char *name) {
  if (is(name)) throw std::runtime_error(name);
}

static void provides(al_visitor *, void *) { throw_in("provider"); }
static void each_object(void *, const al_object *) { throw_in("walk"); }
static void each_root(void *, const al_root *) { throw_in("roots"); }
static void each_row(void *, const al_census_row *) { throw_in("census"); }
static void each_metric(void *, const al_metric *) { throw_in("metrics"); }
static void collected(void *, const al_record *) { throw_in("collection"); }
static void trace(void *, al_tracer *, void *) { throw_in("trace"); }
static bool at_limit(void *, const al_error *) {
  throw_in("limit");
  return false;
}
static void stopped(al_world *world, void *) {
  throw_in("stop");
  al_walk(world, each_object, nullptr, nullptr);
  al_roots(world, each_root, nullptr);
}

/* Runs each callback. An exception must not come back from one. */
static void run_all() {
  al_shape_desc desc = {};
  desc.size = sizeof desc;
  desc.name = "Traced";
  desc.fixed = 16;
  desc.trace = trace;
  desc.trace_lasts = true;
  al_shape shape;
  if (al_shape_register(heap, &desc, &shape, nullptr)) throw 1;
  al_provider *provider;
  if (al_provider_add(heap, provides, nullptr, &provider, nullptr)) throw 1;
  al::Locals<1> locals(mu);
  locals[0] = al_ref(al_alloc(mu, shape));
  al_stop(heap, stopped, nullptr, nullptr);
  al_census(heap, false, each_row, nullptr, nullptr);
  al_metrics(heap, each_metric, nullptr);
  al_room(mu, 1 << 30, nullptr);
  al_collect(mu);
}

int main(int count, char **arguments) {
  al_options options = {};
  options.size = sizeof options;
  options.defaults = "MaxHeapSize=16m";
  options.on_heap_limit = at_limit;
  options.on_collection = collected;
  if (count != 2 || al_heap_new(&options, &heap, nullptr) || al_attach(heap, &mu, nullptr)) return 1;
  how = arguments[1];
  try {
    run_all();
  } catch (const std::runtime_error &) {
    return 2;
  } catch (int) {
    return 3;
  }
  return is("nothing") ? 0 : 4;
}
