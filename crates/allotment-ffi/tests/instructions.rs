//! The number of instructions of the header's inlines, as compilers make them.

#![cfg(target_arch = "x86_64")]

mod common;

use common::{Compiler, PACKAGE, STRICT, compilers, scratch, text};
use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Formatter, Instruction, IntelFormatter, Mnemonic, Register,
};
use object::{Object, ObjectSection, ObjectSymbol};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The instructions of each function of `tests/c/uses.c` up to its first return, and of all of it.
struct Code(Vec<Instruction>);

fn compile(compiler: &Compiler) -> Vec<u8> {
    // Tests run side by side: each call has a file of its own.
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let call = CALLS.fetch_add(1, Ordering::Relaxed);
    let file = scratch(&format!("uses-{}-{call}.o", compiler.name()));
    let output = compiler
        .start(false)
        .args(STRICT)
        .args(["-std=c11", "-O2", "-fomit-frame-pointer", "-fcf-protection=none", "-c", "-o"])
        .arg(&file)
        .arg(Path::new(PACKAGE).join("tests/c/uses.c"))
        .output()
        .expect("the compiler runs");
    assert!(output.status.success(), "{}", text(&output));
    std::fs::read(file).expect("the compiler has made it")
}

fn code(object: &[u8], name: &str) -> Code {
    let file = object::File::parse(object).expect("an ELF file");
    let symbol = file.symbol_by_name(name).unwrap_or_else(|| panic!("{name} is missing"));
    let section = file.section_by_index(symbol.section_index().expect("a section")).expect("a section");
    let start = (symbol.address() - section.address()) as usize;
    let bytes = &section.data().expect("bytes")[start..start + symbol.size() as usize];
    let decoder = Decoder::with_ip(64, bytes, 0, DecoderOptions::NONE);
    Code(decoder.into_iter().collect())
}

impl Code {
    /// From the start to the first return or jump out of line, without it.
    fn hot(&self) -> &[Instruction] {
        let end = self.0.iter().position(|one| {
            matches!(one.flow_control(), FlowControl::Return | FlowControl::UnconditionalBranch)
        });
        &self.0[..end.expect("it returns")]
    }

    fn listing(&self) -> String {
        let mut formatter = IntelFormatter::new();
        let mut lines = String::new();
        for one in &self.0 {
            formatter.format(one, &mut lines);
            lines.push('\n');
        }
        lines
    }

    fn assert_at_most(&self, most: usize, name: &str) {
        let hot = self.hot().len();
        assert!(hot <= most, "{name}: {hot} instructions, at most {most}:\n{}", self.listing());
    }

    /// Whether one of the hot instructions tests those bits of the word at offset 40.
    fn tests(&self, bits: u64) -> bool {
        self.hot().iter().any(|one| {
            one.mnemonic() == Mnemonic::Test
                && one.memory_displacement64() == 40
                && one.memory_base() == Register::RDI
                && one.immediate(1) == bits
        })
    }
}

#[test]
fn an_allocation_is_six_instructions() {
    for compiler in compilers() {
        let object = compile(compiler);
        for name in ["use_alloc", "use_alloc_raw", "use_try_alloc", "use_try_alloc_raw"] {
            let code = code(&object, name);
            // A compiler may place the cold call before the return, behind the jump.
            code.assert_at_most(6, name);
            let jumps = code.hot().iter().filter(|one| one.flow_control() == FlowControl::ConditionalBranch);
            assert_eq!(jumps.count(), 1, "{}", code.listing());
        }
    }
}

#[test]
fn a_load_is_four_instructions_and_a_store_eight() {
    for compiler in compilers() {
        let object = compile(compiler);
        let load = code(&object, "use_load");
        load.assert_at_most(4, "use_load");
        assert!(load.tests(4), "{}", load.listing());
        let weak = code(&object, "use_load_weak");
        weak.assert_at_most(4, "use_load_weak");
        assert!(weak.tests(7), "{}", weak.listing());
        let store = code(&object, "use_store");
        store.assert_at_most(8, "use_store");
        assert!(store.tests(1), "{}", store.listing());
        code(&object, "use_poll").assert_at_most(3, "use_poll");
    }
}

/// Those of a frame alone: without the call in between, its arguments, and the stack's memory.
#[test]
fn a_frame_of_two_words_is_ten_instructions_to_enter_and_five_to_leave() {
    for compiler in compilers() {
        let code = code(&compile(compiler), "use_frame");
        let call = code.0.iter().position(|one| one.mnemonic() == Mnemonic::Call).expect("a call");
        let ours = |one: &&Instruction| {
            let stack = one.op0_register() == Register::RSP
                && matches!(one.mnemonic(), Mnemonic::Sub | Mnemonic::Add);
            let saved = matches!(one.mnemonic(), Mnemonic::Push | Mnemonic::Pop);
            let to_argument = matches!(one.op0_register(), Register::RDI | Register::RSI);
            let argument =
                to_argument && (one.mnemonic() == Mnemonic::Lea || one.op1_register() == Register::RAX);
            !stack && !saved && !argument
        };
        let enter = code.0[..call].iter().filter(ours).count();
        let leave = code.0[call + 1..]
            .iter()
            .take_while(|one| one.flow_control() != FlowControl::Return)
            .filter(ours)
            .count();
        assert!(enter <= 10, "{enter} to enter:\n{}", code.listing());
        assert!(leave <= 5, "{leave} to leave:\n{}", code.listing());
    }
}

/// A step along a list: the count, the mask, the load, the barrier's test and jump, the test for
/// null and its jump.
#[test]
fn a_step_along_a_list_tests_the_barrier_once() {
    for compiler in compilers() {
        let code = code(&compile(compiler), "use_walk");
        let tests =
            code.0.iter().filter(|one| one.mnemonic() == Mnemonic::Test && one.memory_displacement64() == 40);
        assert!(tests.count() <= 2, "{}", code.listing());
    }
}
