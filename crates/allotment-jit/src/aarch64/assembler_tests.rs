//! Each form against the GNU assembler, over edge values and random operands.

use super::super::assembly::Assembly;
use super::*;
use crate::relocation::Part;
use std::fmt::Write;
use std::process::Command;

/// Instructions, and the same instructions as text.
struct Cases {
    assembler: Assembler,
    text: String,
    random: u64,
}

impl Cases {
    fn new() -> Cases {
        Cases { assembler: Assembler::default(), text: String::new(), random: 1 }
    }

    fn next(&mut self, below: u64) -> u64 {
        self.random = self.random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.random >> 33) % below
    }

    /// A register: often one of both ends.
    fn register(&mut self) -> General {
        let number = self.next(40);
        General::x(match number {
            0..31 => number as u8,
            31..35 => 0,
            _ => 30,
        })
    }

    /// A base, with its name.
    fn base(&mut self) -> (Base, String) {
        if self.next(8) == 0 {
            return (SP, "sp".into());
        }
        let register = self.register();
        (register.into(), format!("x{}", register.0))
    }

    /// A source, with its name.
    fn source(&mut self) -> (Source, String) {
        if self.next(8) == 0 {
            return (ZERO, "xzr".into());
        }
        let register = self.register();
        (register.into(), format!("x{}", register.0))
    }

    fn is(&mut self, text: &str) {
        writeln!(self.text, "{text}").unwrap();
    }
}

/// The bytes that the GNU assembler makes of the text; `None` where it is not installed.
fn assembled(name: &str, text: &str) -> Option<Vec<u8>> {
    // Under an emulator, `as` is that of the emulator's machine.
    let has = |prefix: &&str| {
        let version = Command::new(format!("{prefix}as")).arg("--version").output();
        version.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("aarch64"))
    };
    let Some(prefix) = ["aarch64-linux-gnu-", ""].into_iter().find(has) else {
        println!("skipped: neither `aarch64-linux-gnu-as` nor an `as` of AArch64 is installed");
        return None;
    };
    let folder = std::env::temp_dir().join(format!("allotment-jit-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let [source, object, binary] = ["a.s", "a.o", "a.bin"].map(|file| folder.join(file));
    std::fs::write(&source, format!(".arch armv8.1-a\n{text}")).unwrap();
    let run = |command: &mut Command| {
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    run(Command::new(format!("{prefix}as")).arg(&source).arg("-o").arg(&object));
    run(Command::new(format!("{prefix}objcopy")).args(["-O", "binary"]).arg(&object).arg(&binary));
    let bytes = std::fs::read(&binary).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    Some(bytes)
}

fn compare(name: &str, code: &[u8], text: &str) {
    let Some(expected) = assembled(name, text) else { return };
    assert_eq!(code.len(), expected.len());
    let words = |bytes: &[u8]| bytes.as_chunks::<4>().0.iter().map(|one| u32::from_le_bytes(*one)).collect();
    let (ours, theirs): (Vec<u32>, Vec<u32>) = (words(code), words(&expected));
    for ((ours, theirs), line) in ours.iter().zip(&theirs).zip(text.lines()) {
        assert_eq!(ours, theirs, "{line}: {ours:#010x}, {theirs:#010x}");
    }
}

/// Offsets of a load or store of `1 << shift` bytes: all edges, and any.
fn offsets(cases: &mut Cases, shift: u32) -> Vec<i64> {
    let most = 4095 << shift;
    let mut offsets =
        vec![0, 1 << shift, most, most - (1 << shift), -256, -255, -8, -1, 1, 7, 255, 256 >> shift << shift];
    offsets.extend((0..40).map(|_| (cases.next(4096) as i64) << shift));
    offsets.extend((0..40).map(|_| cases.next(512) as i64 - 256));
    offsets
}

#[test]
fn loads_stores_and_prefetches() {
    let mut cases = Cases::new();
    for shift in [3, 2, 0] {
        for offset in offsets(&mut cases, shift) {
            let (to, (base, name)) = (cases.register(), cases.base());
            match shift {
                3 => cases.assembler.ldr(to, base, offset).unwrap(),
                2 => cases.assembler.ldr_32(to, base, offset).unwrap(),
                _ => cases.assembler.ldrb(to, base, offset).unwrap(),
            }
            let form = ["ldrb w", "", "ldr w", "ldr x"][shift as usize];
            cases.is(&format!("{form}{}, [{name}, #{offset}]", to.0));
        }
    }
    for offset in offsets(&mut cases, 3) {
        let ((from, from_name), (base, name)) = (cases.source(), cases.base());
        cases.assembler.str(from, base, offset).unwrap();
        cases.is(&format!("str {from_name}, [{name}, #{offset}]"));
        let operations = [
            (PrefetchInstruction::Nta, "pldl1strm"),
            (PrefetchInstruction::T0, "pldl1keep"),
            (PrefetchInstruction::T2, "pldl3keep"),
            (PrefetchInstruction::Write, "pstl1keep"),
        ];
        for (instruction, operation) in operations {
            cases.assembler.prfm(instruction, base, offset).unwrap();
            cases.is(&format!("prfm {operation}, [{name}, #{offset}]"));
        }
    }
    for units in [-64_i64, -63, -1, 0, 1, 62, 63] {
        let ((first, first_name), (second, second_name), (base, name)) =
            (cases.source(), cases.source(), cases.base());
        cases.assembler.stp(first, second, base, units * 8).unwrap();
        cases.is(&format!("stp {first_name}, {second_name}, [{name}, #{}]", units * 8));
        let vector = cases.next(32) as u8;
        cases.assembler.stp_vector_twice(Vector(vector), base, units * 16).unwrap();
        cases.is(&format!("stp q{vector}, q{vector}, [{name}, #{}]", units * 16));
        let (first, second) = (cases.register(), cases.register());
        if first != second {
            cases.assembler.ldp(first, second, base, units * 8).unwrap();
            cases.is(&format!("ldp x{}, x{}, [{name}, #{}]", first.0, second.0, units * 8));
        }
    }
    compare("memory", &cases.assembler.code, &cases.text);
}

#[test]
fn arithmetic_moves_and_tests() {
    let mut cases = Cases::new();
    let mut immediates = vec![0, 1, 4095, 4096, 8192, 4095 << 12];
    immediates.extend((0..30).map(|_| cases.next(4096)));
    immediates.extend((0..30).map(|_| cases.next(4096) << 12));
    for number in immediates {
        let ((to, to_name), (base, name), left) = (cases.base(), cases.base(), cases.register());
        cases.assembler.add_immediate(to, base, number).unwrap();
        cases.is(&format!("add {to_name}, {name}, #{number}"));
        cases.assembler.sub_immediate(to, base, number).unwrap();
        cases.is(&format!("sub {to_name}, {name}, #{number}"));
        cases.assembler.cmp_immediate(left, number).unwrap();
        cases.is(&format!("cmp x{}, #{number}", left.0));
    }
    for shift in 0..64 {
        let (to, first, second) = (cases.register(), cases.register(), cases.register());
        cases.assembler.add_shifted_left(to, first, second, shift).unwrap();
        cases.is(&format!("add x{}, x{}, x{}, lsl #{shift}", to.0, first.0, second.0));
        cases.assembler.add_shifted_right(to, first, second, shift).unwrap();
        cases.is(&format!("add x{}, x{}, x{}, lsr #{shift}", to.0, first.0, second.0));
        cases.assembler.sub(to, first, second);
        cases.is(&format!("sub x{}, x{}, x{}", to.0, first.0, second.0));
        cases.assembler.cmp(first, second);
        cases.is(&format!("cmp x{}, x{}", first.0, second.0));
        cases.assembler.tst(first, second);
        cases.is(&format!("tst w{}, w{}", first.0, second.0));
        cases.assembler.mov(to, first);
        cases.is(&format!("mov x{}, x{}", to.0, first.0));
        if shift > 0 {
            cases.assembler.clear_lowest(to, first, shift).unwrap();
            cases.is(&format!("and x{}, x{}, #{:#x}", to.0, first.0, u64::MAX << shift));
        }
    }
    for ones in 1..32 {
        for lowest in 0..=32 - ones {
            let (left, mask) = (cases.register(), u32::MAX >> (32 - ones) << lowest);
            cases.assembler.tst_immediate(left, mask).unwrap();
            cases.is(&format!("tst w{}, #{mask:#x}", left.0));
        }
    }
    for place in 0..4 {
        for piece in [0, 1, 0x8000, u16::MAX, cases.next(1 << 16) as u16] {
            let to = cases.register();
            cases.assembler.movz(to, piece, place).unwrap();
            cases.is(&format!("movz x{}, #{piece}, lsl #{}", to.0, 16 * place));
            cases.assembler.movk(to, piece, place).unwrap();
            cases.is(&format!("movk x{}, #{piece}, lsl #{}", to.0, 16 * place));
        }
    }
    for number in 0..32 {
        cases.assembler.clear(Vector(number));
        cases.is(&format!("movi v{number}.2d, #0"));
    }
    compare("arithmetic", &cases.assembler.code, &cases.text);
}

#[test]
fn atomics_and_calls() {
    let mut cases = Cases::new();
    for _ in 0..60 {
        let (first, second, third) = (cases.register(), cases.register(), cases.register());
        let (a, b, c) = (first.0, second.0, third.0);
        cases.assembler.stlr(first, second);
        cases.is(&format!("stlr x{a}, [x{b}]"));
        cases.assembler.stlrb(first, second);
        cases.is(&format!("stlrb w{a}, [x{b}]"));
        cases.assembler.ldaxr(first, second);
        cases.is(&format!("ldaxr x{a}, [x{b}]"));
        if first != second && first != third {
            cases.assembler.stlxr(first, second, third).unwrap();
            cases.is(&format!("stlxr w{a}, x{b}, [x{c}]"));
        }
        cases.assembler.casal(first, second, third);
        cases.is(&format!("casal x{a}, x{b}, [x{c}]"));
        cases.assembler.blr(first);
        cases.is(&format!("blr x{a}"));
        cases.assembler.br(first);
        cases.is(&format!("br x{a}"));
    }
    cases.assembler.ret();
    cases.is("ret");
    compare("atomics", &cases.assembler.code, &cases.text);
}

#[test]
fn branches_and_literals() {
    let conditions = [
        (Condition::Equal, "eq"),
        (Condition::NotEqual, "ne"),
        (Condition::AboveOrEqual, "hs"),
        (Condition::Below, "lo"),
        (Condition::Above, "hi"),
        (Condition::BelowOrEqual, "ls"),
    ];
    let mut assembly = Assembly::default();
    let (start, end) = (assembly.label(), assembly.label());
    assembly.set(Part::Hot, start);
    let mut text = String::from("start: ");
    let hot = assembly.hot("branches");
    for (label, name) in [(start, "start"), (end, "end")] {
        hot.b(label);
        writeln!(text, "b {name}").unwrap();
        for (condition, suffix) in conditions {
            hot.b_if(condition, label);
            writeln!(text, "b.{suffix} {name}").unwrap();
        }
        for number in [0, 7, 30] {
            let register = General::x(number);
            hot.cbz(Width::Bits32, register, label);
            hot.cbz(Width::Bits64, register, label);
            hot.cbnz(Width::Bits32, register, label);
            hot.cbnz(Width::Bits64, register, label);
            hot.ldr_literal(register, label);
            let forms = ["cbz w", "cbz x", "cbnz w", "cbnz x", "ldr x"];
            forms.iter().for_each(|form| writeln!(text, "{form}{number}, {name}").unwrap());
        }
    }
    assembly.set(Part::Hot, end);
    assembly.hot("the end").ret();
    text += "end: ret\n";
    let sequence = assembly.finish(None, Vec::new()).unwrap();
    assert!(sequence.relocations().is_empty());
    compare("branches", sequence.hot(), &text);
}

#[test]
fn numbers_without_room_are_errors() {
    let mut a = Assembler::default();
    let x = General::x;
    let outcomes = [
        a.add_immediate(x(0), x(1), 4097),
        a.add_immediate(x(0), x(1), 1 << 24),
        a.sub_immediate(SP, SP, 4097),
        a.cmp_immediate(x(0), u64::MAX),
        a.add_shifted_left(x(0), x(1), x(2), 64),
        a.add_shifted_right(x(0), x(1), x(2), 64),
        a.clear_lowest(x(0), x(1), 0),
        a.clear_lowest(x(0), x(1), 64),
        a.tst_immediate(x(0), 0),
        a.tst_immediate(x(0), u32::MAX),
        a.tst_immediate(x(0), 0b101),
        a.movz(x(0), 1, 4),
        a.movk(x(0), 1, 4),
        a.ldr(x(0), x(1), -257),
        a.ldr(x(0), x(1), 257),
        a.ldr(x(0), x(1), 32761),
        a.ldr(x(0), x(1), 32768),
        a.ldr_32(x(0), x(1), 16384),
        a.ldr_32(x(0), x(1), 258),
        a.ldrb(x(0), x(1), 4096),
        a.str(ZERO, x(1), i64::MIN),
        a.prfm(PrefetchInstruction::T0, x(1), 32768),
        a.ldp(x(0), x(1), x(2), 512),
        a.ldp(x(0), x(1), x(2), 4),
        a.ldp(x(3), x(3), x(2), 0),
        a.stp(ZERO, ZERO, x(2), -520),
        a.stp_vector_twice(Vector(0), x(2), 8),
        a.stp_vector_twice(Vector(0), x(2), 1024),
        a.stlxr(x(1), x(1), x(2)),
        a.stlxr(x(2), x(1), x(2)),
    ];
    for (index, outcome) in outcomes.into_iter().enumerate() {
        let message = outcome.expect_err(&format!("number {index}")).to_string();
        assert!(message.starts_with("the assembler refused an instruction: "), "{message}");
    }
    assert!(a.code.is_empty(), "an error appends nothing");
    for register in [Register::SP, Register::V3, Register::RAX] {
        assert!(General::of(register).is_err());
    }
    assert!(Vector::of(Register::X3).is_err() && Vector::of(Register::XMM3).is_err());
}

#[test]
fn sums_and_constants_of_any_size() {
    let run = |assembler: &Assembler| {
        let mut values = [0_u64; 31];
        values[1] = 1 << 40;
        for word in assembler.code.as_chunks::<4>().0 {
            let word = u32::from_le_bytes(*word);
            let (to, base, third) =
                ((word & 31) as usize, (word >> 5 & 31) as usize, (word >> 16 & 31) as usize);
            let immediate = u64::from(word >> 10 & 0xFFF) << if word >> 22 & 1 == 1 { 12 } else { 0 };
            let (piece, shift) = (u64::from(word >> 5 & 0xFFFF), word >> 21 & 3);
            values[to] = match word >> 23 {
                0x122 => values[base].wrapping_add(immediate),
                0x1A2 => values[base].wrapping_sub(immediate),
                0x1A5 => piece << (16 * shift),
                0x1E5 => values[to] & !(0xFFFF << (16 * shift)) | piece << (16 * shift),
                _ if word >> 21 == 0x458 => values[base].wrapping_add(values[third]),
                _ if word >> 21 == 0x658 => values[base].wrapping_sub(values[third]),
                _ => panic!("{word:#010x}"),
            };
        }
        values[2]
    };
    let edges =
        [0, 1, 8, 4095, 4096, 4097, 0xFF_F000, 0xFF_FFFF, 1 << 24, 1 << 24 | 1, i32::MAX.into(), 1 << 31];
    let mut cases = Cases::new();
    let random = (0..200).map(|_| cases.next(1 << 32) as i64 >> cases.next(32));
    for number in edges.into_iter().chain(random.collect::<Vec<_>>()).flat_map(|one: i64| [one, -one]) {
        let mut assembler = Assembler::default();
        assembler.add_constant(General::x(2), General::x(1), number).unwrap();
        assert_eq!(run(&assembler), (1_u64 << 40).wrapping_add_signed(number), "{number}");
        assert!(assembler.code.len() <= 12);
        let mut assembler = Assembler::default();
        assembler.mov_constant(General::x(2), number as u64).unwrap();
        assert_eq!(run(&assembler), number as u64, "{number}");
    }
    let far = Assembler::default().add_constant(General::x(2), General::x(16), 1 << 24);
    assert!(far.unwrap_err().to_string().ends_with("no scratch register is left for a sum"));
}
