//! Generated allocations beside the library's: the same bytes at the same places.
