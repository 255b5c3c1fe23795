/* tables.c: tables whose keys are compared by identity. An object's address changes, so the hash of
 * a key is al_identity_hash. Entries are an array of keys and values by turns, at most three
 * quarters full. */
#include "stack.h"

AL_NO_SAFEPOINT static uint64_t hash_of(vm_state *vm, al_value key) {
  uint64_t bits =
      al_is_ref(key) ? al_identity_hash(vm->mu, al_addr(key)) : (uint64_t)al_number(key);
  bits *= 0x9e3779b97f4a7c15u;
  return bits ^ bits >> 32;
}

/* The place of a key: where it is, or the free place for it. */
AL_NO_SAFEPOINT static size_t place_of(vm_state *vm, const array *entries, al_value key) {
  AL_SPAN;
  size_t places = al_length(entries) / 2, place = (size_t)(hash_of(vm, key) % places);
  for (;; place = (place + 1) % places) {
    al_value there = al_load(vm->mu, &entries->at[2 * place]);
    if (al_is_null(there) || al_same(there, key)) return place;
  }
}

AL_NO_SAFEPOINT static const array *entries_of(vm_state *vm, al_value of) {
  return AT(array, al_load(vm->mu, &AT(table, of)->entries));
}

/* ( -- table ) */
static bool word_table(vm_state *vm) {
  enum { PLACES = 4 };
  size_t slots = 2 * PLACES;
  size_t room = al_bytes(shapes.table, 0) + al_bytes(shapes.entries, slots);
  if (al_room(vm->mu, room, NULL) != AL_OK) fail(vm, "no memory");
  AL_SPAN;
  array *entries = MADE(vm, array, al_try_alloc_array(vm->mu, shapes.entries, slots));
  table *fresh = MADE(vm, table, al_try_alloc(vm->mu, shapes.table));
  al_init(&fresh->entries, al_ref(entries));
  push(vm, TAGGED(fresh, TABLE));
  return false;
}

/* Doubles the entries of the table that `depth` values lie on. */
AL_SAFEPOINT static void enlarge(vm_state *vm, size_t depth) {
  size_t slots = al_length(entries_of(vm, peek(vm, depth))) * 2;
  array *larger = MADE(vm, array, al_alloc_array(vm->mu, shapes.entries, slots));
  AL_SPAN;
  const array *entries = entries_of(vm, peek(vm, depth));
  for (size_t i = 0; i < al_length(entries); i += 2) {
    al_value key = al_load(vm->mu, &entries->at[i]);
    if (al_is_null(key)) continue;
    size_t place = place_of(vm, larger, key);
    al_init(&larger->at[2 * place], key);
    al_init(&larger->at[2 * place + 1], al_load(vm->mu, &entries->at[i + 1]));
  }
  al_store(vm->mu, &AT(table, peek(vm, depth))->entries, al_ref(larger));
}

/* ( table key value -- ) */
static bool word_put(vm_state *vm) {
  takes(vm, "T..");
  if (al_is_null(peek(vm, 1))) fail(vm, "nil is not a key");
  table *of = AT(table, peek(vm, 2));
  const array *entries = entries_of(vm, peek(vm, 2));
  if ((of->count + 1) * 8 > al_length(entries) * 3) {
    enlarge(vm, 2);
    of = AT(table, peek(vm, 2));
    entries = entries_of(vm, peek(vm, 2));
  }
  size_t place = place_of(vm, entries, peek(vm, 1));
  array *to = AT(array, al_load(vm->mu, &of->entries));
  of->count += al_is_null(al_load(vm->mu, &to->at[2 * place]));
  al_store(vm->mu, &to->at[2 * place], peek(vm, 1));
  al_store(vm->mu, &to->at[2 * place + 1], peek(vm, 0));
  drop(vm, 3);
  return false;
}

/* ( table key -- value ) nil: it is not there. */
static bool word_get(vm_state *vm) {
  takes(vm, "T.");
  if (al_is_null(peek(vm, 0))) fail(vm, "nil is not a key");
  const array *entries = entries_of(vm, peek(vm, 1));
  size_t place = place_of(vm, entries, peek(vm, 0));
  drop(vm, 2);
  push(vm, al_load(vm->mu, &entries->at[2 * place + 1]));
  return false;
}

static bool word_count(vm_state *vm) {
  takes(vm, "T");
  al_value of = pop(vm);
  push(vm, al_immediate((int64_t)AT(table, of)->count));
  return false;
}

/* ( table body -- .. ) The body gets each key and its value. */
static bool word_entries(vm_state *vm) {
  takes(vm, "Tc");
  AL_LOCALS(vm->mu, L, body, entries);
  L.body = pop(vm);
  al_value of = pop(vm);
  L.entries = al_load(vm->mu, &AT(table, of)->entries);
  for (size_t i = 0; i < al_length(AT(array, L.entries)); i += 2) {
    const array *entries = AT(array, L.entries);
    al_value key = al_load(vm->mu, &entries->at[i]);
    if (al_is_null(key)) continue;
    push(vm, key);
    push(vm, al_load(vm->mu, &entries->at[i + 1]));
    run(vm, L.body);
  }
  return false;
}

/* ( value -- number ) The same number for all of the object's life. */
static bool word_identity(vm_state *vm) {
  takes(vm, ".");
  al_value of = pop(vm);
  if (!al_is_ref(of)) fail(vm, "not an object");
  push(vm, al_immediate(al_identity_hash(vm->mu, al_addr(of))));
  return false;
}

const primitive table_words[] = {{"table", word_table},     {"table-put", word_put},
                                 {"table-get", word_get},   {"table-count", word_count},
                                 {"entries", word_entries}, {"identity", word_identity},
                                 {NULL, NULL}};
