/* reader.c: compiles the text of a program.
 *
 *   12 -3 "text\n" 'symbol     values           # to the end of the line: a comment
 *   [ .. ]                     a closure
 *   | a b |                    takes variables for the rest of a body from the stack, the last one
 *                              from its top
 *   : name .. ;                a definition
 *   name !name                 a variable's value, a new value for it; else a call of the word
 *
 * The literals of the bodies that are being read lie in memory of the reader's, which al_link makes
 * roots: the innermost body has the last ones. */
#include "code.h"
#include "stack.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_VARIABLES = 8, MOST_SCOPES = 8 };

/* A part of the program's text. */
typedef struct word {
  const char *at;
  size_t length;
} word;

/* Variables, and those around them. */
typedef struct variables {
  struct variables *outer;
  word names[MOST_VARIABLES];
  size_t count;
} variables;

typedef struct reader {
  vm_state *vm;
  const char *at;
  al_frame frame;
  al_value *literals;
  size_t literal_count, literal_room;
  uint32_t *code;
  size_t code_count, code_room;
  char *text; /* the last text */
  size_t number; /* of the definition, for profiles */
} reader;

__attribute__((noreturn)) static void wrong(reader *r, const char *what, word at) {
  fail(r->vm, "%s: %.*s", what, (int)(at.length < 60 ? at.length : 60), at.at);
}

/* An array of `count` items, with room for one more. */
static void *with_room(reader *r, void *at, size_t count, size_t *room, size_t bytes) {
  if (count < *room) return at;
  *room = *room ? *room * 2 : 64;
  void *larger = realloc(at, *room * bytes);
  if (!larger) wrong(r, "no memory", (word){"for code", 8});
  return larger;
}

AL_NO_SAFEPOINT static size_t literal(reader *r, al_value value) {
  r->literals = with_room(r, r->literals, r->literal_count, &r->literal_room, sizeof(al_value));
  r->literals[r->literal_count++] = value;
  al_words_set(&r->frame, r->literals, r->literal_count);
  return r->literal_count - 1;
}

AL_NO_SAFEPOINT static void emit(reader *r, code_kind kind_, size_t operand) {
  if (operand > MOST_OPERAND) wrong(r, "too much code", (word){"", 0});
  r->code = with_room(r, r->code, r->code_count, &r->code_room, sizeof *r->code);
  r->code[r->code_count++] = CODE(kind_, operand);
}

/* ---- Words ---- */

static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

/* The next word; its length is 0 at the end. */
static word next_word(reader *r) {
  for (;;) {
    while (is_space(*r->at)) r->at++;
    if (*r->at != '#') break;
    while (*r->at && *r->at != '\n') r->at++;
  }
  word found = {r->at, 0};
  if (*r->at == '"') {
    for (r->at++; *r->at && *r->at != '"'; r->at++) {
      if (*r->at == '\\' && r->at[1]) r->at++;
    }
    if (!*r->at) wrong(r, "a text does not end", (word){found.at, (size_t)(r->at - found.at)});
    r->at++;
  } else {
    while (*r->at && !is_space(*r->at)) r->at++;
  }
  found.length = (size_t)(r->at - found.at);
  return found;
}

static bool is(word one, const char *other) {
  return one.length == strlen(other) && !memcmp(one.at, other, one.length);
}

/* Whether a word is a number, which goes to `number`. */
static bool is_number(word from, int64_t *number) {
  char *end;
  char first = from.at[0] == '-' && from.length > 1 ? from.at[1] : from.at[0];
  if (first < '0' || first > '9') return false;
  *number = strtoll(from.at, &end, 10);
  return end == from.at + from.length;
}

/* A text between quotes. */
AL_SAFEPOINT static al_value text_of(reader *r, word from) {
  char *bytes = realloc(r->text, from.length);
  if (!bytes) wrong(r, "no memory", from);
  r->text = bytes;
  size_t length = 0;
  for (size_t i = 1; i + 1 < from.length; i++) {
    char c = from.at[i];
    if (c == '\\') c = from.at[++i] == 'n' ? '\n' : from.at[i];
    bytes[length++] = c;
  }
  return new_text(r->vm, bytes, length);
}

/* ---- Bodies ---- */

/* The variable of a name, as an operand. */
static bool find(const variables *in, word name, size_t *operand) {
  for (size_t depth = 0; in; in = in->outer, depth += 1) {
    for (size_t i = in->count; i-- > 0;) {
      if (in->names[i].length != name.length) continue;
      if (memcmp(in->names[i].at, name.at, name.length)) continue;
      *operand = CODE_VARIABLE(depth, i);
      return true;
    }
  }
  return false;
}

/* Makes a block of the literals and instructions from there on. The first literal is the owner. */
AL_SAFEPOINT static al_value finish(reader *r, size_t literals, size_t code) {
  emit(r, RETURN, 0);
  al_mutator *mu = r->vm->mu;
  size_t slots = r->literal_count - literals, count = r->code_count - code;
  block *made_block = al_alloc_array(mu, shapes.block, slots + (count + 1) / 2);
  if (!made_block) wrong(r, "no memory", (word){"for code", 8});
  AL_SPAN;
  made_block->literals = slots;
  made_block->word = r->number;
  al_init(&made_block->owner, r->literals[literals]);
  for (size_t i = 0; i < slots; i++) al_init(&made_block->words[i], r->literals[literals + i]);
  al_init(&made_block->words[0], AL_NULL); /* the owner is weak */
  memcpy(made_block->words + slots, r->code + code, count * sizeof *r->code);
  r->literal_count = literals;
  r->code_count = code;
  al_words_set(&r->frame, r->literals, literals);
  return TAGGED(made_block, BLOCK);
}

AL_SAFEPOINT static void read_definition(reader *r);

/* Reads a body up to `end`, and makes it a block. `owner` is the number of a literal. */
AL_SAFEPOINT static al_value read_body(reader *r, variables *outer, size_t owner, const char *end) {
  variables own[MOST_SCOPES];
  size_t scopes = 0;
  variables *all = outer;
  size_t code = r->code_count;
  size_t first = literal(r, r->literals[owner]);
  for (;;) {
    word next = next_word(r);
    int64_t number;
    size_t operand;
    if (is(next, end)) break;
    if (!next.length) wrong(r, "the program ends before", (word){end, strlen(end)});
    if (is(next, "|")) {
      if (scopes == MOST_SCOPES) wrong(r, "too many rows of variables", next);
      variables *scope = &own[scopes++];
      *scope = (variables){.outer = all};
      for (next = next_word(r); next.length && !is(next, "|"); next = next_word(r)) {
        if (scope->count == MOST_VARIABLES) wrong(r, "too many variables", next);
        scope->names[scope->count++] = next;
      }
      all = scope;
      emit(r, BIND, scope->count);
    } else if (is(next, "[")) {
      al_value inner = read_body(r, all, first, "]");
      emit(r, QUOTE, literal(r, inner) - first);
    } else if (is(next, ":") && !*end) {
      read_definition(r);
    } else if (next.at[0] == '"') {
      al_value made_text = text_of(r, next);
      emit(r, PUSH, literal(r, made_text) - first);
    } else if (is_number(next, &number)) {
      emit(r, PUSH, literal(r, al_immediate(number)) - first);
    } else if (next.at[0] == '\'' && next.length > 1) {
      al_value name = intern(r->vm, next.at + 1, next.length - 1);
      emit(r, PUSH, literal(r, name) - first);
    } else if (next.at[0] == '!' && find(all, (word){next.at + 1, next.length - 1}, &operand)) {
      emit(r, SET, operand);
    } else if (find(all, next, &operand)) {
      emit(r, GET, operand);
    } else {
      al_value name = intern(r->vm, next.at, next.length);
      emit(r, CALL, literal(r, name) - first);
    }
  }
  return finish(r, first, code);
}

/* A closure of a block in the outermost scope. */
AL_SAFEPOINT static al_value closure_of(reader *r, al_value code) {
  size_t at = literal(r, code);
  closure *fresh = al_alloc(r->vm->mu, shapes.closure);
  if (!fresh) wrong(r, "no memory", (word){"for code", 8});
  al_init(&fresh->block, r->literals[at]);
  r->literal_count = at;
  al_words_set(&r->frame, r->literals, at);
  return TAGGED(fresh, CLOSURE);
}

static void read_definition(reader *r) {
  word name = next_word(r);
  if (!name.length) wrong(r, "a name is missing after", (word){":", 1});
  size_t outer_number = r->number;
  r->number = word_number(name.at, name.length);
  al_value owner = intern(r->vm, name.at, name.length);
  size_t at = literal(r, owner);
  al_value code = read_body(r, NULL, at, ";");
  al_value meaning = closure_of(r, code);
  define(r->vm, r->literals[at], meaning);
  r->literal_count = at;
  al_words_set(&r->frame, r->literals, at);
  r->number = outer_number;
}

AL_SAFEPOINT static void read_all(vm_state *vm, void *data) {
  reader *r = data;
  size_t none = literal(r, AL_NULL);
  al_value code = read_body(r, NULL, none, "");
  al_value program = closure_of(r, code);
  push(vm, program);
}

/* An error jumps over the reader. So the reader is guarded, frees what it has, and fails then. */
void compile(vm_state *vm, const char *source) {
  reader r = {.vm = vm, .at = source};
  r.number = word_number("main", 4);
  al_link(vm->mu, &r.frame, r.literals, 0);
  bool well = guarded(vm, read_all, &r);
  al_unlink(&r.frame);
  free(r.literals);
  free(r.code);
  free(r.text);
  if (!well) fail_again(vm);
}
