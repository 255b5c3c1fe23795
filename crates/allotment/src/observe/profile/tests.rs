//! The references in a profile's file, and the names of native functions in it.

use super::pprof::SLOW_PATH;
use super::{AllocationProfile, AllocationSite};
use crate::mutator::DroppedSamples;
use crate::platform::code_files;
use std::collections::HashMap;
use std::io::Read;
use std::time::{Duration, SystemTime};

/// Code that names the functions of the slow path.
const SOURCES: [&str; 5] = [
    include_str!("../../api/alloc.rs"),
    include_str!("../../mutator/alloc/burst.rs"),
    include_str!("../../mutator/alloc/fast.rs"),
    include_str!("../../mutator/alloc/refill.rs"),
    include_str!("../../mutator/alloc/room.rs"),
];

#[test]
fn the_functions_that_tools_leave_out_are_there() {
    let names = SLOW_PATH.trim_start_matches("(.*::)?(").trim_end_matches(")(::<.*>)?");
    assert!(names.split('|').count() > 5);
    for name in names.split('|') {
        let is_there = |end| SOURCES.iter().any(|source| source.contains(&format!("fn {name}{end}")));
        assert!(is_there("(") || is_there("<"), "{name}");
    }
}

/// A function that only this profile calls.
#[inline(never)]
extern "C" fn asked_for_by_nobody(number: u64) -> u64 {
    std::hint::black_box(number) + 1
}

/// The file, not packed, of a profile whose only stack has these return addresses.
fn file(frames: &[u64]) -> Vec<u8> {
    let site = AllocationSite {
        type_name: "Pair".into(),
        bytes: 24,
        interval: 1024,
        samples: 1,
        living_samples: 1,
        stack: 0,
    };
    let profile = AllocationProfile {
        sites: vec![site],
        stacks: vec![[&[0], frames].concat().into()],
        names: HashMap::new(),
        files: code_files(),
        interval: 1024,
        taken: SystemTime::UNIX_EPOCH,
        age: Duration::ZERO,
        dropped: DroppedSamples::default(),
    };
    let (mut packed, mut bytes) = (Vec::new(), Vec::new());
    profile.write(&mut packed).unwrap();
    flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap();
    bytes
}

fn has(file: &[u8], text: &str) -> bool {
    file.windows(text.len()).any(|bytes| bytes == text.as_bytes())
}

/// Regression: a profile of a program with frame pointers had addresses and no names, so tools that
/// open no programs showed nothing.
#[test]
#[cfg(all(feature = "symbols", not(miri)))]
fn native_functions_are_named_in_the_file_with_their_source() {
    // A return address: after the first byte of the function.
    let address = asked_for_by_nobody as *const () as u64 + 1;
    let named = file(&[address, 0xbeef]);
    assert!(has(&named, "allotment::observe::profile::tests::asked_for_by_nobody"), "the function is named");
    assert!(has(&named, "profile/tests.rs"), "its source is named");
    // The mapping says that all is named: the fields 7 to 10, each 1.
    assert!(has(&named, "\x38\x01\x40\x01\x48\x01\x50\x01"));
    assert_eq!(asked_for_by_nobody(1), 2);
    // An address in the headers of this program's file: not all is named, and the file does not say
    // so.
    let here = code_files().into_iter().find(|file| (file.start..file.end).contains(&address)).unwrap();
    let partly = file(&[address, here.end]);
    assert!(has(&partly, "asked_for_by_nobody") && !has(&partly, "\x38\x01\x40\x01"));
}

#[test]
#[cfg(all(feature = "symbols", not(miri)))]
fn functions_made_at_run_time_are_named_by_the_perf_map() {
    // Other tests of this process have no such map.
    let path = format!("/tmp/perf-{}.map", std::process::id());
    std::fs::write(&path, "10 20 made-at-run-time\n").unwrap();
    let named = file(&[0x18]);
    std::fs::remove_file(path).unwrap();
    assert!(has(&named, "made-at-run-time"));
}

#[test]
#[cfg(not(feature = "symbols"))]
fn without_the_feature_the_file_has_addresses_alone() {
    let address = asked_for_by_nobody as *const () as u64 + 1;
    assert!(!has(&file(&[address]), "asked_for_by_nobody"));
    assert_eq!(asked_for_by_nobody(1), 2);
}
