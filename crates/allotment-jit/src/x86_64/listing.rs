//! Instructions of x86-64 as text, in Intel's syntax.

use crate::disassembled::Disassembled;
use iced_x86::{Decoder, DecoderOptions, Formatter, Instruction, IntelFormatter, OpKind};

/// The instructions of code that begins at `address`.
pub(crate) fn decoded(code: &[u8], address: u64) -> Vec<Disassembled> {
    let mut formatter = IntelFormatter::new();
    let options = formatter.options_mut();
    options.set_uppercase_hex(false);
    options.set_hex_prefix("0x");
    options.set_hex_suffix("");
    options.set_space_after_operand_separator(true);
    options.set_space_between_memory_add_operators(true);
    options.set_small_hex_numbers_in_decimal(true);
    options.set_branch_leading_zeros(false);
    options.set_displacement_leading_zeros(false);
    let mut decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
    let mut lines = Vec::new();
    while decoder.can_decode() {
        let instruction = decoder.decode();
        let mut assembly = String::new();
        formatter.format(&instruction, &mut assembly);
        lines.push(Disassembled {
            address: instruction.ip(),
            bytes: instruction.len(),
            assembly,
            target: is_near_branch(&instruction).then(|| instruction.near_branch_target()),
        });
    }
    lines
}

fn is_near_branch(instruction: &Instruction) -> bool {
    instruction.op_count() == 1 && instruction.op0_kind() == OpKind::NearBranch64
}
