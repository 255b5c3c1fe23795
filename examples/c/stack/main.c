/* main.c: the command. Runs each program with a heap that is reset between them.
 *
 * usage: stack [--options TEXT] [--argument N] PROGRAM..
 *        stack --manual | --layout | --version */
#include "stack.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 4000 };

static int usage(void) {
  fputs("usage: stack [--options TEXT] [--argument N] PROGRAM..\n"
        "       stack --manual | --layout | --version\n",
        stderr);
  return 2;
}

/* The constants of the library, as a compiler in C would read them. */
static int print_layout(void) {
  size_t count;
  const al_layout_row *rows = al_layout(&count);
  for (size_t i = 0; i < count; i++) {
    printf("%-32s %#llx  %s\n", rows[i].name, (unsigned long long)rows[i].value, rows[i].text);
  }
  return 0;
}

/* The versions of header and library; and the answer to a program with another header. */
static int print_version(void) {
  printf("allotment %s, ABI %#x, header %#x\n", al_version(), al_abi(), AL_ABI);
  al_error error = {.size = sizeof error};
  al_heap *heap = NULL;
  al_code code = al_heap_new_abi(AL_ABI + 1, NULL, &heap, &error);
  printf("with another header: %s: %s\n", al_code_text(code), error.text);
  return code == AL_E_ABI && al_abi() == AL_ABI ? 0 : 1;
}

static char *read_file(const char *path) {
  FILE *from = fopen(path, "rb");
  if (!from) return NULL;
  size_t count = 0, room = 4096;
  char *bytes = malloc(room);
  while (bytes) {
    count += fread(bytes + count, 1, room - count - 1, from);
    if (count < room - 1) break;
    room *= 2;
    char *larger = realloc(bytes, room);
    if (!larger) free(bytes);
    bytes = larger;
  }
  fclose(from);
  if (bytes) bytes[count] = 0;
  return bytes;
}

AL_SAFEPOINT static void run_program(vm_state *vm, void *data) {
  machine_start(vm);
  compile(vm, data);
  call_top(vm);
}

static bool run_file(const char *path) {
  char *source = read_file(path);
  if (!source) {
    fprintf(stderr, "stack: cannot read %s\n", path);
    return false;
  }
  machine *m = &the_machine;
  al_error error = {.size = sizeof error};
  vm_state vm = {.most_depth = MOST_DEPTH};
  al_code code = al_attach(m->heap, &vm.mu, &error);
  if (code != AL_OK) die(code, &error);
  running = &vm;
  vm.parameter = al_handle_new(vm.mu, AL_NULL);
  bool well = with_stack(&vm, run_program, source);
  if (!well) fprintf(stderr, "stack: %s: %s\n", path, vm.error);
  machine_end(&vm);
  al_handle_free(vm.parameter);
  al_detach(vm.mu);
  running = NULL;
  free(source);
  code = al_heap_reset(m->heap, &error);
  if (code != AL_OK) die(code, &error);
  al_heap_uncommit(m->heap);
  return well;
}

int main(int count, char **arguments) {
  const char *options = NULL;
  int at = 1;
  for (; at < count && !strncmp(arguments[at], "--", 2); at++) {
    const char *argument = arguments[at];
    if (!strcmp(argument, "--manual")) return puts(al_manual()) < 0;
    if (!strcmp(argument, "--layout")) return print_layout();
    if (!strcmp(argument, "--version")) return print_version();
    if (at + 1 == count) return usage();
    if (!strcmp(argument, "--options")) {
      options = arguments[++at];
    } else if (!strcmp(argument, "--argument")) {
      the_machine.argument = atoll(arguments[++at]);
    } else {
      return usage();
    }
  }
  if (at == count) return usage();
  heap_make(options);
  bool well = true;
  for (; at < count; at++) well &= run_file(arguments[at]);
  heap_end();
  return well ? 0 : 1;
}
