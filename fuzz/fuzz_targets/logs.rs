//! Logs of JVMs: tables, verdicts, replay, JSON and page of whatever was found in them.
#![no_main]

use allotment_tools::command::tell_tlab_log;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Err(error) = tell_tlab_log(bytes) {
        assert!(!error.is_empty());
    }
});
