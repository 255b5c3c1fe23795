//! Option texts, as `ALLOTMENT_OPTIONS` and `HeapBuilder::options` read them. No heap is built:
//! what it would reserve and touch is up to the text.
#![no_main]

use allotment::options::{OptionSet, Source};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut set = OptionSet::new();
    match set.apply_str(text, Source::Builder) {
        Ok(()) => is_read_back(&set),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});

/// Each value that is printed is read, and printed as before.
fn is_read_back(set: &OptionSet) {
    let mut again = OptionSet::new();
    for row in set.rows() {
        again.set(row.info.name, &row.value, Source::Builder).unwrap();
    }
    set.rows().zip(again.rows()).for_each(|(one, other)| assert_eq!(one.value, other.value));
}
