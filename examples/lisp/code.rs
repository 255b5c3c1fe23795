//! Instructions, and a function during its compilation.
//!
//! An instruction is a number of 32 bits: the operation in the low 8 bits, an operand above. A
//! function during compilation is plain data of Rust, which a collection does not touch. Its
//! constants are values, so they lie on a stack of roots until the function is complete.

use crate::fault::Fault;

#[derive(Clone, Copy, Debug)]
#[rustfmt::skip]
pub enum Op {
    /// Pushes a constant.
    Const,
    /// Pushes the value of an expression that has none.
    Unspecified,
    /// Pushes, or pops into, a variable of this call, of an enclosing call, or of the whole
    /// program.
    Local, Outer, Global,
    Store, StoreOuter, StoreGlobal,
    /// Pops into a global variable that need not exist.
    Define,
    /// A fault if the top is the content of a variable without a value; the operand is the
    /// variable's name.
    Check,
    Pop,
    Jump,
    /// Pops, and jumps if the value was false, or true.
    JumpFalse, JumpTrue,
    /// Jumps if the top is false, or true; otherwise pops it.
    And, Or,
    /// Pops two values, pushes whether they are the same.
    Same,
    /// Pushes a closure of a constant's code and this call's variables.
    Closure,
    /// Calls the function that lies below that many arguments.
    Call,
    /// As `Call`, but the new call replaces this one.
    TailCall,
    Return,
}

impl Op {
    const ALL: [Op; 21] = {
        use Op::*;
        [
            Const,
            Unspecified,
            Local,
            Outer,
            Global,
            Store,
            StoreOuter,
            StoreGlobal,
            Define,
            Check,
            Pop,
            Jump,
            JumpFalse,
            JumpTrue,
            And,
            Or,
            Same,
            Closure,
            Call,
            TailCall,
            Return,
        ]
    };

    /// The operation of an instruction, and its operand.
    #[inline(always)]
    pub fn decode(instruction: u32) -> (Op, usize) {
        (Op::ALL[instruction as usize & 0xFF], instruction as usize >> 8)
    }
}

/// A variable that the compiler sees.
#[derive(Clone, Copy)]
pub struct Binding {
    /// The symbol's id.
    pub name: u32,
    pub slot: usize,
    /// Whether a read may come before it has a value.
    pub checked: bool,
}

/// The place of a variable: the number of functions outward, and a slot there.
pub struct Place {
    pub depth: usize,
    pub slot: usize,
    pub checked: bool,
}

/// A function during its compilation.
#[derive(Default)]
pub struct Function {
    pub name: Option<u32>,
    pub instructions: Vec<u32>,
    pub lines: Vec<u32>,
    /// The number of constants of enclosing functions below its own.
    pub constants: usize,
    /// The variables that are visible at this point.
    pub bindings: Vec<Binding>,
    /// Elements of its frames so far. The first element is the enclosing frame.
    pub slots: usize,
    pub required: u32,
    pub rest: bool,
}

impl Function {
    /// Adds a variable. Variables of blocks live in the frame of their function: no block is
    /// entered twice in one call, since each repetition is a function.
    pub fn declare(&mut self, name: u32, checked: bool) -> usize {
        let slot = self.slots;
        self.slots += 1;
        self.bindings.push(Binding { name, slot, checked });
        slot
    }

    /// A variable without a name.
    pub fn reserve(&mut self) -> usize {
        self.slots += 1;
        self.slots - 1
    }

    /// Adds an instruction. Returns its place.
    pub fn emit(&mut self, line: u32, op: Op, operand: usize) -> usize {
        self.instructions.push(op as u32 | (operand as u32) << 8);
        self.lines.push(line);
        self.instructions.len() - 1
    }

    /// Makes the jump at that place lead to the next instruction.
    pub fn land(&mut self, jump: usize) {
        let here = self.instructions.len() as u32;
        self.instructions[jump] = self.instructions[jump] & 0xFF | here << 8;
    }

    /// Whether all operands fit.
    pub fn check(&self) -> Result<(), Fault> {
        let fits = self.instructions.len() < 1 << 24 && self.slots < 1 << 16;
        fits.then_some(()).ok_or_else(|| Fault::new("this function is too large"))
    }
}
