//! The code for x86-64.

use crate::example;
use allotment::raw::Hot;
use iced_x86::{Code, Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register};
use std::sync::LazyLock;

/// From the load of `top` to the stores of the header and of the new top, all included. The header
/// is in a register.
const RAW: usize = 6;

/// The safe API loads the header from the type's static.
const SAFE: usize = RAW + 1;

/// Where a mutator has the card table, biased: behind the pointer to its state.
const MUTATORS_CARDS: usize = 8;

/// The instructions of a function, in order of address.
fn disassemble(name: &str) -> Vec<Instruction> {
    static EXAMPLE: LazyLock<Vec<u8>> = LazyLock::new(example::native);
    let (address, code) = example::function(&EXAMPLE, name);
    Decoder::with_ip(64, code, address, DecoderOptions::NONE).iter().collect()
}

fn loads(instruction: &Instruction, base: Register, offset: usize) -> bool {
    instruction.mnemonic() == Mnemonic::Mov
        && instruction.op1_kind() == OpKind::Memory
        && at(instruction, base, offset)
}

fn stores(instruction: &Instruction, base: Register, offset: usize) -> bool {
    // A header may travel in the first vector store of the body.
    let moves = [Mnemonic::Mov, Mnemonic::Movups, Mnemonic::Movdqu, Mnemonic::Vmovups, Mnemonic::Vmovdqu];
    moves.contains(&instruction.mnemonic())
        && instruction.op0_kind() == OpKind::Memory
        && at(instruction, base, offset)
}

fn at(instruction: &Instruction, base: Register, offset: usize) -> bool {
    instruction.memory_base() == base
        && instruction.memory_index() == Register::None
        && instruction.memory_displacement64() == offset as u64
}

/// The fast path of a probe's loop: from the load of `top` to the stores of the header and of the
/// new top, and the prefetches behind them, without stores of the body in between.
fn fast_path(function: &str, limit_offset: usize) -> Vec<Instruction> {
    let code = disassemble(function);
    // The top is the load whose base register is also what the sum is stored through.
    let found = code.iter().enumerate().find_map(|(start, load)| {
        let (state, top) = (load.memory_base(), load.op0_register());
        if !loads(load, state, Hot::TOP_OFFSET) {
            return None;
        }
        let bump = code[start..].iter().position(|other| stores(other, state, Hot::TOP_OFFSET))?;
        let header = code[start..].iter().position(|other| stores(other, top, 0))?;
        let end = start + bump.max(header) + 1;
        let ahead = code[end..].iter().take_while(|other| other.code() == Code::Prefetchw_m8).count();
        let path = &code[start..end + ahead];
        let body = |other: &&Instruction| {
            vector_bytes(other).is_some() && other.memory_base() == top && other.memory_displacement64() != 0
        };
        path.iter()
            .any(|other| reads_limit(other, state, limit_offset))
            .then(|| path.iter().filter(|other| !body(other)).copied().collect())
    });
    found.unwrap_or_else(|| panic!("{function} has no fast path:\n{}", listing(&code)))
}

fn reads_limit(instruction: &Instruction, state: Register, offset: usize) -> bool {
    matches!(instruction.mnemonic(), Mnemonic::Mov | Mnemonic::Cmp) && at(instruction, state, offset)
}

/// How many bytes a store of a vector register writes.
fn vector_bytes(instruction: &Instruction) -> Option<usize> {
    let vector = instruction.op_count() == 2
        && instruction.op0_kind() == OpKind::Memory
        && instruction.op1_kind() == OpKind::Register
        && instruction.op1_register().is_vector_register();
    vector.then(|| instruction.op1_register().size())
}

fn listing(code: &[Instruction]) -> String {
    code.iter().map(|instruction| format!("{instruction}\n")).collect()
}

fn assert_path(path: &[Instruction], instructions: usize) {
    let text = listing(path);
    assert_eq!(path.len(), instructions, "{text}");
    let branches = path.iter().filter(|one| one.flow_control() == FlowControl::ConditionalBranch).count();
    assert_eq!(branches, 1, "one compare, one branch:\n{text}");
    assert!(path.iter().all(|one| one.flow_control() != FlowControl::Call), "no call:\n{text}");
}

/// How far behind the new top each prefetch is.
fn prefetches(path: &[Instruction]) -> Vec<u64> {
    let prefetches = path.iter().filter(|one| one.code() == Code::Prefetchw_m8);
    prefetches.map(Instruction::memory_displacement64).collect()
}

#[test]
fn an_object_costs_six_instructions_with_its_header_in_a_register() {
    let path = fast_path("probe_by_caller", Hot::LIMIT_OFFSET);
    assert_path(&path, RAW);
    assert!(prefetches(&path).is_empty());
}

#[test]
fn the_default_adds_a_prefetch_for_each_line_of_the_object() {
    let probes: [(_, &[u64]); 3] = [
        ("probe_default", &[256]),
        ("probe_default_two_lines", &[256, 320]),
        ("probe_default_three_lines", &[256, 320, 384]),
    ];
    for (function, lines) in probes {
        let path = fast_path(function, Hot::LIMIT_OFFSET);
        assert_path(&path, RAW + lines.len());
        assert_eq!(prefetches(&path), lines, "{function}:\n{}", listing(&path));
    }
}

#[test]
fn in_a_burst_the_default_prefetches_for_objects_of_a_line_and_more() {
    for (function, lines) in [("probe_burst_default_small", &[][..]), ("probe_burst_default_line", &[256])] {
        let code = disassemble(function);
        let body = innermost_loop(&code);
        assert_eq!(prefetches(body), lines, "{function}:\n{}", listing(body));
    }
}

#[test]
fn zeroing_per_object_comes_after_the_six() {
    assert_path(&fast_path("probe_per_object", Hot::LIMIT_OFFSET), RAW);
}

/// Stores of vectors outside the stack, by bytes; also of the loop's cold part, which has none.
fn vector_stores(function: &str) -> Vec<usize> {
    let code = disassemble(function);
    let objects = code.iter().filter(|one| one.memory_base() != Register::RSP);
    objects.filter_map(vector_bytes).collect()
}

#[test]
fn the_width_of_stores_is_that_of_the_function_around_the_allocation() {
    assert_eq!(vector_stores("probe_per_object"), [16; 4]);
    assert_eq!(vector_stores("probe_per_object_avx2"), [32; 2]);
    assert_path(&fast_path("probe_per_object_avx2", Hot::LIMIT_OFFSET), RAW);
}

#[test]
fn memory_zeroed_ahead_compares_with_the_other_limit() {
    assert_path(&fast_path("probe_ahead", Hot::ZEROED_LIMIT_OFFSET), RAW);
}

/// A function's loop: the code that a backward branch closes. Cold code that jumps back is longer.
fn innermost_loop(code: &[Instruction]) -> &[Instruction] {
    let loops = code.iter().enumerate().filter_map(|(end, branch)| {
        let target = branch.near_branch_target();
        (branch.flow_control() == FlowControl::ConditionalBranch && target < branch.ip())
            .then(|| &code[code.iter().position(|one| one.ip() == target).unwrap_or(end)..=end])
    });
    loops.min_by_key(|body| body.len()).expect("a loop")
}

/// Those that read or write memory.
fn touching(code: &[Instruction]) -> Vec<&Instruction> {
    let memory =
        |one: &&Instruction| (0..one.op_count()).any(|operand| one.op_kind(operand) == OpKind::Memory);
    code.iter().filter(memory).filter(|one| one.mnemonic() != Mnemonic::Lea).collect()
}

/// Checks that one turn of a burst's loop writes the object at once and touches no other memory.
fn assert_in_registers(function: &str) {
    let code = disassemble(function);
    let body = innermost_loop(&code);
    assert_eq!(touching(body).len(), 1, "only the object is written:\n{}", listing(body));
    assert_eq!(body.len(), 9, "a turn:\n{}", listing(body));
}

/// A load more for each object took 15 % of the time of one of 64 bytes on a Zen 4.
#[test]
fn a_loop_reaches_the_buffer_without_a_load_for_each_object() {
    // Top, limit, header, top. In the safe API also the type's header and two fields. For arrays
    // the length, read and written; for a poll the request.
    let probes = [("probe_by_caller", 4), ("probe_unique", 4), ("probe_alloc_loop", 7), ("probe_poll", 7)];
    for (function, accesses) in probes {
        let code = disassemble(function);
        let body = innermost_loop(&code);
        assert_eq!(touching(body).len(), accesses, "{function}:\n{}", listing(body));
    }
}

#[test]
fn a_burst_touches_no_memory_but_the_objects() {
    assert_in_registers("probe_burst");
    assert_in_registers("probe_burst_per_object");
}

#[test]
fn the_safe_allocation_costs_seven_instructions_and_spills_nothing() {
    let code = disassemble("probe_alloc");
    let path = fast_path("probe_alloc", Hot::LIMIT_OFFSET);
    let text = listing(&code);
    // The header comes from the type's static; where it is loaded before the top, that counts too.
    let top = path[0].op0_register();
    let header = path.iter().find(|one| stores(one, top, 0)).expect("a header is stored").op1_register();
    let loaded = path.iter().any(|one| one.op0_register() == header && one.op1_kind() == OpKind::Memory);
    assert_eq!(path.len() + usize::from(!loaded), SAFE, "loaded in the path: {loaded}:\n{text}");
    let branches = path.iter().filter(|one| one.flow_control() == FlowControl::ConditionalBranch).count();
    assert_eq!(branches, 1, "one compare, one branch:\n{text}");
    assert!(path.iter().all(|one| one.flow_control() != FlowControl::Call), "no call:\n{text}");
    assert!(path.iter().all(|one| one.memory_base() != Register::RSP), "nothing goes to the stack:\n{text}");
}

/// Whether it tests one of the barriers in force.
fn tests_barrier(one: &Instruction, bit: u32) -> bool {
    one.mnemonic() == Mnemonic::Test
        && one.op0_kind() == OpKind::Memory
        && one.memory_displacement64() == Hot::BARRIERS_OFFSET as u64
        && one.immediate(1) == u64::from(bit)
}

/// Checks that `code` tests that barrier once, and branches behind the test and nowhere else.
fn tests_once(code: &[Instruction], bit: u32, text: &str) {
    let at = code.iter().position(|one| tests_barrier(one, bit)).expect(text);
    assert_eq!(code[at + 1].mnemonic(), Mnemonic::Jne, "{text}");
    let others = code.iter().enumerate().filter(|(index, _)| *index != at + 1);
    assert!(others.into_iter().all(|(_, one)| one.flow_control() == FlowControl::Next), "{text}");
}

#[test]
fn a_load_is_one_move_and_a_test_of_the_barriers() {
    let code = disassemble("probe_load");
    let text = listing(&code);
    let end = code.iter().position(|one| one.flow_control() == FlowControl::Return).expect("it returns");
    assert_eq!(end, 1 + 3, "the move; the hot part's address, a test, a branch:\n{text}");
    assert_eq!(code[0].mnemonic(), Mnemonic::Mov, "{text}");
    tests_once(&code[..end], Hot::FORWARDING, &text);
}

fn dirties(instruction: &Instruction) -> bool {
    instruction.code() == Code::Mov_rm8_imm8 && instruction.immediate8() == Hot::DIRTY_CARD
}

/// The instructions from each store to a slot up to the store to its card, without those that
/// compute the slot's address (a loop also increments it).
fn barriers(code: &[Instruction]) -> Vec<Vec<&Instruction>> {
    let address = |one: &Instruction| match one.mnemonic() {
        Mnemonic::Lea => true,
        Mnemonic::Mov => one.op_kind(0) == OpKind::Register && one.op_kind(1) == OpKind::Register,
        Mnemonic::Add => one.op_kind(0) == OpKind::Register && one.op_kind(1) == OpKind::Immediate8to64,
        _ => false,
    };
    let slot = |one: &Instruction| one.code() == Code::Mov_rm64_r64 && one.op0_kind() == OpKind::Memory;
    let ends = (0..code.len()).filter(|&end| dirties(&code[end]));
    ends.map(|end| {
        let start = code[..end].iter().rposition(slot).expect("the store to the slot comes first");
        code[start + 1..=end].iter().filter(|one| !address(one)).collect()
    })
    .collect()
}

#[test]
fn the_barrier_behind_a_store_is_three_instructions_and_in_a_loop_two() {
    for (probe, tables) in [("probe_store", 1), ("probe_fill", 0)] {
        let code = disassemble(probe);
        let text = listing(&code);
        let barriers = barriers(&code);
        assert!(!barriers.is_empty(), "{probe} dirties no card:\n{text}");
        for barrier in barriers {
            assert_eq!(barrier.len(), 2 + tables, "a load of the table, a shift, a store:\n{text}");
            let table = |one: &&&Instruction| {
                matches!(one.mnemonic(), Mnemonic::Mov | Mnemonic::Add)
                    && one.op1_kind() == OpKind::Memory
                    && at(one, Register::RDI, MUTATORS_CARDS)
            };
            let shift = |one: &&&Instruction| {
                one.mnemonic() == Mnemonic::Shr && one.immediate(1) == u64::from(Hot::CARD_SHIFT)
            };
            assert_eq!(barrier.iter().filter(table).count(), tables, "{text}");
            assert_eq!(barrier.iter().filter(shift).count(), 1, "{text}");
        }
    }
}

#[test]
fn a_store_takes_five_instructions_and_a_test_of_the_barriers() {
    let code = disassemble("probe_store");
    let text = listing(&code);
    let end = code.iter().position(|one| one.flow_control() == FlowControl::Return).expect("it returns");
    // The store, the slot's address, the card; the hot part's address, a test, a branch.
    assert_eq!(end, 5 + 3, "{text}");
    tests_once(&code[..end], Hot::MARKING, &text);
}

#[test]
fn a_traversal_is_four_instructions_a_turn_and_a_test_of_the_barriers() {
    let code = disassemble("probe_list");
    let body = innermost_loop(&code);
    assert_eq!(body.len(), 4 + 3, "add, mov, test, jne; a test, a branch, a move:\n{}", listing(&code));
    assert_eq!(body.iter().filter(|one| tests_barrier(one, Hot::FORWARDING)).count(), 1);
}
