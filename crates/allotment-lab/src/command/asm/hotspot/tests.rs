//! Tests of HotSpot's side against the formulas of its options.

use super::*;
use crate::command::asm::arguments::Target;
use crate::machine::processors::NEOVERSE;
use proptest::prelude::*;

fn settings(style: usize, distance: usize, lines: usize, instance_lines: usize) -> PrefetchSettings {
    PrefetchSettings {
        style: PrefetchStyle::from_number(style).unwrap(),
        distance,
        lines,
        instance_lines,
        step: 64,
        instruction: PrefetchInstruction::Write,
    }
}

fn question(settings: PrefetchSettings, what: What) -> Question {
    Question {
        processor: Target::Rapids.processor(NEOVERSE).unwrap(),
        settings,
        what,
        initialise: Initialise::PerObject,
        count: 1,
        form: Form::Pasted,
        compact_headers: false,
    }
}

const OBJECT: What = What::Object { bytes: 64 };

fn texts(question: &Question, part: Part) -> Vec<String> {
    let steps = sequence(question);
    steps.into_iter().filter(|step| step.part == part).map(|step| step.assembly).collect()
}

/// The addresses that the steps prefetch.
fn addresses(found: &Prefetches, old: usize, new: usize, watermark: usize, distance: usize) -> Vec<usize> {
    let base = match found.base {
        Base::NewTop => new,
        Base::Watermark => watermark + distance,
        Base::Line { ahead, step } => (old + ahead) & !(step - 1),
    };
    found.displacements.iter().map(|displacement| base + displacement).collect()
}

#[test]
fn defaults_prefetch_what_hotspot_is_known_to() {
    // Current Intel servers: one line at 192 for an instance, four lines for an array. Zen: 256,
    // and three lines.
    let of = |target: Target, array| {
        let settings = PrefetchSettings::hotspot(&target.processor(NEOVERSE).unwrap().into());
        prefetches(&settings, array).unwrap().displacements
    };
    assert_eq!(of(Target::Rapids, false), [192]);
    assert_eq!(of(Target::Rapids, true), [192, 256, 320, 384]);
    assert_eq!(of(Target::Zen, true), [256, 320, 384]);
    assert_eq!(prefetches(&settings(0, 256, 3, 1), true), None);
}

proptest! {
    #[test]
    fn addresses_are_those_of_the_styles(
        style in 1_usize..4, distance in 1_usize..=512, lines in 1_usize..=64, step in 3_u32..=9,
        (old, bytes, watermark) in (0_usize..1 << 20, 2_usize..100, 0_usize..1 << 20),
    ) {
        let step = 1 << step;
        let settings = PrefetchSettings { step, ..settings(style, distance, lines, 1) };
        let (old, new) = (old * 8, (old + bytes) * 8);
        let found = prefetches(&settings, true).unwrap();
        let expected: Vec<usize> = (0..lines).map(|line| match style {
            1 => new + distance + line * step,
            2 => watermark + distance + line * step,
            _ => (old + step + distance) / step * step + line * step,
        }).collect();
        prop_assert_eq!(addresses(&found, old, new, watermark, distance), expected);
    }
}

#[test]
fn the_sequence_of_an_instance() {
    let asked = question(settings(1, 192, 4, 1), OBJECT);
    assert_eq!(
        texts(&asked, Part::Hot),
        [
            "mov r8, [r15 + tlab.end]",
            "mov rax, [r15 + tlab.top]",
            "lea r10, [rax + 64]",
            "cmp r10, r8",
            "jae slow",
            "prefetchw [r10 + 192]",
            "mov [r15 + tlab.top], r10",
            "mov qword ptr [rax], 1",
            "mov dword ptr [rax + 8], {class}",
            "{clear rax + 12 to rax + 64}",
            "{store-store barrier}",
        ]
    );
    let compact = texts(&Question { compact_headers: true, ..asked }, Part::Hot);
    assert_eq!(compact[7..9], ["mov qword ptr [rax], {mark and class}", "{clear rax + 8 to rax + 64}"]);
}

#[test]
fn the_watermark_bursts_out_of_line() {
    let asked = question(settings(2, 256, 3, 2), OBJECT);
    let hot = texts(&asked, Part::Hot);
    assert_eq!(hot[5..8], ["mov r11, [r15 + tlab.pf_top]", "cmp r10, r11", "jae fetch"]);
    let cold = [
        "fetch: add r11, 256",
        "mov [r15 + tlab.pf_top], r11",
        "prefetchw [r11]",
        "prefetchw [r11 + 64]",
        "jmp back",
    ];
    assert_eq!(texts(&asked, Part::Cold)[..5], cold);
}

#[test]
fn arrays_of_lengths_in_registers_are_checked_and_rounded() {
    let array = |element, length| What::Array { element, length };
    let asked = |element| question(settings(3, 256, 1, 1), array(element, Length::Register));
    assert_eq!(
        texts(&asked(4), Part::Hot)[..7],
        [
            "cmp ebx, 262144",
            "ja slow",
            "mov r8, [r15 + tlab.end]",
            "mov rax, [r15 + tlab.top]",
            "lea r11, [rbx*4 + 23]",
            "and r11, -8",
            "lea r10, [rax + r11]"
        ]
    );
    assert!(texts(&asked(8), Part::Hot).contains(&"lea r11, [rbx*8 + 16]".to_string()));
    assert!(texts(&asked(8), Part::Hot).contains(&"lea r11, [rax + 320]".to_string()));
    let constant = question(settings(0, 256, 1, 1), array(4, Length::Constant(5)));
    let has = |asked: &Question, text: &str| texts(asked, Part::Hot).iter().any(|line| line == text);
    assert!(has(&constant, "lea r10, [rax + 40]") && has(&constant, "mov dword ptr [rax + 12], 5"));
    let compact = Question { compact_headers: true, ..constant };
    assert!(has(&compact, "lea r10, [rax + 32]") && has(&compact, "{clear rax + 12 to rax + 32}"));
    let empty = question(settings(0, 256, 1, 1), array(4, Length::Constant(0)));
    assert!(!texts(&empty, Part::Hot).iter().any(|line| line.starts_with("{clear")));
}

#[test]
fn lines_by_size_become_a_number() {
    let by_size = settings(1, 256, 0, 0);
    let taken = as_hotspot_takes_them(&by_size, Some(144));
    assert_eq!((taken.lines, taken.instance_lines), (3, 3));
    assert_eq!(as_hotspot_takes_them(&by_size, None).lines, 1);
    assert_eq!(as_hotspot_takes_them(&settings(1, 0, 3, 1), None).style, PrefetchStyle::None);
}
