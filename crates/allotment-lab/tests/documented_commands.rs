//! Every command that README.md and the pages under docs/ show is one that works today.
//!
//! A fenced block of shell is taken apart into commands. `run` is asked for its plan, which reads
//! all flags and names of the grid and measures nothing. Of the other verbs the flags are read. An
//! example has to exist, with the files that it is given; so have the folders that `mvn` and `java`
//! are pointed at.
//!
//! Refused: to run the commands. Some take hours, and others read files of the reader's.

use allotment_lab::command;
use allotment_lab::experiments;
use allotment_report::command::Failure;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The pages, with their paths from the repository.
fn pages() -> Vec<(String, String)> {
    let mut found = vec![];
    let mut folders = vec![PathBuf::from("docs")];
    let mut files = vec![PathBuf::from("README.md")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(repository().join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let path = folder.join(entry.file_name());
            match entry.file_type().unwrap().is_dir() {
                true => folders.push(path),
                false if path.extension().is_some_and(|kind| kind == "md") => files.push(path),
                false => {}
            }
        }
    }
    files.sort();
    for file in files {
        let text = fs::read_to_string(repository().join(&file)).unwrap();
        found.push((file.display().to_string(), text));
    }
    found
}

/// The commands of the fenced blocks of shell in a page: words, without comments, a line that goes on
/// joined with the next. Of a console only what is typed.
fn commands(page: &str) -> Vec<Vec<String>> {
    let mut found = vec![];
    let mut fence = None;
    let mut begun = String::new();
    for line in page.lines() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            fence = if fence.is_none() { Some(language.trim().to_owned()) } else { None };
            continue;
        }
        let typed = match fence.as_deref() {
            Some("sh" | "bash") => line,
            Some("console") => match line.strip_prefix("$ ") {
                Some(typed) => typed,
                None => continue,
            },
            _ => continue,
        };
        begun.push_str(typed);
        if begun.ends_with('\\') {
            begun.pop();
            continue;
        }
        let line = std::mem::take(&mut begun);
        let words = shlex::split(&line).unwrap_or_else(|| panic!("no shell reads this: {line}"));
        found.extend(
            words.split(|word| matches!(word.as_str(), "|" | "&&" | "||" | ";")).map(<[String]>::to_vec),
        );
    }
    found.retain(|words| !words.is_empty());
    found
}

/// A command without what stands before it: variables of the environment, and the rest.
fn environment(words: &[String]) -> (Vec<(&str, &str)>, &[String]) {
    let is_set = |word: &String| {
        word.split_once('=')
            .is_some_and(|(name, _)| name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_'))
    };
    let count = words.iter().take_while(|word| is_set(word)).count();
    let variables = words[..count].iter().filter_map(|word| word.split_once('='));
    (variables.collect(), &words[count..])
}

/// The words for the lab; `None`: it is another program.
fn for_the_lab(words: &[String]) -> Option<&[String]> {
    let words = match words.first()?.as_str() {
        "allotment" => &words[1..],
        "cargo"
            if words.get(1).is_some_and(|verb| verb == "run")
                && !words.iter().any(|word| word == "--example") =>
        {
            &words[words.iter().position(|word| word == "--")? + 1..]
        }
        _ => return None,
    };
    // Where output goes is the shell's.
    let end =
        words.iter().position(|word| word.starts_with('>') || word.starts_with("2>")).unwrap_or(words.len());
    Some(&words[..end])
}

/// The words of a plan: files are not written, and a JVM is asked for only where one is.
fn planned(words: &[String], has_jvm: bool) -> Vec<String> {
    let mut planned = vec![];
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--json" | "--csv" | "--report" | "--markdown" | "--svg" => drop(words.next()),
            "--jvm" | "--jvm-collector" if !has_jvm => drop(words.next()),
            "--jvm" => {
                words.next();
                planned.extend(["--jvm".to_owned(), "auto".to_owned()]);
            }
            _ => planned.push(word.clone()),
        }
    }
    planned.push("--plan".to_owned());
    planned
}

/// Whether a command asks for what this build or this machine lacks.
fn is_out_of_reach(words: &[String]) -> bool {
    let peers = words.iter().any(|word| word.contains("mimalloc")) && !cfg!(feature = "peers");
    // Events of a processor, and names of JDKs, differ from machine to machine.
    peers || words.iter().any(|word| word.starts_with("--counters=") || word.starts_with("jvm="))
}

#[test]
fn the_commands_of_the_pages_are_understood() {
    let has_jvm = Command::new("java").arg("-version").stderr(Stdio::null()).status().is_ok();
    let (mut runs, mut others, mut wrong) = (0, 0, vec![]);
    for (page, text) in pages() {
        for words in commands(&text) {
            let (variables, words) = environment(&words);
            // What the reader of the tutorial runs by cargo is the reader's own crate.
            let is_readers_own =
                page.starts_with("docs/tutorial") && words.first().is_some_and(|word| word == "cargo");
            let Some(lab) = for_the_lab(words).filter(|_| !is_readers_own) else { continue };
            let shown = format!("{page}: allotment {}", lab.join(" "));
            if lab.first().is_none_or(|verb| verb != "run") {
                others += 1;
                let line = ["allotment"].into_iter().chain(lab.iter().map(String::as_str));
                if let Err(Failure::Usage(said)) = command::parse(line.map(Into::into), experiments::all()) {
                    wrong.push(format!("{shown}\n    {said}"));
                }
            } else if !is_out_of_reach(lab) {
                runs += 1;
                let output = Command::new(env!("CARGO_BIN_EXE_allotment"))
                    .args(planned(lab, has_jvm))
                    .envs(variables.iter().copied().filter(|(name, _)| *name != "RUSTFLAGS"))
                    .output()
                    .unwrap();
                if !output.status.success() {
                    wrong.push(format!("{shown}\n    {}", String::from_utf8_lossy(&output.stderr)));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} commands:\n{}", wrong.len(), wrong.join("\n"));
    assert!(runs > 80 && others > 30, "{runs} {others}");
}

#[test]
fn the_examples_and_folders_of_the_pages_are_there() {
    let (mut seen, mut wrong) = (0, vec![]);
    let examples = ["crates/allotment/examples", "crates/allotment-jit/examples", "examples/ticks/examples"];
    for (page, text) in pages() {
        let mut folder = repository();
        for words in commands(&text) {
            let (_, words) = environment(&words);
            let Some(program) = words.first() else { continue };
            let after =
                |flag: &str| words.iter().position(|word| word == flag).and_then(|at| words.get(at + 1));
            match program.as_str() {
                "cd" if repository().join(&words[1]).is_dir() => folder = repository().join(&words[1]),
                "cargo" => {
                    let Some(name) = after("--example") else { continue };
                    seen += 1;
                    let is_file =
                        examples.iter().any(|at| repository().join(at).join(format!("{name}.rs")).exists());
                    if name != "lisp" && !is_file {
                        wrong.push(format!("{page}: no example {name}"));
                    }
                    let files = words.iter().filter(|word| word.starts_with("examples/"));
                    wrong.extend(
                        files
                            .filter(|file| !repository().join(file).exists())
                            .map(|file| format!("{page}: no {file}")),
                    );
                }
                "mvn" => {
                    seen += 1;
                    let project =
                        after("-f").map_or_else(|| folder.join("pom.xml"), |path| folder.join(path));
                    if !project.exists() {
                        wrong.push(format!("{page}: {} is not there", project.display()));
                    }
                }
                _ => {}
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen >= 8, "{seen}");
}

#[test]
fn commands_are_taken_out_of_a_page_as_a_shell_would() {
    let page = "text\n```sh\n# a comment\nA=1 cargo run --release -- run tlab \\\n  --quick   # why\n```\n```rust\nlet x;\n```\n\
                ```console\n$ allotment heap summary \"a b\" | less\n12 objects\n```\n";
    let words = |line: &[&str]| line.iter().map(|word| word.to_string()).collect::<Vec<_>>();
    let found = commands(page);
    let run = words(&["A=1", "cargo", "run", "--release", "--", "run", "tlab", "--quick"]);
    assert_eq!(found, [run.clone(), words(&["allotment", "heap", "summary", "a b"]), words(&["less"])]);
    let (variables, rest) = environment(&run);
    assert_eq!(variables, [("A", "1")]);
    assert_eq!(for_the_lab(rest).unwrap(), words(&["run", "tlab", "--quick"]));
    assert_eq!(
        planned(&words(&["run", "tlab", "--json", "x", "--jvm", "~/jdk"]), false),
        ["run", "tlab", "--plan"]
    );
}
