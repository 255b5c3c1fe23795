//! Names for addresses of this program, in a profile that is made by hand.

use super::tests::writer::Out;
use super::*;
use allotment_symbols::{Binary, Symbols};
use std::fs;

/// A function of this program with another inside.
#[inline(never)]
extern "C" fn marked(number: u64) -> u64 {
    inlined(std::hint::black_box(number))
}

#[inline(always)]
fn inlined(number: u64) -> u64 {
    std::hint::black_box(number) + 1
}

/// The mapping with an address: its start, its end, and its offset.
fn mapping(address: u64) -> [u64; 3] {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let hexadecimal = |text| u64::from_str_radix(text, 16).unwrap();
    let lines = maps.lines().map(|line| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        let (start, end) = columns[0].split_once('-').unwrap();
        [hexadecimal(start), hexadecimal(end), hexadecimal(columns[2])]
    });
    lines.into_iter().find(|[start, end, _]| (*start..*end).contains(&address)).unwrap()
}

/// A profile with a sample at `address`, where `build_id` says what is mapped there, and one outside
/// all files. Function 7 is another location's. Field 99 is of a later version of the format.
fn profile(address: u64, build_id: &str) -> Vec<u8> {
    let pair = |first, second| Out::default().number(1, first).number(2, second);
    let [start, limit, offset] = mapping(address);
    let path = std::env::current_exe().unwrap();
    let mapped = pair(3, start).number(3, limit).number(4, offset).number(5, 2).number(6, 3);
    let texts = ["", "space", path.to_str().unwrap(), build_id, "named"];
    let out = Out::default()
        .message(1, pair(1, 1))
        .message(3, mapped.number(77, 5))
        .message(2, Out::default().bytes(1, &[1, 2, 3]).number(2, 8))
        .message(4, pair(1, 3).number(3, address))
        .message(4, pair(2, 0).number(3, 0xbeef))
        .message(4, pair(3, 3).number(3, address + 1).message(4, pair(7, 12)))
        .message(5, pair(7, 4))
        .number(99, 1);
    texts.iter().fold(out, |out, text| out.bytes(6, text.as_bytes())).0
}

#[test]
fn an_address_gets_its_functions_and_all_else_stays() {
    let address = marked as *const () as u64 + 1;
    let own = Binary::open(&std::env::current_exe().unwrap()).unwrap();
    let before = profile(address, own.build_id());
    let found = symbolize(&before[..], &mut Symbols::default()).unwrap();
    let told = &found.mappings[0];
    assert_eq!((told.addresses, told.named, told.named_before, told.is_found), (2, 1, 1, true), "{found:?}");
    assert_eq!(found.elsewhere, 1);
    let read = Profile::read(&found.bytes[..], None).unwrap();
    let names: Vec<&str> = read.functions.keys().map(String::as_str).collect();
    assert!(names.contains(&"0xbeef") && names.contains(&"named"), "{names:?}");
    assert!(names.iter().any(|name| name.ends_with("symbolize_tests::marked")), "{names:?}");
    // A field that is not known here is still there, and a second time changes nothing.
    assert!(found.bytes.windows(3).any(|bytes| bytes == [0x98, 0x06, 0x01]));
    let again = symbolize(&found.bytes[..], &mut Symbols::default()).unwrap();
    assert_eq!((again.mappings[0].named, again.mappings[0].named_before), (0, 2));
    assert_eq!(Profile::read(&again.bytes[..], None).unwrap().functions, read.functions);
    assert_eq!(marked(1), 2);
}

#[test]
fn names_of_another_build_are_not_taken() {
    let address = marked as *const () as u64 + 1;
    let before = profile(address, "abcdef0123");
    let found = symbolize(&before[..], &mut Symbols::default()).unwrap();
    assert_eq!((found.mappings[0].named, found.mappings[0].is_found), (0, false));
    let own = Binary::open(&std::env::current_exe().unwrap()).unwrap();
    if own.build_id().is_empty() {
        eprintln!("left out: this program has no build id");
        return;
    }
    let mut symbols = Symbols::new(vec![own]);
    assert_eq!(symbolize(&before[..], &mut symbols).unwrap().mappings[0].named, 0);
    assert_eq!(symbols.unused().count(), 1);
}
