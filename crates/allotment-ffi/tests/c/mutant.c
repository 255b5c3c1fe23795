/* The model test with a header that lacks one barrier, or none. */
#include <allotment/layout.h>

#if defined(MUTANT_NO_LOAD_BARRIER)
#undef AL_LOAD_BITS
#define AL_LOAD_BITS 0
#elif defined(MUTANT_NO_SATB)
#undef AL_STORE_BITS
#define AL_STORE_BITS 0
#elif defined(MUTANT_NO_CARD)
#undef AL_DIRTY_CARD
#define AL_DIRTY_CARD 0
#elif defined(MUTANT_NO_COPY_BARRIER)
#undef AL_COPY_BITS
#define AL_COPY_BITS 0
#endif

#include "model.c"
