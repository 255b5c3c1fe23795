//! A frame around a pasted sequence: it loads every register from memory before the sequence and
//! stores every register after it.
//!
//! Its only own word on the stack is the address of that memory. So the frame notices if a sequence
//! does not pop all that it pushed. A sequence that jumps to the code for a heap without room also
//! ends in this epilogue, which finds the frame at the stack pointer.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
use aarch64::{epilogue, prologue};
#[cfg(target_arch = "x86_64")]
use x86_64::{epilogue, prologue};

use allotment_jit::{Code, CodeBuffer, FunctionId, Machine, Register, Sequence, Target};
use std::mem::transmute;
use std::sync::LazyLock;

/// The contents of the registers.
#[derive(Clone, Debug, Default, PartialEq)]
#[repr(C)]
pub(crate) struct RegisterFile {
    general: [u64; 32],
    vectors: [u128; 32],
    saved_stack: u64,
    stack_before: u64,
    stack_after: u64,
    /// Whether the sequence left for the code of a heap without room.
    no_room: u64,
}

impl RegisterFile {
    /// A pattern in every register, another one for each `seed`.
    pub(crate) fn patterned(seed: u64) -> RegisterFile {
        let word = |number: u64| (seed << 8 | number).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let vector = |number: u64| u128::from(word(number)) << 64 | u128::from(word(number + 16));
        RegisterFile {
            general: std::array::from_fn(|number| word(number as u64)),
            vectors: std::array::from_fn(|number| vector(number as u64 + 16)),
            ..RegisterFile::default()
        }
    }

    /// The register's value: of a vector its lower half mixed with its upper.
    pub(crate) fn get(&self, register: Register) -> u64 {
        if register.is_vector() {
            let vector = self.vectors[register.number()];
            return (vector ^ vector >> 64) as u64;
        }
        self.general[register.number()]
    }

    pub(crate) fn set(&mut self, register: Register, value: u64) {
        self.general[register.number()] = value;
    }

    pub(crate) fn no_room(&self) -> bool {
        self.no_room != 0
    }

    /// The stack pointer that the sequence found.
    pub(crate) fn stack(&self) -> u64 {
        self.stack_before
    }

    /// Runs the function.
    ///
    /// # Safety
    /// - The function is one of [`framed`], and the registers have the values that it needs.
    pub(crate) unsafe fn run(&mut self, code: &Code, function: FunctionId) {
        // SAFETY: `framed` made a function of that signature.
        let run: unsafe extern "C" fn(*mut RegisterFile) = unsafe { transmute(code.entry(function)) };
        let link = (Machine::HOST == Machine::AArch64).then(|| self.get(Register::X30));
        // SAFETY: the caller's predicate.
        unsafe { run(self) };
        assert_eq!(self.stack_before, self.stack_after, "what is pushed is popped");
        assert!(link.is_none_or(|link| self.get(Register::X30) == link), "the link register is kept");
    }
}

/// The function that [`RegisterFile::run`] runs, with these sequences one after the other.
pub(crate) fn framed(sequences: &[&Sequence], misaligned: bool) -> Sequence {
    let mut function = prologue(misaligned);
    sequences.iter().for_each(|sequence| function.append(sequence).unwrap());
    function.append(&epilogue(false)).unwrap();
    function
}

static NO_ROOM: LazyLock<(Code, FunctionId)> = LazyLock::new(|| {
    let mut buffer = CodeBuffer::default();
    let leave = buffer.add("no_room", epilogue(true));
    (buffer.finish(|_| None).unwrap(), leave)
});

/// The targets of pasted sequences; `load_hook` is the address of a hook.
pub(crate) fn targets(load_hook: u64) -> impl Fn(Target) -> Option<u64> {
    move |target| match target {
        Target::OutOfMemory => Some(NO_ROOM.0.entry(NO_ROOM.1).addr() as u64),
        Target::LoadHook => Some(load_hook),
        _ => None,
    }
}
