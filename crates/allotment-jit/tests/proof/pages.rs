//! The memory of code: pages that are executed and never written, names for profilers, and
//! functions that call each other.

use super::kit::{ANY, assembled};
use allotment::raw::{Header, PrefetchSettings};
use allotment_jit::{Allocation, Code, CodeBuffer, Emitter, Initialise, PerfMap};
use iced_x86::code_asm::registers::gpr64::{rax, rdi};
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
    let emitter = Emitter::new(ANY, PrefetchSettings::OFF).unwrap();
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
                    let (held, _) = permissions(start..start + bytes);
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
    let twice = buffer.add(
        "twice",
        assembled(|a| {
            a.lea(rax, rdi + rdi)?;
            a.ret()
        }),
    );
    let code = buffer.finish(|_| None).unwrap();
    let (hot, cold) = code.bytes(twice);
    assert_eq!((hot.last(), cold), (Some(&0xC3), &[][..]));
    // SAFETY: a function of that signature.
    let function: unsafe extern "C" fn(u64) -> u64 = unsafe { transmute(code.entry(twice)) };
    // SAFETY: it adds.
    assert_eq!(unsafe { function(21) }, 42);
    // A buffer without functions does not fail.
    assert!(CodeBuffer::default().finish(|_| None).unwrap().functions().is_empty());
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
