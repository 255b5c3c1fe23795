//! The code for AArch64.
//!
//! The decoder writes instructions as text. It knows no aliases: `mov` of a register is `orr`, and
//! `cmp` is `subs`.

use crate::example;
use allotment::raw::Hot;
use disarm64::InsnDisplay;
use std::sync::LazyLock;

/// From the load of `top` to the stores of the header and of the new top, all included. One `ldp`
/// loads the top and the limit. The header is in a register.
const RAW: usize = 6;

/// The limit of zeroed memory is no neighbour of the top, so it has a load of its own.
const AHEAD: usize = RAW + 1;

/// The safe API loads the header from the type's static.
const SAFE: usize = RAW + 1;

/// Where a mutator has the card table, biased: behind the pointer to its state.
const MUTATORS_CARDS: usize = 8;

/// An instruction.
#[derive(Clone, Debug, PartialEq)]
struct Line {
    address: u64,
    mnemonic: String,
    /// What follows the mnemonic, separated by commas.
    operands: String,
}

/// A place in memory: `[base, #offset]`.
#[derive(Debug, PartialEq)]
struct Place<'l> {
    base: &'l str,
    offset: usize,
}

impl Line {
    fn decode(address: u64, word: [u8; 4]) -> Line {
        let decoded = disarm64::decoder::decode(u32::from_le_bytes(word)).expect("an instruction");
        let text = decoded.display_at(address).to_string();
        let (mnemonic, operands) = text.split_once(char::is_whitespace).unwrap_or((&text, ""));
        Line { address, mnemonic: mnemonic.into(), operands: operands.trim().into() }
    }

    fn is(&self, mnemonics: &[&str]) -> bool {
        mnemonics.contains(&&*self.mnemonic)
    }

    /// The operand of that number, counted from 0.
    fn operand(&self, number: usize) -> &str {
        self.operands.split(", ").nth(number).unwrap_or_default()
    }

    /// What it reads or writes in memory, unless a register is the offset.
    fn place(&self) -> Option<Place<'_>> {
        let (_, place) = self.operands.split_once('[')?;
        let (place, _) = place.split_once(']')?;
        let (base, offset) = place.split_once(", ").unwrap_or((place, "#0"));
        Some(Place { base, offset: number(offset)? as usize })
    }

    fn is_at(&self, base: &str, offset: usize) -> bool {
        self.place() == Some(Place { base, offset })
    }

    /// Where it may branch to.
    fn target(&self) -> Option<u64> {
        let is_conditional = self.mnemonic.starts_with("b.") || self.is(&["cbz", "cbnz", "tbz", "tbnz"]);
        let target = self.operands.rsplit(", ").next().and_then(number);
        if is_conditional { Some(target.expect("a branch has a target")) } else { None }
    }

    /// Whether it moves one register to another.
    fn is_move(&self) -> bool {
        self.mnemonic == "orr" && self.operand(1) == "xzr" && self.operands.split(", ").count() == 3
    }
}

/// A number of an operand: `#8`, `#0x10` or `0x1000`.
fn number(text: &str) -> Option<u64> {
    let text = text.trim_start_matches('#');
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// The instructions of a function, in order of address. `None` if the example cannot be built here.
fn disassemble(name: &str) -> Option<Vec<Line>> {
    static EXAMPLE: LazyLock<Option<Vec<u8>>> = LazyLock::new(example::aarch64);
    let (address, code) = example::function(EXAMPLE.as_ref()?, name);
    let (words, _) = code.as_chunks();
    Some((address..).step_by(4).zip(words).map(|(address, word)| Line::decode(address, *word)).collect())
}

/// Disassembles a function, or ends the test.
macro_rules! code {
    ($name:expr) => {
        match disassemble($name) {
            Some(code) => code,
            None => return,
        }
    };
}

fn listing(code: &[Line]) -> String {
    code.iter().map(|one| format!("{:x} {} {}\n", one.address, one.mnemonic, one.operands)).collect()
}

/// Whether it stores the object's first word, alone or with a zero.
fn stores_header(one: &Line, top: &str) -> bool {
    one.is(&["str", "stp"]) && one.is_at(top, 0)
}

/// The fast path of a probe: from the load of the top to the stores of the header and of the new
/// top, and the prefetches behind them, without stores of the body in between.
fn fast_path(code: &[Line]) -> Vec<Line> {
    let found = code.iter().enumerate().find_map(|(start, load)| {
        let Place { base: state, offset: Hot::TOP_OFFSET } = load.place()? else { return None };
        let top = load.operand(0);
        if !load.is(&["ldr", "ldp"]) || top == state {
            return None;
        }
        let rest = &code[start..];
        let bump = rest.iter().position(|one| one.is(&["str"]) && one.is_at(state, Hot::TOP_OFFSET))?;
        let header = rest.iter().position(|one| stores_header(one, top))?;
        let end = bump.max(header) + 1;
        let ahead = rest[end..].iter().take_while(|one| one.is(&["prfm"])).count();
        let body = |one: &&Line| one.is(&["str", "stp"]) && one.operand(0).starts_with('q');
        Some(rest[..end + ahead].iter().filter(|one| !body(one)).cloned().collect())
    });
    found.unwrap_or_else(|| panic!("no fast path:\n{}", listing(code)))
}

fn assert_path(path: &[Line], instructions: usize) {
    let text = listing(path);
    assert_eq!(path.len(), instructions, "{text}");
    let branches: Vec<&str> =
        path.iter().filter(|one| one.target().is_some()).map(|one| &*one.mnemonic).collect();
    assert_eq!(branches, ["b.hi"], "one compare, one branch:\n{text}");
    assert!(!path.iter().any(|one| one.is(&["bl", "blr", "b"])), "no call:\n{text}");
    assert!(
        path.iter().all(|one| one.place().is_none_or(|at| at.base != "sp")),
        "nothing is spilled:\n{text}"
    );
}

/// How far behind the new top each prefetch is.
fn prefetches(path: &[Line]) -> Vec<usize> {
    let prefetches = path.iter().filter(|one| one.is(&["prfm"]) && one.operand(0) == "pstl1keep");
    prefetches.map(|one| one.place().expect("an address").offset).collect()
}

#[test]
fn an_object_costs_six_instructions_with_its_header_in_a_register() {
    for probe in ["probe_by_caller", "probe_unique"] {
        let path = fast_path(&code!(probe));
        assert_path(&path, RAW);
        assert_eq!(path[0].mnemonic, "ldp", "top and limit are one load:\n{}", listing(&path));
        assert!(prefetches(&path).is_empty());
    }
}

#[test]
fn the_default_adds_a_prefetch_for_each_line_of_the_object() {
    let probes: [(_, &[usize]); 3] = [
        ("probe_default", &[256]),
        ("probe_default_two_lines", &[256, 320]),
        ("probe_default_three_lines", &[256, 320, 384]),
    ];
    for (probe, lines) in probes {
        let path = fast_path(&code!(probe));
        assert_path(&path, RAW + lines.len());
        assert_eq!(prefetches(&path), lines, "{probe}:\n{}", listing(&path));
    }
}

#[test]
fn in_a_burst_the_default_prefetches_for_objects_of_a_line_and_more() {
    for (probe, lines) in [("probe_burst_default_small", &[][..]), ("probe_burst_default_line", &[256])] {
        let code = code!(probe);
        let body = innermost_loop(&code);
        assert_eq!(prefetches(body), lines, "{probe}:\n{}", listing(body));
    }
}

/// The body of 64 bytes: the pair with the header, a vector, a pair of vectors.
#[test]
fn zeroing_per_object_comes_after_the_six() {
    for probe in ["probe_per_object", "probe_per_object_avx2"] {
        let code = code!(probe);
        assert_path(&fast_path(&code), RAW);
        let body = innermost_loop(&code);
        let stores: Vec<&str> =
            body.iter().filter(|one| one.is(&["str", "stp"])).map(|one| one.operand(0)).collect();
        assert_eq!(
            stores.iter().filter(|register| register.starts_with('q')).count(),
            2,
            "{}",
            listing(body)
        );
        assert_eq!(stores.len(), 4, "two more: the header with a zero, the top:\n{}", listing(body));
    }
}

#[test]
fn memory_zeroed_ahead_compares_with_the_other_limit() {
    let path = fast_path(&code!("probe_ahead"));
    assert_path(&path, AHEAD);
    let state = path[0].place().expect("a load").base;
    let limit = |one: &&Line| one.is(&["ldr"]) && one.is_at(state, Hot::ZEROED_LIMIT_OFFSET);
    assert_eq!(path.iter().filter(limit).count(), 1, "{}", listing(&path));
}

/// A function's loop: the code that a backward branch closes, without a call. Cold code that jumps
/// back is longer.
fn innermost_loop(code: &[Line]) -> &[Line] {
    let loops = code.iter().enumerate().filter_map(|(end, branch)| {
        let target = branch.target().filter(|target| *target < branch.address)?;
        let body = &code[code.iter().position(|one| one.address == target)?..=end];
        (!body.iter().any(|one| one.mnemonic == "bl")).then_some(body)
    });
    loops.min_by_key(|body| body.len()).expect("a loop")
}

/// Those that read or write memory.
fn touching(code: &[Line]) -> usize {
    code.iter().filter(|one| one.operands.contains('[') && one.mnemonic != "prfm").count()
}

#[test]
fn a_loop_reaches_the_buffer_without_a_load_for_each_object() {
    // Top and limit, header, top. In the safe API also the type's header and two fields. For arrays
    // the length, read and written with the header; for a poll the request.
    let probes = [("probe_by_caller", 3), ("probe_unique", 3), ("probe_alloc_loop", 5), ("probe_poll", 5)];
    for (probe, accesses) in probes {
        let code = code!(probe);
        let body = innermost_loop(&code);
        assert_eq!(touching(body), accesses, "{probe}:\n{}", listing(body));
    }
}

#[test]
fn a_burst_touches_no_memory_but_the_objects() {
    for probe in ["probe_burst", "probe_burst_per_object"] {
        let code = code!(probe);
        let body = innermost_loop(&code);
        assert_eq!(touching(body), 1, "only the object is written:\n{}", listing(body));
        assert_eq!(body.len(), 9, "a turn:\n{}", listing(body));
    }
}

#[test]
fn the_safe_allocation_costs_seven_instructions_and_spills_nothing() {
    for probe in ["probe_alloc", "probe_alloc_loop"] {
        let code = code!(probe);
        let path = fast_path(&code);
        let header = path.iter().find(|one| stores_header(one, path[0].operand(0))).expect("a header");
        // The page of the static is in a register in front of a loop, as other constants are.
        let load = |one: &&Line| one.is(&["ldr"]) && one.operand(0) == header.operand(0);
        let start = code.iter().position(|one| *one == path[0]).expect("the path is in the code");
        let loads = code[..start + path.len()].iter().filter(load).count();
        assert_eq!(loads, 1, "the header comes from the type's static:\n{}", listing(&code));
        // The compiler may have moved an argument's move in between.
        let others: Vec<Line> = path.iter().filter(|one| !load(one) && !one.is_move()).cloned().collect();
        assert_path(&others, SAFE - loads);
    }
}

/// Whether it is the load of the barriers in force.
fn loads_barriers(one: &Line) -> bool {
    one.is(&["ldrb", "ldr"]) && one.place().is_some_and(|at| at.offset == Hot::BARRIERS_OFFSET)
}

/// Checks that `code` loads the barriers and tests one of them, each once, and branches nowhere else.
fn tests_once(code: &[Line], barrier: u32, text: &str) {
    let at = code.iter().position(loads_barriers).expect(text);
    let (load, test) = (&code[at], &code[at + 1]);
    let bit = format!("#{}", barrier.trailing_zeros());
    assert_eq!(
        (&*test.mnemonic, test.operand(0), test.operand(1)),
        ("tbnz", load.operand(0), &*bit),
        "{text}"
    );
    assert_eq!(code.iter().filter(|one| one.target().is_some()).count(), 1, "{text}");
}

/// A function up to its return. Moves of registers put arguments where the slow path or the caller
/// wants them.
fn up_to_return(code: &[Line]) -> Vec<Line> {
    let end = code.iter().position(|one| one.mnemonic == "ret").expect("it returns");
    code[..end].iter().filter(|one| !one.is_move()).cloned().collect()
}

#[test]
fn a_load_is_one_plain_load_and_a_test_of_the_barriers() {
    let code = code!("probe_load");
    let text = listing(&code);
    let code = up_to_return(&code);
    assert_eq!(code.len(), 3 + 1, "the load, two of the test; the hot part's address:\n{text}");
    assert!(code[0].is(&["ldr"]) && code[0].is_at("x1", 8), "the offset is part of the load:\n{text}");
    tests_once(&code, Hot::FORWARDING, &text);
}

#[test]
fn a_traversal_is_four_instructions_a_turn_and_a_test_of_the_barriers() {
    let code = code!("probe_list");
    let body = innermost_loop(&code);
    assert_eq!(body.len(), 4 + 3, "two loads, a sum, a branch; two of the test, a move:\n{}", listing(&code));
    assert_eq!(body.iter().filter(|one| loads_barriers(one)).count(), 1);
    assert!(!body.iter().any(|one| one.is(&["ldar", "ldapr", "dmb"])), "no acquire:\n{}", listing(&code));
}

/// Checks that the slot is written with release, and the card with release after it.
fn publishes(code: &[Line], text: &str) {
    let slot = code.iter().position(|one| one.mnemonic == "stlr").expect(text);
    let card = code.iter().position(|one| one.mnemonic == "stlrb").expect(text);
    assert!(slot < card, "the reference comes before its card:\n{text}");
    assert!(!code.iter().any(|one| one.is(&["str", "strb", "stp", "stur"])), "no plain store:\n{text}");
}

#[test]
fn a_store_takes_eight_instructions() {
    let code = code!("probe_store");
    let text = listing(&code);
    let code = up_to_return(&code);
    // A load and a branch test; the slot's address, the store; the table, the card, the byte, its
    // store. And the hot part's address.
    assert_eq!(code.len(), 8 + 1, "{text}");
    tests_once(&code, Hot::MARKING, &text);
    publishes(&code, &text);
    let table = |one: &&Line| one.is(&["ldr"]) && one.is_at("x0", MUTATORS_CARDS);
    assert_eq!(code.iter().filter(table).count(), 1, "{text}");
    let shift = format!("lsr #{}", Hot::CARD_SHIFT);
    assert_eq!(code.iter().filter(|one| one.operands.ends_with(&shift)).count(), 1, "{text}");
}

#[test]
fn the_barrier_behind_a_store_in_a_loop_is_two_instructions() {
    let code = code!("probe_fill");
    let body = innermost_loop(&code);
    let text = listing(body);
    publishes(body, &text);
    tests_once(&body[..body.len() - 1], Hot::MARKING, &text);
    assert_eq!(touching(body), 3, "the barriers, the slot, the card:\n{text}");
    let shift = format!("lsr #{}", Hot::CARD_SHIFT);
    let cards = body.iter().filter(|one| one.mnemonic == "stlrb" || one.operands.ends_with(&shift));
    assert_eq!(cards.count(), 2, "{text}");
}

#[test]
fn a_poll_is_a_load_and_a_branch() {
    let code = code!("probe_poll");
    let body = innermost_loop(&code);
    let text = listing(body);
    let request = |one: &Line| one.place().is_some_and(|at| at.offset == Hot::REQUESTED_OFFSET);
    let at = body.iter().position(request).expect(&text);
    assert_eq!(body[at].mnemonic, "ldr", "not an acquire:\n{text}");
    assert!(body[at + 1].is(&["cbz", "cbnz"]), "{text}");
    assert_eq!(body[at + 1].operand(0), body[at].operand(0), "{text}");
    assert!(!body.iter().any(|one| one.mnemonic == "dmb"), "the fence is behind the branch:\n{text}");
}
