//! Instructions, and a function while it is compiled.
//!
//! An instruction is a number of 32 bits: what to do in the low 8, an operand above. What is being
//! compiled is plain data of Rust, which a collection does not touch; its constants are values, so
//! they lie on a stack of roots until the function is complete.

use crate::fault::Fault;

#[derive(Clone, Copy, Debug)]
#[rustfmt::skip]
pub enum Op {
    /// Pushes a constant.
    Const,
    /// Pushes the value of expressions that have none.
    Unspecified,
    /// Pushes, or pops into, a variable of this call, of a call around it, or of the whole program.
    Local, Outer, Global,
    Store, StoreOuter, StoreGlobal,
    /// Pops into a global variable that need not exist.
    Define,
    /// A fault if the top is a variable's content before it has one; the operand is its name.
    Check,
    Pop,
    Jump,
    /// Pops, and jumps if that was false, or true.
    JumpFalse, JumpTrue,
    /// Jumps if the top is false, or true; pops it otherwise.
    And, Or,
    /// Pops two, pushes whether they are the same.
    Same,
    /// Pushes a closure of a constant's code and this call's variables.
    Closure,
    /// Calls what lies below so many arguments.
    Call,
    /// The same, instead of this call.
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

    /// What an instruction says to do, and its operand.
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
    /// Whether it may be read before it has a value.
    pub checked: bool,
}

/// Where a variable is: so many functions out, in that slot.
pub struct Place {
    pub depth: usize,
    pub slot: usize,
    pub checked: bool,
}

/// A function while it is compiled.
#[derive(Default)]
pub struct Function {
    pub name: Option<u32>,
    pub instructions: Vec<u32>,
    pub lines: Vec<u32>,
    /// How many constants of functions around it lie below its own.
    pub constants: usize,
    /// Those that can be seen at this point.
    pub bindings: Vec<Binding>,
    /// Elements of its frames so far; the first is the frame around.
    pub slots: usize,
    pub required: u32,
    pub rest: bool,
}

impl Function {
    /// A new variable. Variables of blocks live in the frame of their function: no block is entered twice in
    /// one call, since whatever repeats is a function.
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

    /// Adds an instruction; its place.
    pub fn emit(&mut self, line: u32, op: Op, operand: usize) -> usize {
        self.instructions.push(op as u32 | (operand as u32) << 8);
        self.lines.push(line);
        self.instructions.len() - 1
    }

    /// Lets the jump at that place lead to the next instruction.
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
