/* symbols.c: names. The interner is weak: a symbol that nothing else refers to dies, and its place
 * in the table is free again. A symbol with a meaning stays: a list has it, which the provider
 * shows.
 *
 * The table has buckets of eight weak slots. Their hashes are in C memory, so a look-up reads a
 * symbol only if its hash is the wanted one, and asks al_weak_live before: it keeps no other symbol
 * alive. No [S] call is made under the lock; so new objects are made before it is taken. */
#include "stack.h"
#include <stdlib.h>
#include <string.h>

AL_NO_SAFEPOINT static uint64_t hash_of(const char *bytes, size_t length) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3u;
  return hash ^ hash >> 29;
}

AL_NO_SAFEPOINT static bool is_named(vm_state *vm, al_value value, const char *bytes,
                                     size_t length) {
  const text *name = AT(text, al_load(vm->mu, &AT(symbol, value)->name));
  return name->length == length && !memcmp(name->bytes, bytes, length);
}

AL_NO_SAFEPOINT static size_t bucket(uint64_t hash, size_t cells) {
  return (size_t)(hash % (cells / BUCKET)) * BUCKET;
}

/* The symbol of that name, or null. With the lock. */
AL_NO_SAFEPOINT static al_value look_up(vm_state *vm, uint64_t hash, const char *bytes,
                                        size_t length) {
  AL_SPAN;
  machine *m = &the_machine;
  al_value recent = al_from_word(m->recent);
  if (!al_is_null(recent) && is_named(vm, recent, bytes, length)) return recent;
  array *names = AT(array, al_from_word(m->names));
  size_t first = names ? bucket(hash, names->length) : 0;
  for (size_t cell = first; names && cell < first + BUCKET; cell++) {
    al_slot *slot = &names->at[cell];
    if (m->hashes[cell] != hash || !al_weak_live(vm->mu, slot)) continue;
    al_value found = al_load_weak(vm->mu, slot);
    if (!al_is_null(found) && is_named(vm, found, bytes, length)) {
      m->recent = al_to_word(found);
      return found;
    }
  }
  return AL_NULL;
}

/* Puts a symbol into a free cell of its bucket. false: there is none. With the lock. */
AL_NO_SAFEPOINT static bool enter(vm_state *vm, array *names, uint64_t *hashes, al_value value) {
  uint64_t hash = AT(symbol, value)->hash;
  size_t first = bucket(hash, names->length);
  for (size_t cell = first; cell < first + BUCKET; cell++) {
    if (al_weak_live(vm->mu, &names->at[cell])) continue;
    hashes[cell] = hash;
    al_store(vm->mu, &names->at[cell], value);
    return true;
  }
  return false;
}

/* Moves the symbols to a larger table, and makes that the machine's. false: it is too small. */
AL_NO_SAFEPOINT static bool move_to(vm_state *vm, al_value larger, uint64_t *hashes) {
  machine *m = &the_machine;
  array *from = AT(array, al_from_word(m->names)), *to = AT(array, larger);
  for (size_t cell = 0; from && cell < from->length; cell++) {
    al_value value = al_load_weak(vm->mu, &from->at[cell]);
    if (!al_is_null(value) && !enter(vm, to, hashes, value)) return false;
  }
  free(m->hashes);
  m->hashes = hashes;
  m->names = al_to_word(larger);
  return true;
}

AL_SAFEPOINT static al_value new_symbol(vm_state *vm, uint64_t hash, const char *bytes,
                                        size_t length) {
  size_t room = al_bytes(shapes.symbol, 0) + al_bytes(shapes.text, length);
  if (al_room(vm->mu, room, NULL) != AL_OK) fail(vm, "no memory");
  AL_SPAN;
  symbol *fresh = MADE(vm, symbol, al_try_alloc(vm->mu, shapes.symbol));
  text *name = MADE(vm, text, al_try_alloc_array_raw(vm->mu, shapes.text, length));
  memcpy(name->bytes, bytes, length);
  al_init(&fresh->name, TAGGED(name, TEXT));
  fresh->hash = hash;
  return TAGGED(fresh, SYMBOL);
}

/* `bytes` are not in the heap. */
al_value intern(vm_state *vm, const char *bytes, size_t length) {
  machine *m = &the_machine;
  uint64_t hash = hash_of(bytes, length);
  AL_LOCALS(vm->mu, L, fresh, larger);
  uint64_t *hashes = NULL;
  for (size_t cells = 0;;) {
    pthread_mutex_lock(&m->lock);
    al_value found = look_up(vm, hash, bytes, length);
    if (al_is_null(found) && !al_is_null(L.fresh)) {
      array *names = AT(array, al_from_word(m->names));
      if (!al_is_null(L.larger) && al_length(AT(array, L.larger)) > (names ? names->length : 0) &&
          move_to(vm, L.larger, hashes)) {
        names = AT(array, L.larger);
        hashes = NULL;
      }
      if (names && enter(vm, names, m->hashes, L.fresh)) {
        found = L.fresh;
        m->recent = al_to_word(found);
      } else {
        cells = (cells ? cells : names ? names->length : 64) * 2;
      }
    }
    pthread_mutex_unlock(&m->lock);
    if (!al_is_null(found)) {
      free(hashes);
      return found;
    }
    if (al_is_null(L.fresh)) {
      L.fresh = new_symbol(vm, hash, bytes, length);
    } else {
      free(hashes);
      hashes = NULL;
      L.larger = al_ref(MADE(vm, array, al_alloc_array(vm->mu, shapes.names, cells)));
      hashes = calloc(cells, sizeof *hashes);
      if (!hashes) fail(vm, "no memory for names");
    }
  }
}

/* The number of a name, for profiles. */
size_t word_number(const char *bytes, size_t length) {
  machine *m = &the_machine;
  pthread_mutex_lock(&m->lock);
  size_t number = 0;
  while (number < m->word_count &&
         (strlen(m->words[number]) != length || memcmp(m->words[number], bytes, length))) {
    number++;
  }
  char **words = number < m->word_count ? NULL : realloc(m->words, (number + 1) * sizeof *words);
  if (words) {
    m->words = words;
    m->words[m->word_count++] = strndup(bytes, length);
  }
  pthread_mutex_unlock(&m->lock);
  return number;
}

void define(vm_state *vm, al_value name, al_value meaning) {
  AL_LOCALS(vm->mu, L, name, meaning);
  L.name = name;
  L.meaning = meaning;
  pair *link = MADE(vm, pair, al_alloc_raw(vm->mu, shapes.pair));
  AL_SPAN;
  machine *m = &the_machine;
  pthread_mutex_lock(&m->lock);
  al_init(&link->first, L.name);
  al_init(&link->rest, al_from_word(m->definitions));
  if (al_is_null(al_load(vm->mu, &AT(symbol, L.name)->meaning))) {
    m->definitions = al_to_word(TAGGED(link, PAIR));
  }
  al_store(vm->mu, &AT(symbol, L.name)->meaning, L.meaning);
  pthread_mutex_unlock(&m->lock);
}
