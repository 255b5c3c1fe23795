/* code.h: the instructions of compiled code, and where a block has them. */
#ifndef CODE_H
#define CODE_H

#include "stack.h"

/* An instruction: the kind in the low byte, above it an operand: the number of a literal, a count,
 * or a variable's depth (8 bits) and index (16 bits). */
typedef enum code_kind {
  RETURN,
  PUSH,  /* literal: onto the stack */
  CALL,  /* literal: the meaning of that symbol */
  QUOTE, /* literal: a closure of that block and this scope */
  GET,   /* variable: onto the stack */
  SET,   /* variable: from the stack */
  BIND   /* count: so many variables from the stack, in a new scope */
} code_kind;

enum { MOST_OPERAND = (1 << 24) - 1 };

#define CODE(kind, operand) ((uint32_t)(kind) | (uint32_t)(operand) << 8)
#define CODE_KIND(code) ((code)&0xff)
#define CODE_OPERAND(code) ((code) >> 8)
#define CODE_VARIABLE(depth, index) ((uint32_t)(depth) | (uint32_t)(index) << 8)
#define CODE_DEPTH(code) ((code) >> 8 & 0xff)
#define CODE_INDEX(code) ((code) >> 16)

/* The instructions lie after the literals. */
AL_NO_SAFEPOINT static inline const uint32_t *block_code(const block *of) {
  return (const uint32_t *)(const void *)(of->words + of->literals);
}

#endif /* CODE_H */
