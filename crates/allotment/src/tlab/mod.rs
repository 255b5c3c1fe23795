//! Thread-local allocation buffers: how large, when to refill, what was wasted.
