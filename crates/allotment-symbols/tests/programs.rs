//! A program in C that is compiled here: with debug information, without, and with the debug
//! information in a file of its own.

use allotment_symbols::{Binary, Mapped, Symbols};
use object::{Object, ObjectSegment, ObjectSymbol};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// `place` lies in `inner`, which is inlined into `outer`.
const SOURCE: &str = r#"
static inline __attribute__((always_inline)) int inner(int number) {
  __asm__ volatile(".globl place\nplace:\n  nop");
  return number + 1;
}
__attribute__((noinline)) int outer(int number) {
  return inner(number) * 2;
}
int main(int count, char **texts) { (void)texts; return outer(count); }
"#;

fn run(program: &str, arguments: &[&str]) {
    let output = Command::new(program).args(arguments).output().unwrap();
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Whether the tools are there; without them a test is left out, which is printed.
fn has_tools() -> bool {
    let missing = ["cc", "objcopy", "strip"]
        .into_iter()
        .find(|tool| Command::new(tool).arg("--version").output().is_err());
    if let Some(tool) = missing {
        eprintln!("left out: there is no `{tool}` on this machine");
    }
    missing.is_none()
}

/// The program, and where `place` lies in the file.
fn program(folder: &Path, build_id: &str) -> (PathBuf, u64) {
    let (source, program) = (folder.join("program.c"), folder.join("program"));
    fs::write(&source, SOURCE).unwrap();
    let paths = [&source, &program].map(|path| path.to_str().unwrap().to_owned());
    let build_id = format!("-Wl,--build-id={build_id}");
    run("cc", &["-g", "-O2", "-fPIE", "-pie", &build_id, "-o", &paths[1], &paths[0]]);
    let bytes = fs::read(&program).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let address = file.symbols().find(|symbol| symbol.name() == Ok("place")).unwrap().address();
    let holds = |segment: &object::Segment<'_, '_>| address.wrapping_sub(segment.address()) < segment.size();
    let segment = file.segments().find(holds).unwrap();
    // The label would name the code after it.
    run("objcopy", &["--strip-symbol=place", &paths[1]]);
    (program, address - segment.address() + segment.file_range().0)
}

fn told(binary: &Binary, start: u64, place: u64) -> Vec<String> {
    let frames = binary.frames_in(start, place);
    let file = |file: &str| file.rsplit('/').next().unwrap_or_default().to_owned();
    frames.iter().map(|frame| format!("{} {}:{}", frame.function, file(&frame.file), frame.line)).collect()
}

#[test]
fn inlined_functions_are_named_with_their_lines_and_a_symbol_without() {
    if !has_tools() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (path, place) = program(folder.path(), "sha1");
    let page = place & !0xFFF;
    let binary = Binary::open(&path).unwrap();
    assert_eq!(binary.build_id().len(), 40, "{binary:?}");
    assert_eq!(told(&binary, page, place), ["inner program.c:3", "outer program.c:7"]);
    assert_eq!(told(&binary, page, u64::MAX), [] as [&str; 0]);
    assert_eq!(told(&binary, page, 0), [] as [&str; 0], "headers are not code");
    run("strip", &["--strip-debug", path.to_str().unwrap()]);
    assert_eq!(told(&Binary::open(&path).unwrap(), page, place), ["outer :0"]);
    run("strip", &[path.to_str().unwrap()]);
    let stripped = Binary::open(&path).unwrap();
    // The symbols for the loader are left; none of them is this function's.
    assert_eq!(told(&stripped, page, place), [] as [&str; 0]);
}

#[test]
fn a_stripped_program_is_named_by_its_debug_file_if_both_are_of_one_build() {
    if !has_tools() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (path, place) = program(folder.path(), "sha1");
    let page = place & !0xFFF;
    let debug = folder.path().join("program.debug");
    let [program_text, debug_text] = [&path, &debug].map(|path| path.to_str().unwrap());
    run("objcopy", &["--only-keep-debug", program_text, debug_text]);
    run("objcopy", &["--strip-all", &format!("--add-gnu-debuglink={debug_text}"), program_text]);
    let expected = ["inner program.c:3", "outer program.c:7"];
    let stripped = Binary::open(&path).unwrap();
    assert_eq!(told(&stripped, page, place), expected);
    // The debug file alone, as for a profile from another machine.
    let alone = Binary::open(&debug).unwrap();
    assert_eq!(alone.build_id(), stripped.build_id());
    assert_eq!(told(&alone, page, place), expected);
    // A debug file of another build.
    let id = stripped.build_id().to_owned();
    drop((stripped, alone));
    let other = tempfile::tempdir().unwrap();
    let (other, _) = program(other.path(), "0x1234");
    run("objcopy", &["--only-keep-debug", other.to_str().unwrap(), debug_text]);
    assert_eq!(told(&Binary::open(&path).unwrap(), page, place), [] as [&str; 0]);
    // And as a file of the profile itself.
    let mapped = |path, build_id| Mapped { path, build_id, start: 0x5000_0000 + page, offset: page };
    let address = 0x5000_0000 + place;
    assert!(Symbols::default().frames(mapped(&other, &id), address).is_empty());
    assert_eq!(Symbols::default().frames(mapped(&other, "1234"), address).len(), 2);
    // A given file is found by its build id, wherever the program was, and by its name without one.
    for (was, build_id, found) in [("/gone/lisp", "1234", 2), ("/gone/program", "", 2), ("/gone/lisp", "", 0)]
    {
        let mut symbols = Symbols::new(vec![Binary::open(&other).unwrap()]);
        assert_eq!(
            symbols.frames(mapped(Path::new(was), build_id), address).len(),
            found,
            "{was} {build_id}"
        );
        assert_eq!(symbols.unused().count(), usize::from(found == 0));
    }
}

#[test]
fn what_is_no_binary_is_told() {
    if !has_tools() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, "#!/bin/sh\n").unwrap();
    let error = |path: &Path| Binary::open(path).unwrap_err().to_string();
    assert!(error(&path).contains("it is not an ELF program or library"), "{}", error(&path));
    assert!(error(folder.path()).contains("not an ordinary file"));
    assert!(error(Path::new("/proc/self/maps")).contains("it is empty"));
    assert!(error(&folder.path().join("none")).contains("No such file"));
    let (program, place) = program(folder.path(), "sha1");
    let whole = fs::read(&program).unwrap();
    for length in (0..whole.len()).step_by(whole.len() / 37) {
        fs::write(&path, &whole[..length]).unwrap();
        // Refused, or with fewer names.
        if let Ok(cut) = Binary::open(&path) {
            assert!(cut.frames(place).len() <= 2);
        }
    }
}
