//! One JDK: its folder, and its release.
//!
//! There are two sources: the file `release` in the JDK's folder, which costs nothing to read, and
//! the output of `java -version`. The output counts where they differ, since that program will run.
//! A folder whose `java` prints no version is not a JDK.

use super::process::{self, Fate, cause_in};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The oldest release that runs the benchmarks.
pub(super) const OLDEST: u32 = 17;

/// The time limit for `java -version`: it takes a tenth of a second, and more on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// A JDK that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jdk {
    /// Its folder, without links in the path.
    pub home: PathBuf,
    /// Feature release: 25 of 25.0.3.
    pub feature: u32,
    /// The whole version.
    pub version: String,
    /// The vendor, if the file `release` names one.
    pub vendor: Option<String>,
}

/// Why there is no JDK at a place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JdkError {
    /// There is nothing that could be a JDK.
    #[error("`{0}` is not a JDK: give its folder, which has bin/java, or the program java itself")]
    NotThere(PathBuf),
    /// The `java` of the JDK does not run.
    #[error("the JDK at {home} does not run: {why}")]
    Broken {
        /// Its folder.
        home: PathBuf,
        /// The cause.
        why: String,
    },
    /// Too old.
    #[error("the JDK at {home} is release {feature}: the benchmarks need {OLDEST} or later")]
    Old {
        /// Its folder.
        home: PathBuf,
        /// Its feature release.
        feature: u32,
    },
}

impl Jdk {
    /// The JDK at `path`, its folder or its program `java`.
    ///
    /// # Errors
    /// There is not a JDK, or it does not run, or it is too old.
    pub fn at(path: &Path) -> Result<Jdk, JdkError> {
        let home = home_of(path).ok_or_else(|| JdkError::NotThere(path.into()))?;
        let broken = |why: String| JdkError::Broken { home: home.clone(), why };
        let mut command = Command::new(java(&home));
        command.arg("-version");
        let ended = process::run(command, PATIENCE, &|| false).map_err(|error| broken(error.to_string()))?;
        let said = ended.said();
        if !ended.succeeded() {
            return Err(broken(match ended.fate {
                Fate::Exited(status) => match cause_in(&said) {
                    words if words.is_empty() => format!("java -version: {status}; it said nothing"),
                    words => format!("java -version: {status}; it said: {words}"),
                },
                _ => format!("java -version said nothing for {} s", PATIENCE.as_secs()),
            }));
        }
        let told = version_told(&said);
        let (version, feature) =
            told.and_then(|version| Some((version, feature(version)?))).ok_or_else(|| {
                let shown: String = said.chars().take(60).collect();
                broken(format!(
                    "java -version printed `{}`, which names no version",
                    shown.trim().escape_debug()
                ))
            })?;
        if feature < OLDEST {
            return Err(JdkError::Old { home, feature });
        }
        let release = std::fs::read_to_string(home.join("release")).unwrap_or_default();
        let vendor = property(&release, "IMPLEMENTOR").map(String::from);
        Ok(Jdk { version: version.into(), feature, vendor, home })
    }

    /// Its program `java`.
    pub fn java(&self) -> PathBuf {
        java(&self.home)
    }

    /// Whether the JDK has a compiler; a JRE has none.
    pub fn compiles(&self) -> bool {
        self.home.join("bin/javac").is_file()
    }
}

fn java(home: &Path) -> PathBuf {
    home.join("bin/java")
}

/// The folder of the JDK that `path` names, without links: two names of one folder are one JDK.
pub(super) fn home_of(path: &Path) -> Option<PathBuf> {
    let path = path.canonicalize().ok()?;
    let home = if path.is_dir() { path.clone() } else { path.parent()?.parent()?.to_path_buf() };
    let java = java(&home);
    // A path to a program must be that JDK's java, not just any file beside it.
    let is_java = || path.is_dir() || java.canonicalize().is_ok_and(|java| java == path);
    (java.is_file() && is_java()).then_some(home)
}

/// The release in the file `release` of a JDK's folder; `None` without the file.
pub(super) fn feature_by_file(home: &Path) -> Option<u32> {
    feature(property(&std::fs::read_to_string(home.join("release")).ok()?, "JAVA_VERSION")?)
}

/// The value of a line `NAME="value"`.
fn property<'a>(release: &'a str, name: &str) -> Option<&'a str> {
    let value = |line: &'a str| line.trim().strip_prefix(name)?.strip_prefix('=');
    let value = release.lines().find_map(value)?.trim_matches('"');
    (!value.is_empty()).then_some(value)
}

/// The text between the quotes of `openjdk version "25.0.3" 2026-04-21`.
fn version_told(said: &str) -> Option<&str> {
    said.lines()
        .find_map(|line| line.split_once(" version \"")?.1.split_once('"'))
        .map(|(version, _)| version)
}

/// 25 of `25.0.3+9`, `25-ea` and `25`; 8 of `1.8.0_402`.
fn feature(version: &str) -> Option<u32> {
    let version = version.strip_prefix("1.").unwrap_or(version);
    let digits = version.find(|c: char| !c.is_ascii_digit()).unwrap_or(version.len());
    version[..digits].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::examples::fake_jdk;
    use super::*;

    #[test]
    fn releases_are_read_as_they_are_written() {
        for (version, expected) in [
            ("17.0.15", Some(17)),
            ("25", Some(25)),
            ("25-ea", Some(25)),
            ("21.0.4+7-LTS", Some(21)),
            ("1.8.0_402", Some(8)),
            ("", None),
            ("twenty", None),
            ("99999999999", None),
        ] {
            assert_eq!(feature(version), expected, "{version}");
        }
    }

    #[test]
    fn the_release_file_is_read_by_name() {
        let text = "IMPLEMENTOR=\"Eclipse Adoptium\"\nJAVA_VERSION_DATE=\"2026-04-21\"\r\nJAVA_VERSION=\"25.0.3\"\r\nSOURCE=\"\"\n";
        assert_eq!(property(text, "IMPLEMENTOR"), Some("Eclipse Adoptium"));
        assert_eq!(property(text, "JAVA_VERSION"), Some("25.0.3"));
        assert_eq!((property(text, "SOURCE"), property(text, "JAVA"), property("", "A")), (None, None, None));
    }

    #[test]
    fn a_jdk_is_named_by_folder_program_or_link() {
        let folder = tempfile::tempdir().unwrap();
        let home = fake_jdk(&folder.path().join("jdk-25"), "25.0.3", "");
        let link = folder.path().join("default");
        std::os::unix::fs::symlink(&home, &link).unwrap();
        let program = folder.path().join("java");
        std::os::unix::fs::symlink(link.join("bin/java"), &program).unwrap();
        for name in [home.clone(), home.join("bin/java"), link, program] {
            let jdk = Jdk::at(&name).unwrap();
            assert_eq!(
                (jdk.home.as_path(), jdk.feature, jdk.version.as_str()),
                (home.as_path(), 25, "25.0.3")
            );
            assert_eq!(jdk.vendor.as_deref(), Some("Nobody"));
        }
        assert_eq!(feature_by_file(&home), Some(25));
    }

    #[test]
    fn what_is_no_jdk_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let at = |version: &str, extra: &str| {
            let home = fake_jdk(&folder.path().join("jdk"), version, extra);
            Jdk::at(&home).unwrap_err().to_string()
        };
        assert!(
            at("25", "echo Error: could not create the VM >&2; exit 1").contains("could not create the VM")
        );
        assert!(at("25", "exit 1").ends_with("; it said nothing"), "{}", at("25", "exit 1"));
        assert!(at("25", "echo hello; exit 0").contains("printed `hello`, which names no version"));
        assert!(at("11.0.2", "").contains("is release 11: the benchmarks need 17"));
        assert!(at("25", "kill -KILL $$").contains("signal: 9"));
        let nothing = Jdk::at(folder.path()).unwrap_err().to_string();
        assert!(nothing.contains("is not a JDK: give its folder"), "{nothing}");
        assert!(Jdk::at(Path::new("/no/such/folder")).is_err());
        let file = folder.path().join("jdk/release");
        assert!(matches!(Jdk::at(&file), Err(JdkError::NotThere(_))), "a file beside it");
    }
}
