//! Address space and the machine: what the heap stands on.
