/* run.c: runs compiled code, and unwinds errors by longjmp.
 *
 * Each call is a C call with a frame of its own, except a call at the end of a closure: it takes
 * the frame of its caller. An error jumps to the innermost trap, which resets the list of frames
 * first: the scopes between never end. */
#include "code.h"
#include "stack.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

__thread vm_state *running;

/* ---- Errors ---- */

AL_NO_SAFEPOINT static void unwind(vm_state *vm) {
  if (!vm->trap) abort();
  longjmp(vm->trap->jump, 1);
}

/* The word whose code runs, for messages. Its name is kept by the dictionary alone. */
AL_NO_SAFEPOINT static const text *running_word(vm_state *vm) {
  if (!vm->calls) return NULL;
  const block *code = AT(block, *vm->calls->block);
  if (!code || !al_weak_live(vm->mu, &code->owner)) return NULL;
  al_value owner = al_load_weak(vm->mu, &code->owner);
  return al_is_null(owner) ? NULL : AT(text, al_load(vm->mu, &AT(symbol, owner)->name));
}

void fail(vm_state *vm, const char *format, ...) {
  AL_SPAN;
  const text *word = running_word(vm);
  int count = 0;
  if (word) {
    int length = word->length < 60 ? (int)word->length : 60;
    count = snprintf(vm->error, sizeof vm->error, "%.*s: ", length, word->bytes);
  }
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(vm->error + count, sizeof vm->error - (size_t)count, format, arguments);
  va_end(arguments);
  *vm->thrown = AL_NULL;
  vm->has_value = false;
  unwind(vm);
  abort();
}

/* Fails with the error that the vm has already. */
void fail_again(vm_state *vm) {
  unwind(vm);
  abort();
}

void *made(vm_state *vm, void *object) {
  if (object) return object;
  al_error error = {.size = sizeof error};
  al_alloc_error(vm->mu, &error);
  fail(vm, "%s", error.code == AL_E_LIMIT ? "no memory, after long collections" : "no memory");
}

bool guarded(vm_state *vm, vm_body *body, void *data) {
  trap here = {.outer = vm->trap, .calls = vm->calls, .depth = vm->depth};
  here.frames = al_frames(vm->mu);
  vm->trap = &here;
  if (setjmp(here.jump) == 0) {
    body(vm, data);
    vm->trap = here.outer;
    return true;
  }
  al_frames_reset(vm->mu, here.frames);
  vm->calls = here.calls;
  vm->depth = here.depth;
  vm->trap = here.outer;
  return false;
}

bool with_stack(vm_state *vm, vm_body *body, void *data) {
  bool well;
  {
    AL_LOCALS(vm->mu, T, thrown);
    AL_WORDS(vm->mu, S, NULL, 0);
    vm->thrown = &T.thrown;
    vm->frame = &S;
    vm->count = vm->room = 0;
    vm->stack = NULL;
    well = guarded(vm, body, data);
    if (!well && vm->has_value) {
      buffer value = {0};
      describe(vm, &value, T.thrown, true, 8);
      snprintf(vm->error, sizeof vm->error, "uncaught: %.*s", (int)value.count, value.bytes);
      free(value.bytes);
    }
  }
  free(vm->stack);
  vm->stack = NULL;
  return well;
}

void grow(vm_state *vm) {
  size_t room = vm->room ? vm->room * 2 : 64;
  if (room > 1 << 20) fail(vm, "the stack is full");
  al_value *stack = realloc(vm->stack, room * sizeof *stack);
  if (!stack) fail(vm, "no memory for the stack");
  vm->stack = stack;
  vm->room = room;
  al_words_set(vm->frame, stack, vm->count);
}

void takes(vm_state *vm, const char *kinds) {
  static const unsigned char kind_of_letter[128] = {
      ['n'] = NUMBER, ['p'] = PAIR, ['t'] = TEXT, ['c'] = CLOSURE, ['a'] = ARRAY,
      ['T'] = TABLE,  ['b'] = BOX,  ['w'] = WEAK, ['k'] = TASK,    ['g'] = GENERATOR};
  static const char *const names[KINDS] = {
      [NUMBER] = "a number", [PAIR] = "a pair",   [TEXT] = "a text",
      [CLOSURE] = "a closure", [ARRAY] = "an array", [TABLE] = "a table",
      [BOX] = "a box", [WEAK] = "a weak reference", [TASK] = "a task",
      [GENERATOR] = "a generator"};
  size_t count = strlen(kinds);
  need(vm, count);
  for (size_t i = 0; i < count; i++) {
    kind wanted = (kind)kind_of_letter[kinds[i] & 127]; /* '.' demands none */
    if (wanted != NIL && kind_of(peek(vm, count - 1 - i)) != wanted) {
      fail(vm, "value %zu of %zu is not %s", i + 1, count, names[wanted]);
    }
  }
}

/* ---- Code ---- */

/* The variable of an instruction: its scope is `depth` scopes out. */
AL_NO_SAFEPOINT static inline al_slot *variable(al_mutator *mu, al_value scope, uint32_t code) {
  for (uint32_t depth = CODE_DEPTH(code); depth; depth--) {
    scope = al_load(mu, &AT(array, scope)->at[0]);
  }
  return &AT(array, scope)->at[1 + CODE_INDEX(code)];
}

/* Takes variables from the stack into a new scope, the last one from its top. */
AL_SAFEPOINT static al_value bind(vm_state *vm, const al_value *outer, size_t count) {
  need(vm, count);
  array *scope = MADE(vm, array, al_alloc_array_raw(vm->mu, shapes.scope, count + 1));
  al_init(&scope->at[0], *outer);
  for (size_t i = 0; i < count; i++) al_init(&scope->at[1 + i], peek(vm, count - 1 - i));
  drop(vm, count);
  return al_ref(scope);
}

AL_SAFEPOINT static void make_closure(vm_state *vm, const al_value *code, const al_value *scope,
                                      size_t literal) {
  closure *fresh = MADE(vm, closure, al_alloc_raw(vm->mu, shapes.closure));
  al_init(&fresh->block, al_load(vm->mu, &AT(block, *code)->words[literal]));
  al_init(&fresh->scope, *scope);
  push(vm, TAGGED(fresh, CLOSURE));
}

/* The closure that a symbol means, or null after its primitive has run. */
AL_SAFEPOINT static al_value perform(vm_state *vm, al_value name) {
  al_value meaning = al_load(vm->mu, &AT(symbol, name)->meaning);
  if (al_is_ref(meaning)) return meaning;
  if (al_is_null(meaning)) {
    const text *unknown = AT(text, al_load(vm->mu, &AT(symbol, name)->name));
    fail(vm, "unknown word: %.*s", (int)unknown->length, unknown->bytes);
  }
  if (!primitive_at((size_t)al_number(meaning))->run(vm)) return AL_NULL;
  takes(vm, "c");
  return pop(vm);
}

void run(vm_state *vm, al_value called) {
  al_mutator *mu = vm->mu;
  AL_LOCALS(mu, L, closure, block, scope);
  L.closure = called;
  if (vm->depth == vm->most_depth) fail(vm, "calls are nested too deeply");
  vm->depth++;
  activation here = {.outer = vm->calls, .block = &L.block};
  vm->calls = &here;
  for (bool returns = false; !returns;) {
    L.block = al_load(mu, &AT(closure, L.closure)->block);
    L.scope = al_load(mu, &AT(closure, L.closure)->scope);
    here.word = AT(block, L.block)->word;
    al_poll(mu);
    for (size_t at = 0;;) {
      const block *code = AT(block, L.block);
      uint32_t instruction = block_code(code)[at++];
      size_t operand = CODE_OPERAND(instruction);
      uint32_t what = CODE_KIND(instruction);
      if (what == PUSH) {
        push(vm, al_load(mu, &code->words[operand]));
      } else if (what == GET) {
        push(vm, al_load(mu, variable(mu, L.scope, instruction)));
      } else if (what == CALL) {
        al_value next = perform(vm, al_load(mu, &code->words[operand]));
        if (al_is_null(next)) continue;
        if (CODE_KIND(block_code(AT(block, L.block))[at]) == RETURN) {
          L.closure = next;
          break;
        }
        run(vm, next);
      } else if (what == SET) {
        need(vm, 1);
        al_store(mu, variable(mu, L.scope, instruction), peek(vm, 0));
        drop(vm, 1);
      } else if (what == QUOTE) {
        make_closure(vm, &L.block, &L.scope, operand);
      } else if (what == BIND) {
        L.scope = bind(vm, &L.scope, operand);
      } else {
        returns = true;
        break;
      }
    }
  }
  vm->calls = here.outer;
  vm->depth--;
}

void call_top(vm_state *vm) {
  takes(vm, "c");
  al_value called = pop(vm);
  run(vm, called);
}
