/* texts.c: texts and symbols as values, and the output of programs.
 *
 * `print` formats into C memory, and writes that while the thread is blocked: no stop waits for a
 * slow reader. `write` hands the text itself to write(2): a pin keeps it in place for so long. */
#include "stack.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Formats of values ---- */

void add(buffer *to, const char *bytes, size_t count) {
  if (to->count + count > to->room) {
    size_t room = (to->count + count) * 2 + 64;
    char *larger = realloc(to->bytes, room);
    if (!larger) return;
    to->bytes = larger;
    to->room = room;
  }
  memcpy(to->bytes + to->count, bytes, count);
  to->count += count;
}

static void add_name(buffer *to, const char *name) { add(to, name, strlen(name)); }

AL_NO_SAFEPOINT static void describe_list(vm_state *vm, buffer *to, al_value list, int depth) {
  add_name(to, "(");
  for (int count = 0; kind_of(list) == PAIR; count++) {
    if (count) add_name(to, " ");
    if (count == 50) {
      add_name(to, "..)");
      return;
    }
    const pair *at = AT(pair, list);
    describe(vm, to, al_load(vm->mu, &at->first), true, depth - 1);
    list = al_load(vm->mu, &at->rest);
  }
  if (!al_is_null(list)) {
    add_name(to, " . ");
    describe(vm, to, list, true, depth - 1);
  }
  add_name(to, ")");
}

void describe(vm_state *vm, buffer *to, al_value value, bool quoted, int depth) {
  static const char *const names[KINDS] = {
      [CLOSURE] = "a closure",     [TABLE] = "a table", [BOX] = "a box",
      [WEAK] = "a weak reference", [TASK] = "a task",   [GENERATOR] = "a generator",
      [BLOCK] = "a block"};
  AL_SPAN;
  kind of = kind_of(value);
  if (of == NIL) {
    add_name(to, "nil");
  } else if (of == NUMBER) {
    char digits[32];
    snprintf(digits, sizeof digits, "%lld", (long long)al_number(value));
    add_name(to, digits);
  } else if (of == TEXT) {
    const text *at = AT(text, value);
    if (quoted) add_name(to, "\"");
    add(to, at->bytes, at->length);
    if (quoted) add_name(to, "\"");
  } else if (of == SYMBOL) {
    const text *name = AT(text, al_load(vm->mu, &AT(symbol, value)->name));
    add(to, name->bytes, name->length);
  } else if (depth == 0) {
    add_name(to, "..");
  } else if (of == PAIR) {
    describe_list(vm, to, value, depth);
  } else if (of == ARRAY) {
    const array *at = AT(array, value);
    add_name(to, "{");
    for (size_t i = 0; i < at->length && i < 50; i++) {
      if (i) add_name(to, " ");
      describe(vm, to, al_load(vm->mu, &at->at[i]), true, depth - 1);
    }
    add_name(to, at->length > 50 ? " ..}" : "}");
  } else {
    add_name(to, names[of]);
  }
}

/* ---- Output ---- */

/* Writes all bytes. Uses nothing of the heap. */
bool write_all(const char *bytes, size_t count) {
  while (count) {
    ssize_t done = write(STDOUT_FILENO, bytes, count);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return false;
    bytes += done;
    count -= (size_t)done;
  }
  return true;
}

/* Writes bytes that do not move, while the thread is blocked. */
AL_SAFEPOINT static bool write_blocked(vm_state *vm, const char *bytes, size_t count) {
  al_block_enter(vm->mu);
  bool well = write_all(bytes, count);
  al_block_leave(vm->mu);
  return well;
}

AL_SAFEPOINT static bool print_with(vm_state *vm, const char *end) {
  takes(vm, ".");
  buffer out = {0};
  describe(vm, &out, peek(vm, 0), false, 8);
  add_name(&out, end);
  drop(vm, 1);
  bool well = write_blocked(vm, out.bytes, out.count);
  free(out.bytes);
  if (!well) fail(vm, "the output is closed");
  return false;
}
static bool word_print(vm_state *vm) { return print_with(vm, "\n"); }
static bool word_show(vm_state *vm) { return print_with(vm, " "); }

/* ( text -- ) */
static bool word_write(vm_state *vm) {
  takes(vm, "t");
  bool well;
  {
    size_t length = al_length(AT(text, peek(vm, 0)));
    AL_PINNED(vm->mu, pin, al_addr(peek(vm, 0)));
    drop(vm, 1);
    well = write_blocked(vm, ((const text *)al_pin_address(pin))->bytes, length);
  }
  if (!well) fail(vm, "the output is closed");
  return false;
}

/* ---- Texts ---- */

/* `bytes` are not in the heap. There is one empty text, which a pinned root keeps. */
al_value new_text(vm_state *vm, const char *bytes, size_t length) {
  if (!length && the_machine.empty) return al_from_word(the_machine.empty);
  text *fresh = MADE(vm, text, al_alloc_array_raw(vm->mu, shapes.text, length));
  memcpy(fresh->bytes, bytes, length);
  return TAGGED(fresh, TEXT);
}

/* ( text text -- text ) */
static bool word_join(vm_state *vm) {
  takes(vm, "tt");
  size_t one = al_length(AT(text, peek(vm, 1))), other = al_length(AT(text, peek(vm, 0)));
  text *fresh = MADE(vm, text, al_alloc_array_raw(vm->mu, shapes.text, one + other));
  memcpy(fresh->bytes, AT(text, peek(vm, 1))->bytes, one);
  memcpy(fresh->bytes + one, AT(text, peek(vm, 0))->bytes, other);
  drop(vm, 2);
  push(vm, TAGGED(fresh, TEXT));
  return false;
}

/* ( text from n -- text ) */
static bool word_part(vm_state *vm) {
  takes(vm, "tnn");
  size_t length = al_length(AT(text, peek(vm, 2)));
  int64_t from = number_at(vm, 1), count = number_at(vm, 0);
  if (from < 0 || count < 0 || (size_t)from > length || (size_t)count > length - (size_t)from) {
    fail(vm, "%lld bytes from %lld of a text of %zu", (long long)count, (long long)from, length);
  }
  text *fresh = MADE(vm, text, al_alloc_array_raw(vm->mu, shapes.text, (size_t)count));
  memcpy(fresh->bytes, AT(text, peek(vm, 2))->bytes + from, (size_t)count);
  drop(vm, 3);
  push(vm, TAGGED(fresh, TEXT));
  return false;
}

/* ( text index -- number ) */
static bool word_byte(vm_state *vm) {
  takes(vm, "tn");
  const text *of = AT(text, peek(vm, 1));
  int64_t index = number_at(vm, 0);
  if (index < 0 || (size_t)index >= of->length) fail(vm, "byte %lld", (long long)index);
  drop(vm, 2);
  push(vm, al_immediate((unsigned char)of->bytes[index]));
  return false;
}

/* ( text-or-array -- number ) */
static bool word_length(vm_state *vm) {
  takes(vm, ".");
  kind of = kind_of(peek(vm, 0));
  if (of != TEXT && of != ARRAY) fail(vm, "neither a text nor an array");
  al_value measured = pop(vm);
  push(vm, al_immediate((int64_t)al_length(al_addr(measured))));
  return false;
}

/* ( text text -- flag ) */
static bool word_equal(vm_state *vm) {
  takes(vm, "tt");
  const text *one = AT(text, peek(vm, 1)), *other = AT(text, peek(vm, 0));
  bool equal = one->length == other->length && !memcmp(one->bytes, other->bytes, one->length);
  drop(vm, 2);
  push(vm, al_immediate(equal));
  return false;
}

/* ( value -- text ) */
static bool word_text(vm_state *vm) {
  takes(vm, ".");
  buffer out = {0};
  describe(vm, &out, peek(vm, 0), false, 8);
  text *fresh = al_alloc_array_raw(vm->mu, shapes.text, out.count);
  if (fresh && out.count) memcpy(fresh->bytes, out.bytes, out.count);
  free(out.bytes); /* an error would jump over this */
  fresh = made(vm, fresh);
  drop(vm, 1);
  push(vm, TAGGED(fresh, TEXT));
  return false;
}

/* ( text -- symbol ) */
static bool word_symbol(vm_state *vm) {
  takes(vm, "t");
  char name[200];
  const text *from = AT(text, peek(vm, 0));
  size_t length = from->length;
  if (!length || length > sizeof name) fail(vm, "a name of %zu bytes", length);
  memcpy(name, from->bytes, length);
  al_value found = intern(vm, name, length);
  drop(vm, 1);
  push(vm, found);
  return false;
}

const primitive text_words[] = {
    {"print", word_print}, {".", word_show},     {"write", word_write},   {"&", word_join},
    {"part", word_part},   {"byte", word_byte},  {"length", word_length}, {"text=", word_equal},
    {">text", word_text},  {">symbol", word_symbol}, {NULL, NULL}};
