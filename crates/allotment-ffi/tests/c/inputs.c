/* Wrong inputs, one for each name in the list at the end.
 *
 * usage: inputs CASE
 *
 * A case prints the code of its answer and the text, or it ends the process within the library. */
#define _GNU_SOURCE
#include <allotment.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
  uint64_t header;
  al_slot next;
  uint64_t key;
} cell;

static al_heap *heap;
static al_mutator *mu;
static al_shape CELL, BYTES;
static al_error error = {.size = sizeof error};

static void say(al_code code) { printf("%s: %s\n", al_code_text(code), error.text); }

static void demand(al_code code) {
  if (code != AL_OK) {
    fprintf(stderr, "before the case: %s: %s\n", al_code_text(code), error.text);
    exit(3);
  }
}

static al_slot_desc next_slot[] = {AL_SLOT(cell, next, AL_STRONG)};

static al_shape_desc cell_desc(void) {
  al_shape_desc desc = {.size = sizeof desc, .name = "Cell", .fixed = sizeof(cell)};
  desc.slots = next_slot;
  desc.slot_count = 1;
  return desc;
}

static void begin(const char *options) {
  al_options choices = {.size = sizeof choices, .defaults = options};
  demand(al_heap_new(&choices, &heap, &error));
  al_shape_desc desc = cell_desc();
  demand(al_shape_register(heap, &desc, &CELL, &error));
  al_shape_desc bytes = {.size = sizeof bytes, .name = "Bytes", .fixed = 16, .tail = AL_TAIL_1};
  demand(al_shape_register(heap, &bytes, &BYTES, &error));
}

static void attached(void) {
  begin("MaxHeapSize=16m");
  demand(al_attach(heap, &mu, &error));
}

#include "inputs/heaps.h"
#include "inputs/shapes.h"
#include "inputs/threads.h"
#include "inputs/allocations.h"
#include "inputs/roots.h"
#include "inputs/callbacks.h"
#include "inputs/looking.h"

#define CASE(name) {#name, name}
static const struct {
  const char *name;
  void (*run)(void);
} CASES[] = {
    CASE(heap_place_null), CASE(heap_abi), CASE(options_size_0), CASE(options_too_small),
    CASE(options_unknown_member), CASE(options_zero_tail), CASE(error_size_0), CASE(error_larger),
    CASE(option_unknown), CASE(option_value), CASE(option_not_text), CASE(option_environment),
    CASE(free_null), CASE(free_attached), CASE(free_with_handle), CASE(free_with_pin),
    CASE(free_while_handles_end), CASE(reset_attached), CASE(reset_null), CASE(uncommit_null),
    CASE(shape_null), CASE(shape_without_name), CASE(shape_name_empty), CASE(shape_size_0),
    CASE(shape_too_small_a_size), CASE(shape_unknown_member), CASE(shape_slot_outside),
    CASE(shape_slot_off_a_word), CASE(shape_slot_twice), CASE(shape_slot_kind),
    CASE(shape_slots_null), CASE(shape_slot_count), CASE(shape_tail), CASE(shape_too_small),
    CASE(shape_sizes), CASE(shape_slot_offsets), CASE(shape_slot_on_length), CASE(shape_of_odd_size),
    CASE(shape_trace_may_change), CASE(attach_null), CASE(attach_place_null), CASE(attach_twice),
    CASE(attach_two_heaps), CASE(attach_in_stop), CASE(stop_in_stop), CASE(stop_null),
    CASE(stop_of_another_heap), CASE(attach_in_forked_child), CASE(collect_in_forked_child),
    CASE(alloc_in_forked_child), CASE(detach_in_forked_child), CASE(detach_blocked_in_forked_child),
    CASE(free_handles_in_forked_child), CASE(fork_alone), CASE(detach_with_frames),
    CASE(detach_twice), CASE(detach_foreign), CASE(foreign_mutator), CASE(null_mutator),
    CASE(thread_ends_attached), CASE(thread_ends_blocked), CASE(free_with_blocked_thread),
    CASE(poll_blocked), CASE(alloc_blocked), CASE(block_twice), CASE(leave_twice),
    CASE(stop_blocked), CASE(detach_blocked), CASE(length_max), CASE(length_2_43), CASE(length_0),
    CASE(length_of_each_allocation), CASE(room_max), CASE(array_without_tail), CASE(heap_full),
    CASE(heap_full_with_hook), CASE(handle_of_another_heap), CASE(handle_set_of_another_heap),
    CASE(provider_of_another_heap), CASE(handle_null), CASE(pin_null), CASE(provider_null),
    CASE(provider_allocates), CASE(provider_frees_handle), CASE(provider_adds_provider),
    CASE(visitor_after_its_call), CASE(trace_allocates), CASE(walk_after_stop),
    CASE(roots_after_stop), CASE(uncommit_in_stop), CASE(free_in_walk), CASE(codes_in_stop),
    CASE(codes_in_on_collection), CASE(unlink_twice), CASE(unlink_after_reset),
    CASE(verify_attached), CASE(snapshot_fd), CASE(snapshot_format), CASE(profile_closed),
    CASE(jump_with_reset), CASE(jump_without_reset), CASE(jump_out_of_stop),
    CASE(jump_out_of_heap_limit), CASE(no_such_code),
};

/* Not in the list: it takes a lot of memory. */
static void shapes(void) {
  begin("MaxHeapSize=16m");
  al_shape_desc desc = cell_desc();
  size_t made = 2; /* those of begin */
  al_code code;
  while ((code = al_shape_register(heap, &desc, &CELL, &error)) == AL_OK) made++;
  say(code);
  printf("after %zu shapes\n", made);
}

int main(int count, char **arguments) {
  setvbuf(stdout, NULL, _IONBF, 0);
  for (size_t i = 0; count == 2 && i < sizeof CASES / sizeof *CASES; i++) {
    if (!strcmp(CASES[i].name, arguments[1])) {
      CASES[i].run();
      return 0;
    }
    if (!strcmp("list", arguments[1])) puts(CASES[i].name);
  }
  if (count == 2 && !strcmp("shapes", arguments[1])) {
    shapes();
    return 0;
  }
  return count == 2 && !strcmp("list", arguments[1]) ? 0 : 2;
}
