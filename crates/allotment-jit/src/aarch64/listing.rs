//! Instructions of AArch64 as text, in Arm's syntax.

use crate::disassembled::Disassembled;
use disarm64::{InsnDisplay, decoder};

/// The instructions of code that begins at `address`. A rest of less than 4 bytes is left out.
pub(crate) fn decoded(code: &[u8], address: u64) -> Vec<Disassembled> {
    let line = |(index, bytes): (usize, &[u8; 4])| {
        let (address, word) = (address.wrapping_add(4 * index as u64), u32::from_le_bytes(*bytes));
        Disassembled {
            address,
            bytes: 4,
            assembly: text(word, address),
            target: branch_target(word, address),
        }
    };
    code.as_chunks::<4>().0.iter().enumerate().map(line).collect()
}

/// The instruction with one space between its words.
fn text(word: u32, address: u64) -> String {
    let Some(instruction) = decoder::decode(word) else { return format!(".inst {word:#010x}") };
    let text = instruction.display_at(address).to_string();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The target of a branch that contains it.
fn branch_target(word: u32, address: u64) -> Option<u64> {
    let (bits, shift) = match word {
        // b, bl
        _ if word & 0x7C00_0000 == 0x1400_0000 => (26, 0),
        // b.cond; cbz, cbnz
        _ if word & 0xFF00_0010 == 0x5400_0000 || word & 0x7E00_0000 == 0x3400_0000 => (19, 5),
        // tbz, tbnz
        _ if word & 0x7E00_0000 == 0x3600_0000 => (14, 5),
        _ => return None,
    };
    let distance = i64::from((word << (32 - bits - shift)) as i32 >> (32 - bits)) * 4;
    Some(address.wrapping_add_signed(distance))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_have_targets_and_other_instructions_have_none() {
        let target = |word: u32| decoded(&word.to_le_bytes(), 0x1000)[0].target;
        // b .-4, b.hi .-4, cbnz x3, .-4, tbnz w16, #0, .-4, b.eq .+8
        for word in [0x17FF_FFFF, 0x54FF_FFE8, 0xB5FF_FFE3, 0x3707_FFF0] {
            assert_eq!(target(word), Some(0xFFC));
        }
        assert_eq!(target(0x5400_0040), Some(0x1008));
        // add x0, x1, #1; blr x16; ret
        for word in [0x9100_0420, 0xD63F_0200, 0xD65F_03C0] {
            assert_eq!(target(word), None);
        }
    }

    #[test]
    fn text_has_single_spaces_and_what_is_no_instruction_is_a_number() {
        let text = |word: u32| decoded(&word.to_le_bytes(), 0)[0].assembly.clone();
        assert_eq!(text(0xF940_0C20), "ldr x0, [x1, #0x18]");
        assert_eq!(text(0), "udf #0x0");
        assert_eq!(text(0xFFFF_FFFF), ".inst 0xffffffff");
        assert_eq!(decoded(&[0xC0, 0x03, 0x5F, 0xD6, 1, 2], 0).len(), 1);
    }
}
