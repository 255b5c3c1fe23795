//! The memory of code: pages that are executed and never written, names for profilers, and
//! functions that call each other.

use super::kit::{Conventions, own};
use allotment::raw::{Header, PrefetchSettings};
use allotment_jit::{
    Allocation, Code, CodeBuffer, Emitter, Function, FunctionId, Initialise, Machine, PerfMap, Sequence,
};
use std::mem::transmute;

/// The permissions of each mapping that holds an address of `range`, and of all mappings that are
/// both written and executed.
fn permissions(range: std::ops::Range<usize>) -> (Vec<String>, usize) {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let (mut held, mut both) = (Vec::new(), 0);
    for line in maps.lines() {
        let mut fields = line.split(' ');
        let (addresses, access) = (fields.next().unwrap(), fields.next().unwrap());
        let (from, to) = addresses.split_once('-').unwrap();
        let [from, to] = [from, to].map(|number| usize::from_str_radix(number, 16).unwrap());
        both += usize::from(access.contains('w') && access.contains('x'));
        if from < range.end && range.start < to {
            held.push(access.to_owned());
        }
    }
    (held, both)
}

fn stubs(count: usize) -> Code {
    let emitter = Emitter::new(Machine::HOST.processor(), PrefetchSettings::OFF).unwrap();
    let mut buffer = CodeBuffer::default();
    for words in 2..2 + count {
        let object = Allocation::with_header(Header::from_bits(1 << 8), words * 8).unwrap();
        buffer.add(format!("new_{}", words * 8), emitter.stub(object, Initialise::ByCaller).unwrap());
    }
    buffer.finish(|_| None).unwrap()
}

/// Regression: the observing thread waited for a word that the code-making thread never gave after
/// a failure. Also, the list of mappings is not a snapshot: while other threads map and unmap, a
/// mapping may be in it twice.
#[test]
fn pages_are_executed_and_not_written() {
    let make = || {
        for count in [1, 10, 200] {
            let code = stubs(count);
            for function in code.functions() {
                for (start, bytes) in
                    [(function.address, function.hot_bytes), (function.cold_address, function.cold_bytes)]
                {
                    assert!(bytes > 0);
                    assert_eq!(start % 32, 0);
                    // An emulator's list may lack a mapping while other threads map and unmap.
                    let mut lists = (0..100).map(|_| permissions(start..start + bytes).0);
                    let held = lists.find(|held| !held.is_empty()).unwrap_or_default();
                    assert!(!held.is_empty() && held.iter().all(|access| access == "r-xp"), "{held:?}");
                }
            }
        }
    };
    std::thread::scope(|scope| {
        let maker = scope.spawn(make);
        // At no moment may a page be both written and executed.
        loop {
            assert_eq!(permissions(0..0).1, 0);
            if maker.is_finished() {
                break;
            }
        }
        maker.join().unwrap();
    });
}

#[test]
fn parts_do_not_overlap_and_are_read_as_they_run() {
    let code = stubs(50);
    let parts = code
        .functions()
        .iter()
        .flat_map(|one| [(one.address, one.hot_bytes), (one.cold_address, one.cold_bytes)]);
    let mut parts: Vec<(usize, usize)> = parts.collect();
    parts.sort_unstable();
    assert!(parts.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0), "{parts:x?}");

    let mut buffer = CodeBuffer::default();
    // lea rax, [rdi + rdi]; ret, and add x0, x0, x0; ret
    let twice_is = own(&[0x48, 0x8D, 0x04, 0x3F, 0xC3], &[0x8B00_0000, 0xD65F_03C0]);
    let twice = buffer.add("twice", twice_is.clone());
    let code = buffer.finish(|_| None).unwrap();
    let (hot, cold) = code.bytes(twice);
    assert_eq!((hot, cold), (twice_is.hot(), &[][..]));
    // SAFETY: a function of that signature.
    let function: unsafe extern "C" fn(u64) -> u64 = unsafe { transmute(code.entry(twice)) };
    // SAFETY: it adds.
    assert_eq!(unsafe { function(21) }, 42);
    // A buffer without functions does not fail.
    assert!(CodeBuffer::default().finish(|_| None).unwrap().functions().is_empty());
}

/// The jumps of AArch64 do not reach from the first hot part to the last cold one.
#[test]
fn parts_of_a_function_lie_within_reach_of_its_jumps() {
    let emitter = Emitter::new(Machine::HOST.processor(), PrefetchSettings::OFF).unwrap();
    let object = Allocation::with_header(Header::from_bits(1 << 8), 16).unwrap();
    let mut long = emitter.stub(object, Initialise::ByCaller).unwrap();
    long.append(&Sequence::code(Machine::HOST, &[0; 100 << 10], &[]).unwrap()).unwrap();
    let mut buffer = CodeBuffer::default();
    for number in 0..40 {
        buffer.add(format!("long_{number}"), long.clone());
    }
    let code = buffer.finish(|_| None).unwrap();
    let of = |one: &Function| [(one.address, one.hot_bytes), (one.cold_address, one.cold_bytes)];
    let mut parts: Vec<(usize, usize)> = code.functions().iter().flat_map(of).collect();
    parts.sort_unstable();
    assert!(parts.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0), "{parts:x?}");
}

/// A function that returns that number.
fn constant(number: u16) -> (Code, FunctionId) {
    let [low, high] = number.to_le_bytes();
    // mov eax, number; ret, and movz x0, #number; ret
    let function = own(&[0xB8, low, high, 0, 0, 0xC3], &[0xD280_0000 | u32::from(number) << 5, 0xD65F_03C0]);
    let mut buffer = CodeBuffer::default();
    let id = buffer.add("constant", function);
    (buffer.finish(|_| None).unwrap(), id)
}

/// The system gives pages of code that is gone to other code, which other threads run at once.
#[test]
fn code_runs_where_other_code_was_before() {
    let (to_thread, address) = std::sync::mpsc::channel::<usize>();
    let (to_maker, answer) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for address in address {
                // SAFETY: the maker keeps the code until the answer.
                let function: extern "C" fn() -> u64 =
                    unsafe { transmute(std::ptr::with_exposed_provenance::<u8>(address)) };
                to_maker.send(function()).unwrap();
            }
        });
        let mut addresses = Vec::new();
        for number in 0..300 {
            let (code, id) = constant(number);
            assert!(code.is_synchronised());
            addresses.push(code.entry(id).expose_provenance());
            to_thread.send(code.entry(id).expose_provenance()).unwrap();
            assert_eq!(answer.recv().unwrap(), u64::from(number));
        }
        drop(to_thread);
        addresses.sort_unstable();
        addresses.dedup();
        println!("300 functions at {} addresses", addresses.len());
    });
}

#[test]
fn profilers_are_told_names_addresses_and_sizes() {
    let code = stubs(3);
    let mut map = PerfMap::open().unwrap();
    code.publish(&mut map).unwrap();
    map.add(0x1000, 16, "a\nb").unwrap();
    let text = std::fs::read_to_string(PerfMap::path()).unwrap();
    std::fs::remove_file(PerfMap::path()).unwrap();
    assert_eq!(PerfMap::path().to_str().unwrap(), format!("/tmp/perf-{}.map", std::process::id()));
    let mut expected = Vec::new();
    for one in code.functions() {
        expected.push(format!("{:x} {:x} {}", one.address, one.hot_bytes, one.name));
        expected.push(format!("{:x} {:x} {}_slow", one.cold_address, one.cold_bytes, one.name));
    }
    expected.push("1000 10 a b".into());
    assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    assert!(text.contains(" new_16\n") && text.contains(" new_32_slow\n"), "{text}");
}
