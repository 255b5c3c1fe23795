//! A result file that is known to be writable before anything is measured, and that is either whole
//! or absent.
//!
//! [`Place`] says how: it is tried at the start, and nothing is left of the trial. The file is made
//! when there is something to write. So a command that a signal ends while it measures leaves no
//! file behind, whatever signal it is.
//!
//! Refused: writing at the end to a path never tried. A mistyped directory would lose an hour of
//! measuring.
//!
//! Before that, [`check_files`] checks all files of a command together: none is written over
//! another that the command reads or writes. `-` is standard output where nothing else is printed
//! there ([`check_printed_files`]), and no file elsewhere.

use allotment_output::Place;
use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Why a result file cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write `{}`: {source}", path.display())]
pub struct OutputError {
    path: PathBuf,
    source: io::Error,
}

impl OutputError {
    /// Whether the cause is that the reader of standard output has closed it.
    pub fn nobody_reads(&self) -> bool {
        is_dash(&self.path) && self.source.kind() == io::ErrorKind::BrokenPipe
    }
}

/// A place for results, opened but not yet filled.
#[derive(Debug)]
pub struct OutputFile {
    /// The path as the user wrote it, for messages.
    given: PathBuf,
    place: Place,
}

impl OutputFile {
    /// Opens `path` for a later [`OutputFile::write`]; `-` is standard output. An existing file
    /// keeps its contents until then, or permanently if no such call follows.
    ///
    /// # Errors
    /// The directory is missing or cannot be written to, or the path is a directory or a
    /// write-protected file.
    pub fn open(path: &Path) -> Result<OutputFile, OutputError> {
        let given = path.to_path_buf();
        match if is_dash(path) { Place::standard_output() } else { Place::open(path) } {
            Ok(place) => Ok(OutputFile { given, place }),
            Err(source) => Err(OutputError { path: given, source }),
        }
    }

    /// Writes the contents and puts the file in its place.
    ///
    /// # Errors
    /// The disk is full, the directory is gone, or the other end of a pipe is gone.
    pub fn write(self, contents: &[u8]) -> Result<(), OutputError> {
        let OutputFile { given, place } = self;
        let done = place.create().and_then(|mut file| {
            file.write_all(contents)?;
            file.finish()
        });
        done.map_err(|source| OutputError { path: given, source })
    }

    /// Has `fill` write the contents to a regular file, which may be that of another process, and
    /// puts the file in its place. A target in place gets a copy of such a file. If `fill` fails,
    /// nothing is left. A new file is for its owner alone: the contents are another process's.
    ///
    /// # Errors
    /// Those of `fill`, and those of [`write`](Self::write).
    pub fn fill<T, E: From<OutputError>>(self, fill: impl FnOnce(&File) -> Result<T, E>) -> Result<T, E> {
        let OutputFile { given, place } = self;
        let failed = |source| OutputError { path: given.clone(), source };
        let mut output = place.create_private().map_err(failed)?;
        let filled = match output.beside_its_place() {
            Some(file) => fill(file)?,
            None => {
                let mut file = tempfile::tempfile().map_err(failed)?;
                let filled = fill(&file)?;
                file.rewind().and_then(|()| io::copy(&mut file, &mut output)).map_err(failed)?;
                filled
            }
        };
        output.finish().map_err(failed)?;
        Ok(filled)
    }
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Whether the path is `-`, which stands for standard output or input.
fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Why the files of a command do not go together.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FilesError(String);

/// The files that the user named: flags and their paths, without the flags that are not set.
pub fn named_files<'a>(outputs: &'a [(&'a str, &'a Option<PathBuf>)]) -> Vec<(&'a str, &'a Path)> {
    outputs.iter().filter_map(|(flag, path)| Some((*flag, path.as_deref()?))).collect()
}

/// Checks that a command writes none of its files over another. `outputs` are flags and their
/// paths; `-` among `inputs` is standard input. Devices and pipes may be named several times, since
/// nothing is replaced there.
///
/// # Errors
/// An output is an input; or two outputs are one file, in any spelling and through links too; or an
/// output is called `-`.
pub fn check_files(inputs: &[PathBuf], outputs: &[(&str, &Path)]) -> Result<(), FilesError> {
    match outputs.iter().find(|(_, path)| is_dash(path)) {
        Some((flag, _)) => Err(FilesError(format!(
            "{flag} `-` would write a file called `-`; write /dev/stdout for standard output"
        ))),
        None => check_printed_files(inputs, outputs),
    }
}

/// Does the checks of [`check_files`] for a command that prints only its files: one output may be
/// `-`, which is standard output.
///
/// # Errors
/// An output is an input, or two outputs are one file.
pub fn check_printed_files(inputs: &[PathBuf], outputs: &[(&str, &Path)]) -> Result<(), FilesError> {
    let places: Vec<Option<Identity>> = outputs.iter().map(|(_, path)| Identity::of_output(path)).collect();
    for (index, &(flag, path)) in outputs.iter().enumerate() {
        let Some(place) = &places[index] else { continue };
        if let Some(input) = inputs.iter().find(|input| Identity::of_input(input).as_ref() == Some(place)) {
            return Err(FilesError(format!(
                "{flag} `{}` is the input `{}`, which it would replace; name another file",
                path.display(),
                input.display()
            )));
        }
        if let Some(other) = places[..index].iter().position(|other| other.as_ref() == Some(place)) {
            let (first, first_path) = outputs[other];
            return Err(FilesError(format!(
                "{first} and {flag} both name one file, `{}` and `{}`; they need a file each",
                first_path.display(),
                path.display()
            )));
        }
    }
    Ok(())
}

/// Checks a flag's path as the directory of several files.
///
/// # Errors
/// The path is `-`.
pub fn check_directory(flag: &str, path: &Path) -> Result<(), FilesError> {
    if is_dash(path) {
        return Err(FilesError(format!(
            "{flag} `-` would make a directory called `-`, and several files are no standard output; name a directory"
        )));
    }
    Ok(())
}

/// The identity of a file.
#[derive(PartialEq, Eq)]
enum Identity {
    /// An existing file: its device and inode, which all its names share.
    File(u64, u64),
    /// A missing file: its directory with links resolved, and its name.
    Name(PathBuf),
    /// The meaning of `-` among outputs.
    StandardOutput,
}

impl Identity {
    /// `None` for a path that is not an ordinary file, and where the directory is missing: opening it
    /// fails with the reason.
    fn of(path: &Path) -> Option<Identity> {
        if let Ok(about) = fs::metadata(path) {
            return about.is_file().then(|| Identity::File(about.dev(), about.ino()));
        }
        Some(Identity::Name(fs::canonicalize(directory_of(path)).ok()?.join(path.file_name()?)))
    }

    fn of_output(path: &Path) -> Option<Identity> {
        if is_dash(path) { Some(Identity::StandardOutput) } else { Identity::of(path) }
    }

    fn of_input(path: &Path) -> Option<Identity> {
        Identity::of(if is_dash(path) { Path::new("/dev/stdin") } else { path })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_appears_whole_and_only_when_written() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("r.json");
        fs::write(&path, "old").unwrap();
        let file = OutputFile::open(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        let count = || fs::read_dir(directory.path()).unwrap().count();
        assert_eq!(count(), 1, "no temporary file, which SIGKILL would leave behind");
        file.write(b"new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        drop(OutputFile::open(&path).unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(count(), 1, "temporary files must vanish");
    }

    #[test]
    fn a_file_that_is_filled_appears_whole_or_not_at_all() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("r");
        fs::write(&path, "old").unwrap();
        let open = |path: &Path| OutputFile::open(path).unwrap();
        let fails = open(&path).fill(|mut file| {
            file.write_all(b"half").unwrap();
            Err::<(), _>(OutputError { path: "r".into(), source: io::Error::other("enough") })
        });
        assert!(fails.is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        let filled = |mut file: &File| {
            file.write_all(b"new").map(|()| 7).map_err(|source| OutputError { path: "r".into(), source })
        };
        assert_eq!(open(&path).fill(filled).unwrap(), 7);
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "temporary files must vanish");
        assert_eq!(open(Path::new("/dev/null")).fill(filled).unwrap(), 7);
        let full = open(Path::new("/dev/full")).fill(filled).unwrap_err();
        assert!(full.to_string().contains("/dev/full"), "{full}");
    }

    #[test]
    fn errors_name_the_file_that_was_asked_for_and_no_other() {
        let directory = tempfile::tempdir().unwrap();
        let missing = directory.path().join("no/such.json");
        let error = OutputFile::open(&missing).unwrap_err().to_string();
        let expected =
            format!("cannot write `{}`: No such file or directory (os error 2)", missing.display());
        assert_eq!(error, expected);

        let (place, link) = (directory.path().join("place"), directory.path().join("link"));
        fs::create_dir(&place).unwrap();
        std::os::unix::fs::symlink(&place, &link).unwrap();
        let given = link.join("r.json");
        fs::write(&given, "").unwrap();
        let file = OutputFile::open(&given).unwrap();
        fs::remove_dir_all(&place).unwrap();
        let error = file.write(b"x").unwrap_err().to_string();
        let expected = format!("cannot write `{}`: No such file or directory (os error 2)", given.display());
        assert_eq!(error, expected);
    }

    #[test]
    fn no_output_is_written_over_another_file_of_the_command() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::write(at("there"), "kept").unwrap();
        fs::write(at("other"), "kept").unwrap();
        fs::create_dir(at("below")).unwrap();
        std::os::unix::fs::symlink("there", at("link")).unwrap();
        std::os::unix::fs::symlink(directory.path(), at("here")).unwrap();
        fs::hard_link(at("there"), at("twin")).unwrap();
        for (a, b, same) in [
            ("there", "there", true),
            ("there", "./there", true),
            ("there", "below/../there", true),
            ("there", "link", true),
            ("there", "here/there", true),
            ("there", "twin", true),
            ("there", "other", false),
            ("there", "new", false),
            ("new", "new", true),
            ("new", "here/./new", true),
            ("new", "newer", false),
        ] {
            let (a, b) = (at(a), at(b));
            for (a, b) in [(&a, &b), (&b, &a)] {
                let over_input = check_files(std::slice::from_ref(a), &[("--json", b)]);
                let over_output = check_files(&[], &[("--json", a), ("--csv", b)]);
                assert_eq!((over_input.is_err(), over_output.is_err()), (same, same), "{a:?} {b:?}");
                for (error, words) in [(over_input, &["--json"][..]), (over_output, &["--json", "--csv"])] {
                    let text = error.err().map_or(String::new(), |error| error.to_string());
                    let named = |word: &str| text.contains(word);
                    let both = named(a.to_str().unwrap()) && named(b.to_str().unwrap());
                    assert!(!same || (both && words.iter().all(|word| named(word))), "{text}");
                }
            }
        }
    }

    #[test]
    fn devices_are_shared_and_a_dash_is_no_file() {
        let null = Path::new("/dev/null");
        assert_eq!(check_files(&[null.into()], &[("--json", null), ("--csv", null)]), Ok(()));
        assert_eq!(check_files(&[], &[("--json", Path::new("./-"))]), Ok(()));
        let dash = Path::new("-");
        let refused = check_files(&["-".into()], &[("--json", dash)]).unwrap_err().to_string();
        assert!(refused.contains("--json") && refused.contains("/dev/stdout"), "{refused}");
        // Where nothing else is printed, `-` is standard output, which has room for one file.
        assert_eq!(check_printed_files(&["-".into()], &[("-o", dash)]), Ok(()));
        let both = check_printed_files(&[], &[("-o", dash), ("--markdown", dash)]).unwrap_err().to_string();
        assert!(both.contains("-o and --markdown both name one file"), "{both}");
        assert_eq!(check_directory("--svg", Path::new("./-")), Ok(()));
        let refused = check_directory("--svg", dash).unwrap_err().to_string();
        assert!(refused.contains("--svg") && refused.contains("directory called `-`"), "{refused}");
    }
}
