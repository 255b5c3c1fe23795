//! Option texts, as `ALLOTMENT_OPTIONS` and `HeapBuilder::options` read them.
#![no_main]

use allotment::Heap;
use allotment::options::{OptionSet, Source};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut set = OptionSet::new();
    match set.apply_str(text, Source::Builder) {
        Ok(()) => set.rows().for_each(|row| assert!(!format!("{row:?}").is_empty())),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    // A heap is not built: what it would reserve and touch is up to the text.
    let _ = Heap::builder().options(text);
});
