//! The machines, and the registers that code of each machine may name.
//!
//! A register is plain data: its machine, its class and its number. Both machines' registers exist
//! on either machine, since a compiler may emit code for the machine that it does not run on.

use std::fmt;

/// A machine that the emitter knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Machine {
    /// x86-64.
    X86_64,
    /// AArch64, little-endian.
    AArch64,
}

impl Machine {
    /// The machine that this process runs on.
    #[cfg(target_arch = "x86_64")]
    pub const HOST: Machine = Machine::X86_64;
    /// The machine that this process runs on.
    #[cfg(target_arch = "aarch64")]
    pub const HOST: Machine = Machine::AArch64;

    /// The register of a C function's second argument, in which a
    /// [`stub`](crate::Emitter::stub) takes a size or a length.
    pub const fn second_argument(self) -> Register {
        match self {
            Machine::X86_64 => Register::RSI,
            Machine::AArch64 => Register::X1,
        }
    }

    /// The registers of the machine, the general ones first.
    pub fn registers(self) -> impl Iterator<Item = Register> {
        let general = (0..32).filter_map(move |number| Register::general(self, number));
        general.chain((0..32).filter_map(move |number| Register::vector(self, number)))
    }

    const fn count(self, class: Class) -> usize {
        match (self, class) {
            (Machine::X86_64, _) => 16,
            (Machine::AArch64, _) => 32,
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Machine::X86_64 => "x86-64",
            Machine::AArch64 => "AArch64",
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Class {
    General,
    Vector,
}

/// A register: a general register of 64 bits, or a vector register.
///
/// `Display` writes the name in assembly notation, `Debug` that of the constant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Register {
    machine: Machine,
    class: Class,
    number: u8,
}

/// The names of the general registers of x86-64, in the order of their numbers.
const X86_64_NAMES: [&str; 16] = [
    "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
    "r15",
];

/// The number of the stack pointer among the general registers of AArch64. As an operand, number 31
/// is the stack pointer or the zero register. A site names no zero register.
const AARCH64_SP: u8 = 31;

impl Register {
    const fn new(machine: Machine, class: Class, number: usize) -> Option<Register> {
        if number < machine.count(class) {
            return Some(Register { machine, class, number: number as u8 });
        }
        None
    }

    /// The general register of that number, such as `rdx` for 2. On AArch64, number 31 is the stack
    /// pointer.
    pub const fn general(machine: Machine, number: usize) -> Option<Register> {
        Register::new(machine, Class::General, number)
    }

    /// The vector register of that number, such as `xmm3` or `v3` for 3.
    pub const fn vector(machine: Machine, number: usize) -> Option<Register> {
        Register::new(machine, Class::Vector, number)
    }

    /// The machine that has it.
    pub const fn machine(self) -> Machine {
        self.machine
    }

    /// The number by which instructions name it.
    pub const fn number(self) -> usize {
        self.number as usize
    }

    /// Whether it is a general register. The stack pointer is one.
    pub const fn is_general(self) -> bool {
        matches!(self.class, Class::General)
    }

    /// Whether it is a vector register.
    pub const fn is_vector(self) -> bool {
        matches!(self.class, Class::Vector)
    }
}

impl fmt::Display for Register {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.machine, self.class, self.number) {
            (Machine::X86_64, Class::General, number) => to.write_str(X86_64_NAMES[usize::from(number)]),
            (Machine::X86_64, Class::Vector, number) => write!(to, "xmm{number}"),
            (Machine::AArch64, Class::General, AARCH64_SP) => to.write_str("sp"),
            (Machine::AArch64, Class::General, number) => write!(to, "x{number}"),
            (Machine::AArch64, Class::Vector, number) => write!(to, "v{number}"),
        }
    }
}

impl fmt::Debug for Register {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.to_string().to_uppercase())
    }
}

macro_rules! constants {
    ($machine:ident, $class:ident: $($name:ident = $number:literal),+ $(,)?) => {
        impl Register {$(
            #[doc = concat!("Register ", $number, " of its class.")]
            pub const $name: Register =
                Register { machine: Machine::$machine, class: Class::$class, number: $number };
        )+}
    };
}

constants!(X86_64, General: RAX = 0, RCX = 1, RDX = 2, RBX = 3, RSP = 4, RBP = 5, RSI = 6, RDI = 7);
constants!(X86_64, General: R8 = 8, R9 = 9, R10 = 10, R11 = 11, R12 = 12, R13 = 13, R14 = 14, R15 = 15);
constants!(X86_64, Vector: XMM0 = 0, XMM1 = 1, XMM2 = 2, XMM3 = 3, XMM4 = 4, XMM5 = 5, XMM6 = 6, XMM7 = 7);
constants!(
    X86_64, Vector:
    XMM8 = 8, XMM9 = 9, XMM10 = 10, XMM11 = 11, XMM12 = 12, XMM13 = 13, XMM14 = 14, XMM15 = 15,
);
constants!(AArch64, General: X0 = 0, X1 = 1, X2 = 2, X3 = 3, X4 = 4, X5 = 5, X6 = 6, X7 = 7);
constants!(AArch64, General: X8 = 8, X9 = 9, X10 = 10, X11 = 11, X12 = 12, X13 = 13, X14 = 14, X15 = 15);
constants!(AArch64, General: X16 = 16, X17 = 17, X18 = 18, X19 = 19, X20 = 20, X21 = 21, X22 = 22, X23 = 23);
constants!(AArch64, General: X24 = 24, X25 = 25, X26 = 26, X27 = 27, X28 = 28, X29 = 29, X30 = 30, SP = 31);
constants!(AArch64, Vector: V0 = 0, V1 = 1, V2 = 2, V3 = 3, V4 = 4, V5 = 5, V6 = 6, V7 = 7);
constants!(AArch64, Vector: V8 = 8, V9 = 9, V10 = 10, V11 = 11, V12 = 12, V13 = 13, V14 = 14, V15 = 15);
constants!(AArch64, Vector: V16 = 16, V17 = 17, V18 = 18, V19 = 19, V20 = 20, V21 = 21, V22 = 22, V23 = 23);
constants!(AArch64, Vector: V24 = 24, V25 = 25, V26 = 26, V27 = 27, V28 = 28, V29 = 29, V30 = 30, V31 = 31);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_have_the_names_of_assembly_and_of_the_constants() {
        let names = |machine: Machine| machine.registers().map(|one| one.to_string()).collect::<Vec<_>>();
        let x86_64 = names(Machine::X86_64);
        assert_eq!((x86_64.len(), x86_64[4].as_str(), x86_64[31].as_str()), (32, "rsp", "xmm15"));
        let aarch64 = names(Machine::AArch64);
        assert_eq!((aarch64.len(), aarch64[31].as_str(), aarch64[63].as_str()), (64, "sp", "v31"));
        assert_eq!(format!("{:?}", [Register::R10, Register::XMM3, Register::X30]), "[R10, XMM3, X30]");
        assert_eq!(Register::general(Machine::X86_64, 7), Some(Register::RDI));
        assert_eq!(Register::vector(Machine::AArch64, 9), Some(Register::V9));
        assert_eq!(Register::vector(Machine::X86_64, 16), None);
        assert_eq!(Register::general(Machine::AArch64, 32), None);
    }
}
