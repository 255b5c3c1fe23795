//! The layouts of Java classes, as JOL finds them in a JVM with its flags.
//!
//! The jar has a program for this, `allotment.Layouts`. Refused: JOL's own command. It prints pages
//! for people, other ones in each release, and knows nothing of the pairs of classes that stand for
//! one of ours.

use super::Jvm;
use super::process::{cause_in, output_of};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// The time limit for the program.
const PATIENCE: Duration = Duration::from_secs(60);

/// The layout of a class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JavaLayout {
    /// Its name without packages.
    pub name: String,
    /// Bytes of an object.
    pub bytes: usize,
    /// Bytes of the header.
    pub header_bytes: usize,
    /// The fields, by offset.
    pub fields: Vec<JavaField>,
}

/// A field of a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JavaField {
    /// Bytes from the start of the object.
    pub offset: usize,
    /// Bytes.
    pub bytes: usize,
    /// Its type, without packages.
    pub type_name: String,
    /// Its name.
    pub name: String,
}

impl Jvm {
    /// The layouts of classes of the jar. Each is named `Class`, or `Wide:Narrow`: then the second
    /// one counts where references have 4 bytes.
    ///
    /// # Errors
    /// The JVM fails, or prints something else; the error is one line.
    pub fn layouts(
        &self,
        jar: &Path,
        classes: &[&str],
        stop: &dyn Fn() -> bool,
    ) -> Result<Vec<JavaLayout>, String> {
        let mut command = Command::new(self.jdk.java());
        command.args(self.collector.flags(self.jdk.feature)).args(&self.extra).arg("-cp").arg(jar);
        command.arg("allotment.Layouts").args(classes);
        let output = output_of(command, &self.name(), "tell its layouts", PATIENCE, stop)?;
        let layouts = parse(&output).filter(|layouts| layouts.len() == classes.len());
        layouts.ok_or_else(|| format!("{} prints no layouts: {}", self.name(), cause_in(&output)))
    }
}

/// Reads what the program prints.
fn parse(text: &str) -> Option<Vec<JavaLayout>> {
    let mut layouts: Vec<JavaLayout> = Vec::new();
    for line in text.lines() {
        match *line.split('\t').collect::<Vec<_>>() {
            ["class", name, bytes, header] => layouts.push(JavaLayout {
                name: name.into(),
                bytes: bytes.parse().ok()?,
                header_bytes: header.parse().ok()?,
                fields: Vec::new(),
            }),
            ["field", offset, bytes, type_name, name] => layouts.last_mut()?.fields.push(JavaField {
                offset: offset.parse().ok()?,
                bytes: bytes.parse().ok()?,
                type_name: type_name.into(),
                name: name.into(),
            }),
            _ => return None,
        }
    }
    Some(layouts)
}

#[cfg(test)]
mod tests {
    use super::super::Jdk;
    use super::super::examples::{fake_jdk, jvm};
    use super::*;

    /// The layouts of a JVM that prints this for them.
    fn told(behaviour: &str) -> Result<Vec<JavaLayout>, String> {
        let folder = tempfile::tempdir().unwrap();
        let home =
            fake_jdk(folder.path(), "25.0.3", &format!("case \"$*\" in *Layouts*) {behaviour}; exit;; esac"));
        let jvm = Jvm { jdk: Jdk::at(&home).unwrap(), ..jvm(25, "parallel") };
        jvm.layouts(Path::new("/no/jar"), &["Trees$Node:Trees$Padded"], &|| false)
    }

    #[test]
    fn layouts_are_read_line_by_line() {
        let behaviour = "printf 'class\\tNode\\t24\\t12\\nfield\\t12\\t4\\tNode\\tleft\\n'";
        let field = JavaField { offset: 12, bytes: 4, type_name: "Node".into(), name: "left".into() };
        let node = JavaLayout { name: "Node".into(), bytes: 24, header_bytes: 12, fields: vec![field] };
        assert_eq!(told(behaviour), Ok(vec![node]));
    }

    #[test]
    fn a_jvm_that_fails_or_says_something_else_is_an_error() {
        for (behaviour, told_of) in [
            (
                "echo Error: no such class >&2; exit 1",
                "25-parallel does not tell its layouts: Error: no such class",
            ),
            ("echo hello", "25-parallel prints no layouts: hello"),
            ("true", "25-parallel prints no layouts"),
            ("printf 'field\\t1\\t2\\ta\\tb\\n'", "prints no layouts"),
            ("printf 'class\\tNode\\tmany\\t12\\n'", "prints no layouts"),
        ] {
            let error = told(behaviour).unwrap_err();
            assert!(error.contains(told_of), "{error}");
        }
    }
}
