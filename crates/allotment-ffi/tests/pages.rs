//! The pages of docs/c and the small programs of examples/c: the code in them compiles, runs under
//! each collector, and does what the pages say.
//!
//! The fence of a block says what it is:
//!
//! | fence | the block |
//! |---|---|
//! | `c` | is a file: it compiles, and runs if it has a `main` |
//! | `c,first` | is a piece of `examples/c/first.c`: together they are that file |
//! | `c,more` | is a piece of a second program: together they are a file that runs, and prints `text,more` |
//! | `c,right` | is the body of a function beside `tests/wrong/wrong.h`, and keeps the rules |
//! | `c,wrong NAME` | has lines of `tests/wrong/NAME.c`, which breaks a rule |
//! | `c,prelude` | has lines of `tests/wrong/wrong.h` |
//! | `cpp,part` | is a piece of `examples/c/first.cc` |
//! | `c,gc` and `c,same` | are a file for bdwgc, and one for allotment that prints the same |
//! | `c,fragment`, `cpp,fragment` | is part of something, and not checked |

mod common;

use common::{Compiler, PACKAGE, STRICT, compilers, emulator, library, library_folder, run, scratch, text};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Each collector, with room for a program that is never collected.
const COLLECTORS: [&str; 5] = [
    "Collector=parallel",
    "Collector=mark-compact",
    "Collector=shenandoah,ShenandoahGCMode=satb",
    "Collector=shenandoah,ShenandoahGCMode=generational",
    "Collector=epsilon,MaxHeapSize=1g",
];

/// Options that collect at every Nth allocation, move every object, and check the heap. A prime N
/// comes to other places of a loop in each turn.
fn zeal(interval: u32) -> String {
    let interval = if emulator().is_empty() { interval } else { interval * 20 };
    format!(",ZealInterval={interval},+ZealMove,+ZealProtect,ZealQuarantine=2,+VerifyBeforeGC,+VerifyAfterGC")
}

fn repository() -> PathBuf {
    Path::new(PACKAGE).join("../..")
}

/// A fenced block of a page.
#[derive(Debug)]
struct Block {
    page: String,
    line: usize,
    fence: String,
    code: String,
}

/// The fenced blocks of docs/c, page by page.
fn blocks() -> Vec<Block> {
    let folder = std::fs::read_dir(repository().join("docs/c")).expect("a folder");
    let mut files: Vec<PathBuf> = folder.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    let mut blocks: Vec<Block> = Vec::new();
    for file in files {
        let page = file.file_name().expect("a name").to_string_lossy().into_owned();
        let mut open: Option<Block> = None;
        for (index, line) in std::fs::read_to_string(&file).expect("a page").lines().enumerate() {
            // In a list, a block is indented.
            match (line.trim_start().strip_prefix("```"), &mut open) {
                (Some(fence), None) => {
                    let fence = fence.trim().to_owned();
                    open = Some(Block { page: page.clone(), line: index + 1, fence, code: String::new() });
                }
                (Some(_), Some(_)) => blocks.extend(open.take()),
                (None, Some(block)) => block.code.extend([line, "\n"]),
                (None, None) => {}
            }
        }
        assert!(open.is_none(), "{page}: a block has no end");
    }
    blocks
}

/// The blocks with that fence, put together with an empty line between them.
fn together(fence: &str) -> String {
    let pieces: Vec<String> =
        blocks().into_iter().filter(|block| block.fence == fence).map(|block| block.code).collect();
    assert!(!pieces.is_empty(), "no block has the fence {fence}");
    pieces.join("\n")
}

/// Compiles a file without a warning, to a program if it has a `main`. `None`: it has none.
fn compile(compiler: &Compiler, source: &Path, flags: &[&str], libraries: &[&str]) -> Option<PathBuf> {
    let code = std::fs::read_to_string(source).expect("a file");
    let name = source.file_name().expect("a name").to_string_lossy();
    let program = scratch(&format!("{name}-{}{}", compiler.name(), flags.concat().replace('/', "_")));
    let mut command = compiler.start(name.ends_with(".cc"));
    command.args(STRICT).args(["-O2", "-g"]).args(flags).arg(source).arg("-o").arg(&program);
    let is_program = code.contains("int main(");
    if is_program {
        library("so");
        let folder = library_folder();
        command.arg("-L").arg(&folder).arg(format!("-Wl,-rpath,{}", folder.display()));
        command.args(libraries);
    } else {
        command.args(["-c", "-Wno-unused-function"]);
    }
    let output = command.output().expect("the compiler runs");
    assert!(output.status.success(), "{}, {}: {}", source.display(), compiler.name(), text(&output));
    is_program.then_some(program)
}

const OURS: [&str; 2] = ["-lallotment_ffi", "-lpthread"];

/// What a program says under these options. It has to end well.
fn said(program: &Path, options: &str) -> String {
    let output = run(program, &[], options, 300);
    assert!(output.status.success(), "{} {options}: {} {}", program.display(), output.status, text(&output));
    text(&output)
}

/// A file with that code.
fn written(name: &str, code: &str) -> PathBuf {
    let file = scratch(name);
    std::fs::write(&file, code).expect("a file in the target directory");
    file
}

#[test]
fn each_fence_is_a_known_one() {
    let known = [
        "c",
        "cpp,part",
        "c,first",
        "c,more",
        "c,right",
        "c,prelude",
        "c,gc",
        "c,same",
        "c,fragment",
        "cpp,fragment",
    ];
    let others = ["text", "text,more", "sh", "console", "cmake"];
    let mut pages: Vec<String> = Vec::new();
    for block in blocks() {
        let Block { page, line, fence, .. } = block;
        let is_known = known.contains(&&*fence) || others.contains(&&*fence) || fence.starts_with("c,wrong ");
        assert!(
            is_known,
            "{page}:{line}: the fence `{fence}` is none of those in the head of tests/pages.rs"
        );
        pages.push(page);
    }
    for page in ["README.md", "tutorial.md", "rules.md", "jit.md", "porting-from-bdwgc.md", "reference.md"] {
        assert!(pages.iter().any(|known| known == page), "{page} has no block");
    }
}

#[test]
fn each_whole_block_compiles_and_runs_under_each_collector() {
    let whole: Vec<Block> = blocks().into_iter().filter(|block| block.fence == "c").collect();
    assert!(!whole.is_empty(), "no page has a whole block");
    for block in whole {
        let source = written(&format!("{}-{}.c", block.page, block.line), &block.code);
        for compiler in compilers() {
            let Some(program) = compile(compiler, &source, &[], &OURS) else { continue };
            for collector in COLLECTORS {
                said(&program, collector);
                if !collector.contains("epsilon") {
                    said(&program, &format!("{collector}{}", zeal(997)));
                }
            }
        }
    }
}

#[test]
fn the_pieces_of_the_tutorial_are_the_first_program() {
    let file = std::fs::read_to_string(repository().join("examples/c/first.c")).expect("a file");
    let pieces = together("c,first");
    for (line, (piece, own)) in pieces.lines().zip(file.lines()).enumerate() {
        assert_eq!(piece, own, "docs/c/tutorial.md and line {} of examples/c/first.c", line + 1);
    }
    assert_eq!(pieces, file);
    assert!(file.lines().count() <= 110, "the tutorial says 100 lines");
}

#[test]
fn the_piece_in_cpp_is_one_of_the_program() {
    let file = std::fs::read_to_string(repository().join("examples/c/first.cc")).expect("a file");
    assert!(file.contains(&together("cpp,part")), "examples/c/first.cc has no such lines");
}

/// Lines that a program prints under each collector.
fn lasting(said: &str) -> Vec<&str> {
    said.lines().filter(|line| !line.contains("collect")).collect()
}

#[test]
fn the_first_programs_run_under_each_collector_and_with_zeal() {
    for (file, standard) in [("first.c", "-std=c99"), ("first.cc", "-std=c++17")] {
        let source = repository().join("examples/c").join(file);
        for compiler in compilers() {
            let program = compile(compiler, &source, &[standard], &OURS).expect("a main");
            let wanted = said(&program, "Collector=parallel");
            assert!(wanted.contains("the first tree: "), "{wanted}");
            for collector in COLLECTORS {
                assert_eq!(lasting(&said(&program, collector)), lasting(&wanted), "{file}, {collector}");
                if !collector.contains("epsilon") {
                    let zeal = said(&program, &format!("{collector}{}", zeal(9973)));
                    assert_eq!(lasting(&zeal), lasting(&wanted), "{file}, {collector} with zeal");
                }
            }
            let checked = compile(compiler, &source, &[standard, "-DAL_CHECK"], &OURS).expect("a main");
            assert_eq!(
                lasting(&said(&checked, "Collector=parallel")),
                lasting(&wanted),
                "{file} with AL_CHECK"
            );
        }
    }
}

/// The ways in which the first programs end early.
#[test]
fn the_first_programs_say_what_went_wrong() {
    let cases = [
        ("Colector=parallel", "Collector"),
        ("Collector=epsilon,MaxHeapSize=8m", "no room"),
        ("ZealOutOfMemory=12345", "out of memory"),
    ];
    for (file, standard) in [("first.c", "-std=c99"), ("first.cc", "-std=c++17")] {
        let source = repository().join("examples/c").join(file);
        let program = compile(&compilers()[0], &source, &[standard], &OURS).expect("a main");
        for (options, says) in cases {
            let output = run(&program, &[], options, 60);
            let said = text(&output);
            assert_eq!(output.status.code(), Some(1), "{file}, {options}: {said}");
            assert!(said.starts_with("first: ") && said.contains(says), "{file}, {options}: {said}");
        }
    }
}

#[test]
fn the_second_program_of_the_tutorial_prints_what_the_page_says() {
    let source = written("more.c", &together("c,more"));
    let wanted = together("text,more");
    for compiler in compilers() {
        for flags in [&["-std=gnu11"][..], &["-std=gnu11", "-DAL_CHECK"]] {
            let program = compile(compiler, &source, flags, &OURS).expect("a main");
            for collector in COLLECTORS.iter().filter(|collector| !collector.contains("epsilon")) {
                assert_eq!(said(&program, collector), wanted, "{collector}");
            }
            let options = format!("Collector=parallel{}", zeal(997));
            assert_eq!(said(&program, &options), wanted, "{options}");
        }
    }
}

#[test]
fn right_blocks_of_the_rules_keep_them() {
    let right: Vec<Block> = blocks().into_iter().filter(|block| block.fence == "c,right").collect();
    assert!(right.len() >= 9, "{} right blocks for nine rules", right.len());
    let mut code = "#include \"wrong.h\"\n#include <setjmp.h>\n".to_owned();
    for block in &right {
        code += &format!("#line {} \"docs/c/{}\"\n", block.line, block.page);
        code += &format!("static void right_{}(void) {{\n{}}}\n", block.line, block.code);
    }
    code += "int main(void) {\n  begin();\n";
    right.iter().for_each(|block| code += &format!("  right_{}();\n", block.line));
    code += "  end();\n  return 0;\n}\n";
    let source = written("right.c", &code);
    let wrong = format!("-I{}", Path::new(PACKAGE).join("tests/wrong").display());
    for compiler in compilers() {
        for flags in [&[&*wrong][..], &[&*wrong, "-DAL_CHECK"]] {
            let program = compile(compiler, &source, flags, &OURS).expect("a main");
            for collector in COLLECTORS.iter().filter(|collector| !collector.contains("epsilon")) {
                said(&program, &format!("{collector}{}", zeal(1)));
            }
        }
    }
}

#[test]
fn wrong_blocks_of_the_rules_are_programs_that_are_found() {
    let mut count = 0;
    for block in blocks() {
        let name = match block.fence.split_once(' ') {
            Some(("c,wrong", name)) => format!("{name}.c"),
            None if block.fence == "c,prelude" => "wrong.h".to_owned(),
            _ => continue,
        };
        let program = std::fs::read_to_string(Path::new(PACKAGE).join("tests/wrong").join(&name));
        let program =
            program.unwrap_or_else(|error| panic!("{}:{}: {name}: {error}", block.page, block.line));
        for line in block.code.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let is_there = program.lines().any(|own| own.trim() == line);
            assert!(is_there, "{}:{}: {name} has no line `{line}`", block.page, block.line);
        }
        count += 1;
    }
    assert!(count >= 9, "{count} wrong blocks for nine rules");
}

#[test]
fn the_ported_program_prints_what_it_printed_with_bdwgc() {
    let (before, after) = (written("before.c", &together("c,gc")), written("after.c", &together("c,same")));
    let compiler = &compilers()[0];
    let ported = compile(compiler, &after, &[], &OURS).expect("a main");
    let wanted = said(&ported, "Collector=parallel");
    assert_eq!(wanted, "1000 nodes, the first is node 999\n");
    for collector in COLLECTORS {
        assert_eq!(said(&ported, collector), wanted, "{collector}");
    }
    let mut header = Command::new(compiler.command[0]);
    let header = header.args(["-E", "-include", "gc.h", "-x", "c", "/dev/null"]).output().expect("it runs");
    if !emulator().is_empty() || !header.status.success() {
        println!("not checked: gc.h is missing: apt-get install libgc-dev");
        return;
    }
    let program = compile(compiler, &before, &[], &["-lgc"]).expect("a main");
    assert_eq!(said(&program, ""), wanted, "with bdwgc");
}
