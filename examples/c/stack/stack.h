/* stack.h: a stack language over allotment: its objects, its machine, and its declarations.
 *
 * A program is a row of words that take values from a stack and leave values there. Every value is
 * one word of the heap: a number is an immediate, anything else a reference. A reference carries
 * the kind of its object as a tag, so a check of kinds reads no memory.
 *
 * The files follow one habit. A word that allocates leaves its arguments on the stack until it has
 * allocated: the stack is a frame, so the arguments stay current. It reads them afterwards. */
#ifndef STACK_H
#define STACK_H

#include <allotment.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>

/* -DBARE_READS, for `make barrier-cost`: reads of strong slots without their barrier. This is right
 * with Collector=parallel only, which moves objects in stops. */
#ifdef BARE_READS
#ifdef AL_CHECK
#error "-DBARE_READS and -DAL_CHECK exclude each other"
#endif
#define al_load(mu, slot) ((void)(mu), __atomic_load_n(&(slot)->bits_, __ATOMIC_RELAXED))
#endif

/* ---- Values and objects ---- */

typedef enum kind {
  NIL,
  NUMBER,
  PAIR,
  TEXT,
  SYMBOL,
  CLOSURE,
  ARRAY,
  TABLE,
  BOX,
  WEAK,
  TASK,
  GENERATOR,
  BLOCK,
  KINDS
} kind;

/* Macros, not inlines: AL_CHECK names the place where they are used. */
#define TAGGED(object, kind_) al_with_tag(al_ref(object), (uint64_t)(kind_) << 48)
#define AT(type, value) ((type *)al_addr(value))

AL_NO_SAFEPOINT static inline kind kind_of(al_value value) {
  if (al_is_null(value)) return NIL;
  return al_is_ref(value) ? (kind)(al_tag(value) >> 48) : NUMBER;
}

typedef struct pair {
  uint64_t header;
  al_slot first, rest;
} pair;

typedef struct text {
  uint64_t header;
  size_t length;
  char bytes[];
} text;

/* A name, of which there is one object. The meaning is null, the number of a primitive, or a
 * closure. */
typedef struct symbol {
  uint64_t header;
  al_slot name, meaning;
  uint64_t hash;
} symbol;

/* Compiled code: slots with the literals, then 32-bit instructions. No list can describe them, so
 * block_trace shows the slots. `literals` is written before another thread can see the object. */
typedef struct block {
  uint64_t header;
  size_t length;   /* of `words` */
  al_slot owner;   /* weak: the symbol that the code defines, for messages */
  size_t literals; /* slots in `words` */
  size_t word;     /* the number of the defined name, for profiles */
  al_slot words[];
} block;

typedef struct closure {
  uint64_t header;
  al_slot block, scope;
} closure;

/* Variables of a closure's call. The first element is the scope around it. Also an array. */
typedef struct array {
  uint64_t header;
  size_t length;
  al_slot at[];
} array;

typedef struct table {
  uint64_t header;
  al_slot entries; /* an array of keys and values by turns */
  size_t count;
} table;

/* A box, and with a weak slot a weak reference. */
typedef struct box {
  uint64_t header;
  al_slot held;
} box;

/* An object that stands for something in C memory. */
typedef struct native {
  uint64_t header;
  void *of;
} native;

typedef struct shapes_of_heap {
  al_shape pair, text, symbol, block, closure, scope, array;
  al_shape entries, table, box, weak, names, native;
} shapes_of_heap;
extern shapes_of_heap shapes;

/* ---- The machine: state that the threads of a program share ---- */

enum { SOFT = 64, BUCKET = 8 };

typedef struct machine {
  al_heap *heap;
  al_provider *provider;
  int64_t argument; /* the value of the word `argument` */

  /* A thread holds the lock between two [S] calls only. So no thread stops with the lock, and a
   * thread that waits for the lock need not be blocked. The provider shows the words as roots. */
  pthread_mutex_t lock;
  al_word names;       /* an array of weak slots: all symbols */
  uint64_t *hashes;    /* of the symbols there */
  al_word recent;      /* weak: the symbol that was looked up last */
  al_word definitions; /* a list of the symbols that have a meaning */
  al_word empty;       /* pinned: the empty text */
  char **words;        /* names of definitions by number, for profiles */
  size_t word_count;
  al_handle *soft[SOFT]; /* freed when the heap is full */
  size_t soft_next;
  struct task *tasks;
  struct generator *generators;
  uint64_t collections;
} machine;
extern machine the_machine;

/* ---- A thread, or a generator on one: a stack of values and of calls ---- */

/* A call of a closure. */
typedef struct activation {
  struct activation *outer;
  al_value *block; /* in the caller's frame */
  size_t word;
} activation;

/* The place that an error jumps to, and the state there. */
typedef struct trap {
  struct trap *outer;
  jmp_buf jump;
  al_frame_mark frames;
  activation *calls;
  size_t depth;
} trap;

typedef struct vm_state {
  al_mutator *mu;
  al_value *stack;
  size_t count, room;
  al_frame *frame;  /* of the stack: AL_WORDS */
  al_value *thrown; /* in a frame: the value of an error, if it has one */
  bool has_value;
  char error[256]; /* the text of an error without a value */
  trap *trap;
  activation *calls;
  size_t depth, most_depth;
  al_handle *parameter;        /* the thread's own variable */
  struct generator *generator; /* the generator that this is; NULL: the thread itself */
} vm_state;

/* The vm that runs on the calling thread; NULL before the first one. */
extern __thread vm_state *running;

/* run.c: calls, errors. A body runs with a stack of its own; false: it failed. */
typedef void vm_body(vm_state *vm, void *data);
AL_SAFEPOINT bool with_stack(vm_state *vm, vm_body *body, void *data);
AL_SAFEPOINT bool guarded(vm_state *vm, vm_body *body, void *data);
AL_SAFEPOINT void run(vm_state *vm, al_value called);
AL_SAFEPOINT void call_top(vm_state *vm);
AL_SAFEPOINT void error_value(vm_state *vm);
__attribute__((noreturn, format(printf, 2, 3))) void fail(vm_state *vm, const char *format, ...);
__attribute__((noreturn)) void fail_again(vm_state *vm);
void grow(vm_state *vm);

/* The object of an allocation. An error if there was no room. */
#define MADE(vm_, type, allocation) ((type *)made((vm_), (allocation)))
AL_NO_SAFEPOINT void *made(vm_state *vm, void *object);

AL_NO_SAFEPOINT static inline void push(vm_state *vm, al_value value) {
  if (vm->count == vm->room) grow(vm);
  vm->stack[vm->count++] = value;
  al_words_set(vm->frame, vm->stack, vm->count);
}
AL_NO_SAFEPOINT static inline void need(vm_state *vm, size_t count) {
  if (vm->count < count) fail(vm, "the stack has %zu values, not %zu", vm->count, count);
}
AL_NO_SAFEPOINT static inline void drop(vm_state *vm, size_t count) {
  vm->count -= count;
  al_words_set(vm->frame, vm->stack, vm->count);
}
/* The value that `depth` others lie on. */
AL_NO_SAFEPOINT static inline al_value peek(vm_state *vm, size_t depth) {
  return vm->stack[vm->count - 1 - depth];
}
AL_NO_SAFEPOINT static inline al_value pop(vm_state *vm) {
  need(vm, 1);
  al_value top = peek(vm, 0);
  drop(vm, 1);
  return top;
}
/* Demands kinds of the topmost values, the deepest first: a letter each, or `.` for any kind. */
AL_NO_SAFEPOINT void takes(vm_state *vm, const char *kinds);
AL_NO_SAFEPOINT static inline int64_t number_at(vm_state *vm, size_t depth) {
  return al_number(peek(vm, depth));
}

/* A primitive. true: the closure on top of the stack is to be called. */
typedef struct primitive {
  const char *name;
  bool (*run)(vm_state *vm);
} primitive;
extern const primitive control_words[], number_words[], list_words[], text_words[], table_words[],
    thread_words[], generator_words[], heap_words[];
AL_NO_SAFEPOINT const primitive *primitive_at(size_t number);

/* machine.c */
void heap_make(const char *options);
void heap_end(void);
AL_SAFEPOINT void machine_start(vm_state *vm);
AL_SAFEPOINT void machine_end(vm_state *vm);
void die(al_code code, const al_error *error);

/* symbols.c */
AL_SAFEPOINT al_value intern(vm_state *vm, const char *bytes, size_t length);
AL_SAFEPOINT void define(vm_state *vm, al_value name, al_value meaning);
AL_NO_SAFEPOINT size_t word_number(const char *bytes, size_t length);

/* reader.c: compiles a program, and leaves a closure of it on the stack. */
AL_SAFEPOINT void compile(vm_state *vm, const char *source);

/* texts.c */
typedef struct buffer {
  char *bytes;
  size_t count, room;
} buffer;
AL_NO_SAFEPOINT void describe(vm_state *vm, buffer *to, al_value value, bool quoted, int depth);
AL_NO_SAFEPOINT void add(buffer *to, const char *bytes, size_t count);
AL_ANY_THREAD bool write_all(const char *bytes, size_t count);
AL_SAFEPOINT al_value new_text(vm_state *vm, const char *bytes, size_t length);

/* tasks.c, generators.c */
AL_SAFEPOINT void join_all(vm_state *vm);
void free_generators(void);
void show_generators(al_visitor *visitor);

/* callbacks.c */
void choose_callbacks(al_options *options);

#endif /* STACK_H */
