//! The instructions of AArch64, decoded by masks of Arm's manual.
//!
//! Only the known forms are here. Of loads and stores that order others these are `stlr`, `stlrb`,
//! `ldaxr`, `stlxr` and `casal`: an exclusive load without acquire, for example, is a failure.

use super::{BARRIERS_AT, Event, Interpreter};
use allotment::raw::PrefetchInstruction;
use allotment_jit::{Machine, Register, Target};

/// The stack pointer, or zero.
const LAST: usize = 31;

fn x(number: usize) -> Register {
    Register::general(Machine::AArch64, number).unwrap()
}

/// As many bits of `word` from `from` up, with a sign.
fn signed(word: u32, from: u32, bits: u32) -> i64 {
    i64::from((word << (32 - from - bits)) as i32 >> (32 - bits))
}

impl Interpreter {
    /// The value of a register, where number 31 is zero.
    fn value(&self, number: usize) -> u64 {
        if number == LAST { 0 } else { self.general[number] }
    }

    /// The value of a base, where number 31 is the stack pointer.
    fn base(&self, number: usize) -> u64 {
        assert!(number != LAST || self.general[LAST].is_multiple_of(16), "the stack at an access");
        self.general[number]
    }

    fn put(&mut self, number: usize, value: u64) {
        assert_ne!(number, LAST, "no result is thrown away");
        self.general[number] = value;
        self.written.insert(x(number));
    }

    /// A store by a base: to the stack it is no event.
    fn store_by(&mut self, base: usize, address: u64, value: u64) {
        if base == LAST {
            assert!(address >= self.general[LAST], "below the stack pointer");
            self.memory.insert(address, value);
        } else {
            self.store(address, value);
        }
    }

    /// The next instruction's address; `None` after a return.
    pub(super) fn step_aarch64(
        &mut self,
        at: u64,
        call: &mut dyn FnMut(&mut Interpreter, Target),
    ) -> Option<u64> {
        let word = u32::from_le_bytes(self.code(at)[..4].try_into().unwrap());
        let field = |from: u32| (word >> from & 31) as usize;
        let (d, n, m) = (field(0), field(5), field(16));
        let (next, near) = (at + 4, at.wrapping_add_signed(signed(word, 5, 19) * 4));
        let jump = |taken: bool| Some(if taken { near } else { next });
        match word >> 24 {
            0x14..=0x17 => return Some(at.wrapping_add_signed(signed(word, 0, 26) * 4)),
            0x54 => {
                let taken = match word & 31 {
                    0 => self.zero,
                    1 => !self.zero,
                    2 => !self.carry,
                    3 => self.carry,
                    8 => !self.carry && !self.zero,
                    9 => self.carry || self.zero,
                    _ => panic!("{word:#010x} is not among the conditions of sequences"),
                };
                return jump(taken);
            }
            0x34 | 0x35 => return jump((self.value(d) as u32 == 0) == (word >> 24 == 0x34)),
            0xB4 | 0xB5 => return jump((self.value(d) == 0) == (word >> 24 == 0xB4)),
            // A literal, in the code.
            0x58 => {
                let literal = u64::from_le_bytes(self.code(near)[..8].try_into().unwrap());
                self.put(d, literal);
            }
            0xD6 => {
                if word == 0xD65F_03C0 {
                    return None;
                }
                if word & 0xFFFF_FC1F == 0xD61F_0000 {
                    return Some(self.value(n));
                }
                assert_eq!(word & 0xFFFF_FC1F, 0xD63F_0000, "blr");
                let to = self.value(n);
                self.put(30, next);
                self.call(to, next, call);
                if to >= BARRIERS_AT {
                    // The entries of barriers do not keep these.
                    self.put(16, 0xDEAD_0010);
                    self.put(17, 0xDEAD_0011);
                }
            }
            _ if self.arithmetic(word, d, n, m) => {}
            _ if self.plain_access(word, d, n) => {}
            _ if self.ordered_access(word, d, n, m) => {}
            _ => panic!("{word:#010x} is not among the instructions of sequences"),
        }
        Some(next)
    }

    /// Carries out the instruction, if it is arithmetic.
    fn arithmetic(&mut self, word: u32, d: usize, n: usize, m: usize) -> bool {
        let immediate = u64::from(word >> 10 & 0xFFF) << (12 * (word >> 22 & 1));
        let shift = word >> 10 & 63;
        match word & 0xFF80_0000 {
            // The stack pointer may be either operand.
            0x9100_0000 | 0xD100_0000 => {
                let base = self.general[n];
                let sum = if word >> 30 & 1 == 0 {
                    base.wrapping_add(immediate)
                } else {
                    base.wrapping_sub(immediate)
                };
                if d == LAST {
                    self.general[LAST] = sum;
                } else {
                    self.put(d, sum);
                }
                return true;
            }
            0xF100_0000 => {
                assert!(d == LAST && n != LAST, "a compare");
                self.compare(self.general[n], immediate);
                return true;
            }
            0xD280_0000 | 0xF280_0000 => {
                let place = 16 * (word >> 21 & 3);
                let piece = u64::from(word >> 5 & 0xFFFF) << place;
                let kept = if word >> 29 & 1 == 0 { 0 } else { self.value(d) & !(0xFFFF << place) };
                self.put(d, kept | piece);
                return true;
            }
            _ => {}
        }
        match word & 0xFFE0_0000 {
            0x8B00_0000 => self.put(d, self.value(n).wrapping_add(self.value(m) << shift)),
            0x8B40_0000 => self.put(d, self.value(n).wrapping_add(self.value(m) >> shift)),
            0xCB00_0000 => self.put(d, self.value(n).wrapping_sub(self.value(m) << shift)),
            0xEB00_0000 => {
                assert_eq!((d, shift), (LAST, 0), "a compare");
                self.compare(self.value(n), self.value(m));
            }
            0xAA00_0000 => {
                assert_eq!((n, shift), (LAST, 0), "a move");
                self.put(d, self.value(m));
            }
            0x6A00_0000 => {
                assert_eq!((d, shift), (LAST, 0), "a test");
                (self.carry, self.zero) = (false, (self.value(n) & self.value(m)) as u32 == 0);
            }
            // A mask: as many ones as the lower number says plus one, rotated to the right.
            0x9240_0000 | 0x9260_0000 => {
                let (ones, rotation) = (shift + 1, word >> 16 & 63);
                assert!(ones < 64);
                self.put(d, self.value(n) & ((1 << ones) - 1_u64).rotate_right(rotation));
            }
            0x7200_0000 => {
                let (ones, rotation) = (shift + 1, word >> 16 & 63);
                assert!(d == LAST && ones < 32 && rotation < 32, "a test");
                let mask = ((1 << ones) - 1_u32).rotate_right(rotation);
                (self.carry, self.zero) = (false, self.value(n) as u32 & mask == 0);
            }
            _ if word & 0xFFFF_FFE0 == 0x6F00_E400 => {
                self.vectors[d][..16].fill(0);
                self.written.insert(Register::vector(Machine::AArch64, d).unwrap());
            }
            _ => return false,
        }
        true
    }

    /// The carry is a borrow, as on x86-64.
    fn compare(&mut self, left: u64, right: u64) {
        (self.carry, self.zero) = (left < right, left == right);
    }

    /// Carries out the instruction, if it is a load or store that orders no others, or a prefetch.
    fn plain_access(&mut self, word: u32, d: usize, n: usize) -> bool {
        let second = (word >> 10 & 31) as usize;
        let pair = |shift: u32| signed(word, 15, 7) << shift;
        match word & 0xFFC0_0000 {
            0xA940_0000 => {
                assert_ne!(d, second);
                let address = self.base(n).wrapping_add_signed(pair(3));
                let words = [self.word(address), self.word(address + 8)];
                self.put(d, words[0]);
                self.put(second, words[1]);
                return true;
            }
            0xA900_0000 => {
                let address = self.base(n).wrapping_add_signed(pair(3));
                let words = [self.value(d), self.value(second)];
                self.store_by(n, address, words[0]);
                self.store_by(n, address + 8, words[1]);
                return true;
            }
            0xAD00_0000 => {
                let address = self.base(n).wrapping_add_signed(pair(4));
                for (at, vector) in [(0, d), (16, second)] {
                    for half in 0..2 {
                        let bytes = self.vectors[vector][8 * half..8 * half + 8].try_into().unwrap();
                        self.store_by(n, address + at + 8 * half as u64, u64::from_le_bytes(bytes));
                    }
                }
                return true;
            }
            _ => {}
        }
        // Bit 24: the offset is a number of units. Else it is one of bytes, with a sign.
        let (form, size) = (word & 0xFEC0_0000, word >> 30);
        let offset = if word >> 24 & 1 == 1 {
            i64::from(word >> 10 & 0xFFF) << size
        } else if word >> 10 & 3 == 0 && word >> 21 & 1 == 0 {
            signed(word, 12, 9)
        } else {
            return false;
        };
        let address = || self.base(n).wrapping_add_signed(offset);
        match form {
            0xF840_0000 => self.put(d, self.word(address())),
            0xF800_0000 => self.store_by(n, address(), self.value(d)),
            0xB840_0000 => self.put(d, self.word(address()) & u64::from(u32::MAX)),
            0x3840_0000 => self.put(d, self.word(address()) & u64::from(u8::MAX)),
            0xF880_0000 => {
                let instruction = match d {
                    0b00000 => PrefetchInstruction::T0,
                    0b00001 => PrefetchInstruction::Nta,
                    0b00100 => PrefetchInstruction::T2,
                    0b10000 => PrefetchInstruction::Write,
                    _ => panic!("{word:#010x} is not among the prefetches of sequences"),
                };
                self.events.push(Event::Prefetch(instruction, address()));
            }
            _ => return false,
        }
        true
    }

    /// Carries out the instruction, if it is a load or store that orders others.
    fn ordered_access(&mut self, word: u32, d: usize, n: usize, m: usize) -> bool {
        match word & 0xFFE0_FC00 {
            0xC880_FC00 if m == LAST => {
                let (address, value) = (self.base(n), self.value(d));
                assert!(address.is_multiple_of(8), "{address:#x}");
                self.events.push(Event::Release(address));
                self.memory.insert(address, value);
            }
            0x0880_FC00 if m == LAST => {
                self.events.push(Event::Byte(self.base(n), self.value(d) as u8));
            }
            0xC840_FC00 if m == LAST => {
                let address = self.base(n);
                self.exclusive = Some(address);
                self.put(d, self.word(address));
                self.events.push(Event::Exchange(address));
            }
            0xC800_FC00 => {
                assert!(m != d && m != n, "the status has a register of its own");
                let (address, value) = (self.base(n), self.value(d));
                assert_eq!(self.exclusive.take(), Some(address), "an exclusive load comes before");
                let fails = self.interferences > 0;
                self.interferences -= usize::from(fails);
                if !fails {
                    self.store(address, value);
                }
                self.put(m, fails.into());
            }
            0xC8E0_FC00 => {
                let (address, new) = (self.base(n), self.value(d));
                let held = self.word(address);
                self.events.push(Event::Exchange(address));
                if held == self.value(m) {
                    self.store(address, new);
                }
                self.put(m, held);
            }
            _ => return false,
        }
        true
    }
}
