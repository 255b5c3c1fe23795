//! Result files, the lab's and JMH's, and the page that is made of them.
#![no_main]

use allotment_lab::format::read_json_bytes;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Err(error) = read_json_bytes(bytes) {
        assert!(!error.to_string().is_empty());
    }
});
