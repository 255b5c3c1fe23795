//! Profiles in pprof's form, packed or not: tables by function and shape, differences, names for
//! addresses, flame graphs.
#![no_main]

use allotment_tools::command::tell_profile;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Err(error) = tell_profile(bytes) {
        assert!(!error.is_empty());
    }
});
