/* allotment/value.h: values under AL_CHECK. Included by allotment.h. */
#ifndef ALLOTMENT_VALUE_H
#define ALLOTMENT_VALUE_H

/* A place in the program. */
typedef struct al_place {
  const char *file;
  size_t line;
} al_place;

/* A word in a variable, with the number of [S] calls before it was read, and the place where it was
 * read. Both are immediates, so a frame of values consists of words. */
typedef struct al_value {
  al_word bits_;
  uintptr_t stamp_;
  uintptr_t place_;
} al_value;

#ifdef __cplusplus
#define AL_NULL (al_value{0, 0, 0})
#else
#define AL_NULL ((al_value){0, 0, 0})
#endif

#endif /* ALLOTMENT_VALUE_H */
