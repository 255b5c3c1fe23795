//! `docs/tutorial` keeps its promises. A reader who types its blocks has a crate that compiles
//! after each chapter, and in the end the Lisp of `examples/lisp`. Each block marked as a mistake
//! gives the named errors.
//!
//! Refused: rustdoc's tests of code blocks, each a program of its own. A tutorial's blocks are
//! parts of one program.

mod library;

use library::library;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The files of the crate that the reader has.
type Files = BTreeMap<String, String>;

/// A mistake: the kinds of errors it gives, the file at whose end it would be made, and itself.
struct Mistake {
    error: String,
    file: String,
    text: String,
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The chapters, in order.
fn chapters() -> Vec<(String, String)> {
    let mut chapters: Vec<(String, String)> = std::fs::read_dir(repository().join("docs/tutorial"))
        .expect("the tutorial")
        .map(|entry| entry.expect("an entry"))
        .map(|entry| (entry.file_name().into_string().expect("text"), entry.path()))
        .filter(|(name, _)| name.starts_with(|c: char| c.is_ascii_digit()))
        .map(|(name, path)| (name, std::fs::read_to_string(path).expect("text")))
        .collect();
    chapters.sort();
    chapters
}

/// Types the blocks of a chapter. Returns its mistakes.
fn follow(chapter: &str, files: &mut Files) -> Vec<Mistake> {
    let mut mistakes = Vec::new();
    let mut lines = chapter.lines();
    // The page shows its reader only the colours of a block's first line.
    let mut above = "";
    while let Some(line) = lines.next() {
        let before = above;
        above = if line.is_empty() { above } else { line };
        let Some(about) = line.strip_prefix("```") else { continue };
        let text: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        let text = text.join("\n") + "\n";
        let words: Vec<&str> = about.split(' ').collect();
        let Some(file) = words.iter().find_map(|word| word.strip_prefix("file=")) else { continue };
        assert!(
            before.contains(&format!("`{file}`")),
            "the line above {line} does not name the file: {before}"
        );
        let file = file.to_string();
        if let Some(error) = words.iter().find_map(|word| word.strip_prefix("fails=")) {
            mistakes.push(Mistake { error: error.to_string(), file, text });
        } else if words.contains(&"instead") {
            files.insert(file, text);
        } else {
            append(files, &file, &text);
        }
    }
    mistakes
}

fn append(files: &mut Files, file: &str, text: &str) {
    let content = files.entry(file.to_string()).or_default();
    if !content.is_empty() {
        content.push('\n');
    }
    content.push_str(text);
}

/// The errors of rustc; nothing if the crate compiles.
fn compile(files: &Files) -> Option<String> {
    let (library, deps) = library();
    let directory = tempfile::tempdir().expect("a directory");
    for (file, text) in files {
        let path = directory.path().join(file);
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("made");
        std::fs::write(path, text).expect("written");
    }
    let output = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()))
        .args(["--edition=2024", "--crate-type=bin", "--crate-name=tutorial", "--emit=metadata", "-Aunused"])
        .arg("--extern")
        .arg(format!("allotment={}", library.display()))
        .arg("-L")
        .arg(format!("dependency={}", deps.display()))
        .arg("--out-dir")
        .arg(directory.path())
        .arg(directory.path().join("src/main.rs"))
        .output()
        .expect("rustc runs");
    (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The codes of the errors; those without a code by how they begin.
fn errors(complaint: &str) -> BTreeSet<&str> {
    let lines = complaint.lines().filter(|line| !line.starts_with("error: aborting"));
    let coded = lines.clone().filter_map(|line| line.strip_prefix("error[")?.split(']').next());
    let others = lines.filter_map(|line| line.strip_prefix("error: ")?.split(' ').next());
    coded.chain(others).collect()
}

#[test]
fn each_chapter_compiles_and_each_mistake_is_the_error_it_is_said_to_be() {
    let mut files = Files::new();
    let mut wrong = Vec::new();
    for (name, chapter) in chapters() {
        let mistakes = follow(&chapter, &mut files);
        if let Some(complaint) = compile(&files) {
            wrong.push(format!("after {name}: {complaint}"));
            continue;
        }
        assert!(!mistakes.is_empty() || name.starts_with("09"), "{name} shows what is caught");
        for Mistake { error, file, text } in mistakes {
            let mut files = files.clone();
            append(&mut files, &file, &text);
            let complaint = compile(&files).unwrap_or_else(|| "it compiles".to_string());
            if errors(&complaint) != error.split(',').collect() {
                wrong.push(format!("{name}, {file}, {error}:\n{text}\n{complaint}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn whoever_follows_it_has_the_lisp_of_the_examples() {
    let mut files = Files::new();
    for (_, chapter) in chapters() {
        follow(&chapter, &mut files);
    }
    let example = repository().join("examples/lisp");
    let mut expected = Files::new();
    for directory in ["", "builtins"] {
        for entry in std::fs::read_dir(example.join(directory)).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_file() {
                let name = path.strip_prefix(&example).expect("in it").to_string_lossy().into_owned();
                expected.insert(format!("src/{name}"), std::fs::read_to_string(&path).expect("text"));
            }
        }
    }
    assert_eq!(files.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    for (name, text) in &files {
        assert_eq!(Some(text), expected.get(name), "{name}");
    }
}
