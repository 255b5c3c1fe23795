//! docs/c/reference.md: the declarations of the headers, with their comments.
//!
//! This test prints the page, and fails if the file differs:
//! `ALLOTMENT_WRITE_REFERENCE=1 cargo test -p allotment-ffi --test reference` writes it anew.
//!
//! A comment before declarations belongs to all of them, up to the next empty line. What begins a
//! line of a header is thus either a comment, a declaration or a line of the preprocessor. Names
//! that end in `_` are the header's own.

mod common;

use common::{PACKAGE, library};
use object::{Object, ObjectSymbol};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The parts of the header, in the order in which `allotment.h` includes them.
const HEADERS: [&str; 8] =
    ["base.h", "heap.h", "shape.h", "slots.h", "alloc.h", "roots.h", "observe.h", "cxx.h"];

const INTRODUCTION: &str = "\
# Reference

*What does this function do?*

| mark | the function |
|---|---|
| **[S]** | may reach a safepoint: every object may move, and no address from before is good after it |
| **[N]** | never reaches a safepoint |
| **[A]** | may be called by any thread, attached or not, and is not a safepoint |

Functions without a mark are called in a callback that their text names. A function that returns `al_code` answers a wrong input with
a code and a text. Any other function ends the process with one line. The nine rules are in [rules.md](rules.md).

This page is printed from the comments in `crates/allotment-ffi/include/allotment`. `ALLOTMENT_WRITE_REFERENCE=1 cargo test -p allotment-ffi
--test reference` prints it anew.
";

fn include(name: &str) -> PathBuf {
    Path::new(PACKAGE).join("include/allotment").join(name)
}

/// Declarations with one comment.
#[derive(Debug, Default)]
struct Entry {
    text: String,
    names: Vec<String>,
    code: String,
    mark: Option<&'static str>,
    is_of_cpp: bool,
}

/// A part of the page.
#[derive(Debug)]
struct Section {
    title: String,
    text: String,
    entries: Vec<Entry>,
}

impl Section {
    /// A section of that heading: its first sentence is the title.
    fn new(heading: &str) -> Section {
        let (title, text) = heading.split_once(". ").unwrap_or((heading, ""));
        Section { title: title.to_owned(), text: text.to_owned(), entries: Vec::new() }
    }

    /// Adds declarations, if there are any.
    fn add(&mut self, entry: Entry) {
        if !entry.names.is_empty() {
            self.entries.push(entry);
        }
    }
}

/// The anchor of a heading, as GitHub and others make it.
fn anchor(heading: &str) -> String {
    let signs = heading.to_lowercase();
    let kept = signs.chars().filter(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | ' '));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Whether a declaration is that of a class, or of a template of one.
fn is_class(declaration: &str) -> bool {
    declaration.lines().take(2).any(|line| line.starts_with("class "))
}

/// The end of the declaration that begins a text: after its `;`, or after the `}` of a function's
/// body. Comments within do not count.
fn declaration_end(text: &str) -> usize {
    let is_type = text.starts_with("typedef") || is_class(text);
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with("/*") {
            at += rest.find("*/").expect("the end of a comment") + 2;
            continue;
        }
        let sign = rest.as_bytes()[0];
        match sign {
            b'(' | b'{' => depth += 1,
            b')' | b'}' => depth -= 1,
            _ => {}
        }
        at += 1;
        let is_body = sign == b'}' && !is_type;
        if depth == 0 && (is_body || sign == b';') {
            return at;
        }
    }
    panic!("a declaration without an end: {text}");
}

/// The marks of the header's attributes, as its comments write them.
const MARKS: [(&str, &str); 3] =
    [("AL_SAFEPOINT", "[S]"), ("AL_NO_SAFEPOINT", "[N]"), ("AL_ANY_THREAD", "[A]")];

/// A function without attributes and body, in one line; and its mark.
fn prototype(declaration: &str) -> (String, Option<&'static str>) {
    let head = declaration.split(" {\n").next().expect("a head").split(" { ").next().expect("a head");
    let words: Vec<&str> = head.split_whitespace().collect();
    let mark = MARKS.into_iter().find(|(attribute, _)| words.contains(attribute)).map(|(_, mark)| mark);
    let is_attribute = |word: &str| {
        matches!(word, "AL_HOT_" | "AL_COLD_") || MARKS.iter().any(|(attribute, _)| *attribute == word)
    };
    let line = words.into_iter().filter(|word| !is_attribute(word)).collect::<Vec<_>>().join(" ");
    (format!("{};", line.trim_end_matches(';')), mark)
}

/// The name of a declaration: of a function what stands before `(`, of a type the last word.
fn name(declaration: &str) -> &str {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let before = if declaration.starts_with("typedef") && !declaration.starts_with("typedef void al_") {
        let code = &declaration[..declaration.rfind(';').expect("a type ends with `;`")];
        code.trim_end()
    } else if is_class(declaration) {
        declaration.split(" {").next().expect("a head")
    } else {
        &declaration[..declaration.find('(').expect("a function has arguments")]
    };
    before.rsplit(|c| !is_word(c)).next().expect("a name")
}

/// A comment without its signs.
fn comment_text(comment: &str) -> String {
    let inner = comment.trim_start_matches("/*").trim_end_matches("*/");
    let line = |line: &str| match line.trim() {
        "*" => "\n\n".to_owned(),
        line => format!("{} ", line.trim_start_matches("* ")),
    };
    let text: String = inner.lines().map(line).collect();
    text.trim().replace(
        " 
", "
",
    )
}

impl Entry {
    fn with_text(comment: &str) -> Entry {
        Entry { text: comment_text(comment), ..Entry::default() }
    }

    /// Whether a name is one for programs, and new here: an inline has a definition for each machine.
    fn takes(&self, name: &str) -> bool {
        !name.ends_with('_') && !self.names.iter().any(|known| known == name)
    }

    fn add(&mut self, declared: &str, rest_of_line: &str) {
        let own = name(declared);
        if !self.takes(own) {
            return;
        }
        let is_function = !declared.starts_with("typedef") && !is_class(declared);
        let code = if is_function {
            let (line, mark) = prototype(declared);
            assert!(
                self.mark.is_none() || mark.is_none() || self.mark == mark,
                "{own}: two marks in one group"
            );
            self.mark = self.mark.or(mark);
            line
        } else if let Some((public, _)) = declared.split_once("\n private:") {
            format!("{}\n}};", public.trim_end())
        } else {
            format!("{declared}{rest_of_line}")
        };
        writeln!(self.code, "{code}").unwrap();
        let is_of_cpp = is_class(declared) || declared.starts_with("template");
        self.names.push(if is_of_cpp { format!("al::{own}") } else { own.to_owned() });
        self.is_of_cpp |= is_of_cpp;
    }

    /// A macro by its name and arguments, if it has a comment.
    fn add_macro(&mut self, definition: &str) {
        let end = definition.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(definition.len());
        let (own, rest) = definition.split_at(end);
        if self.text.is_empty() || !own.starts_with("AL_") || !self.takes(own) {
            return;
        }
        let arguments = rest.split_once(')').filter(|_| rest.starts_with('(')).map(|(inner, _)| inner);
        let arguments = arguments.map_or(String::new(), |inner| format!("{})", inner.replace('_', "")));
        writeln!(self.code, "{own}{arguments}").unwrap();
        self.names.push(own.to_owned());
    }

    fn heading(&self) -> String {
        self.names.join(", ")
    }

    /// The text with the mark of the declarations in front.
    fn marked_text(&self) -> String {
        let written = MARKS.into_iter().map(|(_, mark)| mark).find(|mark| self.text.starts_with(mark));
        let name = &self.names[0];
        if let (Some(written), Some(mark)) = (written, self.mark) {
            assert_eq!(written, mark, "{name}: comment and attribute");
        }
        let text = written.map_or(&*self.text, |mark| self.text[mark.len()..].trim_start());
        let mark = written.or(self.mark).map_or(String::new(), |mark| format!("**{mark}** "));
        format!("{mark}{}", text.replace('<', "&lt;"))
    }
}

/// What begins a line of a header.
#[derive(Debug)]
enum Piece<'h> {
    Heading(&'h str),
    Comment(&'h str),
    Macro(&'h str),
    Empty,
    /// A declaration, and what stands after it on its line.
    Declaration(&'h str, &'h str),
    /// Another line of the preprocessor, or of a namespace.
    Other,
}

/// The first piece of a text, and the bytes of all lines that it takes.
fn first_piece(text: &str) -> (Piece<'_>, usize) {
    let to_line_end = |from: usize| text[from..].find('\n').map_or(text.len(), |at| from + at + 1);
    let line = text.lines().next().unwrap_or_default();
    if line.is_empty() {
        return (Piece::Empty, to_line_end(0));
    }
    if text.starts_with("/*") {
        let end = text.find("*/").expect("the end of a comment") + 2;
        let comment = &text[..end];
        let heading = comment.strip_prefix("/* ---- ").and_then(|rest| rest.strip_suffix(" ---- */"));
        return (heading.map_or(Piece::Comment(comment), Piece::Heading), to_line_end(end));
    }
    if text.starts_with('#') {
        // A line goes on after a backslash.
        let ends = text.match_indices('\n').find(|(at, _)| !text[..*at].ends_with('\\'));
        let end = ends.map_or(text.len(), |(at, _)| at + 1);
        return (line.strip_prefix("#define ").map_or(Piece::Other, Piece::Macro), end);
    }
    if ["namespace", "} /* namespace", "AL_ASSERT_"].iter().any(|start| text.starts_with(start)) {
        return (Piece::Other, to_line_end(0));
    }
    let end = declaration_end(text);
    let next = to_line_end(end);
    (Piece::Declaration(&text[..end], text[end..next].trim_end()), next)
}

/// The sections of a header.
fn sections(header: &str) -> Vec<Section> {
    let text = std::fs::read_to_string(include(header)).expect("a header");
    let mut sections = vec![Section::new(if header == "cxx.h" { "Scopes of C++" } else { "Marks" })];
    let mut entry = Entry::default();
    let mut rest = &text[first_piece(&text).1..]; // the first comment is the file's
    while !rest.is_empty() {
        let (piece, bytes) = first_piece(rest);
        match piece {
            Piece::Heading(heading) => sections.push(Section::new(heading)),
            Piece::Comment(comment) => {
                let before = std::mem::replace(&mut entry, Entry::with_text(comment));
                sections.last_mut().expect("a section").add(before);
            }
            Piece::Macro(definition) => entry.add_macro(definition),
            Piece::Declaration(code, after) => entry.add(code, after),
            Piece::Empty => sections.last_mut().expect("a section").add(std::mem::take(&mut entry)),
            Piece::Other => {}
        }
        rest = &rest[bytes..];
    }
    sections
}

/// The table of constants, from the header that the library printed.
fn constants() -> String {
    let mut table =
        "\n## Constants\n\nOf `allotment/layout.h`, and of `al_layout` without `AL_`, for compilers \
                     ([jit.md](jit.md)).\n\n| name | value | is |\n|---|---|---|\n"
            .to_owned();
    let text = std::fs::read_to_string(include("layout.h")).expect("a header");
    for row in text.lines().filter_map(|line| line.strip_prefix("#define AL_")) {
        let (name, rest) = row.split_once(' ').expect("a value");
        let (value, what) = rest.split_once(" /* ").expect("a comment");
        writeln!(table, "| `AL_{name}` | {value} | {} |", what.trim_end_matches(" */")).unwrap();
    }
    table
}

fn page(sections: &[Section]) -> String {
    let mut page = format!("{INTRODUCTION}\n| part | names |\n|---|---|\n");
    // A heading that another one has, too, gets a number.
    let mut anchors: Vec<String> = Vec::new();
    for Section { title, entries, .. } in sections {
        let mut links = Vec::new();
        for entry in entries {
            let own = anchor(&entry.heading());
            let before = anchors.iter().filter(|known| **known == own).count();
            let to = if before == 0 { own.clone() } else { format!("{own}-{before}") };
            anchors.push(own);
            links.extend(entry.names.iter().map(|name| format!("[{name}](#{to})")));
        }
        writeln!(page, "| {title} | {} |", links.join(" ")).unwrap();
    }
    for Section { title, text, entries } in sections {
        writeln!(page, "\n## {title}").unwrap();
        if !text.is_empty() {
            writeln!(page, "\n{text}").unwrap();
        }
        for entry in entries {
            let language = if entry.is_of_cpp { "cpp,fragment" } else { "c,fragment" };
            let heading = entry.heading();
            writeln!(page, "\n### {heading}\n\n```{language}\n{}```", entry.code).unwrap();
            let text = entry.marked_text();
            if !text.is_empty() {
                writeln!(page, "\n{text}").unwrap();
            }
        }
    }
    page + &constants()
}

/// All sections. A declaration that a later part has once more, for another machine, is left out.
fn all_sections() -> Vec<Section> {
    let mut known = BTreeSet::new();
    let mut found: Vec<Section> = HEADERS.into_iter().flat_map(sections).collect();
    for section in &mut found {
        section
            .entries
            .retain(|entry| entry.names.iter().filter(|name| known.insert((*name).clone())).count() > 0);
    }
    found.retain(|section| !section.entries.is_empty());
    found
}

#[test]
fn the_reference_is_what_the_headers_say() {
    let path = Path::new(PACKAGE).join("../../docs/c/reference.md");
    let page = page(&all_sections());
    if std::env::var_os("ALLOTMENT_WRITE_REFERENCE").is_some() {
        std::fs::write(&path, &page).expect("the page");
    }
    let file = std::fs::read_to_string(&path).expect("docs/c/reference.md");
    assert!(file == page, "docs/c/reference.md is old: ALLOTMENT_WRITE_REFERENCE=1 prints it anew");
}

#[test]
fn each_function_of_the_library_is_in_the_reference_with_a_text() {
    let file = std::fs::read(library("so")).expect("the library");
    let file = object::File::parse(&*file).expect("an ELF file");
    let symbols = file.dynamic_symbols().filter(|symbol| symbol.is_definition() && symbol.is_global());
    let exported = symbols.filter_map(|symbol| symbol.name().ok().map(str::to_owned));
    let sections = all_sections();
    let entries: Vec<&Entry> = sections.iter().flat_map(|section| &section.entries).collect();
    let mut count = 0;
    for function in exported.filter(|name| name.starts_with("al_") && !name.ends_with('_')) {
        // `allotment/check.h` has these, for its own macros.
        if function.starts_with("al_check_") {
            continue;
        }
        let entry = entries.iter().find(|entry| entry.names.contains(&function));
        let entry = entry.unwrap_or_else(|| panic!("{function} is in no header that the page has"));
        assert!(!entry.text.is_empty(), "{function} has no comment");
        count += 1;
    }
    assert!(count > 90, "{count} functions");
}
