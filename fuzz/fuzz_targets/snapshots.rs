//! Heap snapshots in both formats: summaries, dominators, paths, differences and layouts of them.
#![no_main]

use allotment_tools::command::tell_heap;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Err(error) = tell_heap(bytes) {
        assert!(!error.is_empty());
    }
});
