/* The same uses in C++. */
#include "uses.c"
