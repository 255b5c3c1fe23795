//! Finds JDKs: those that the environment names, and those in the folders of packages and of tools
//! that install JDKs.
//!
//! For each feature release the first JDK found counts. A JDK that the user has set up comes before
//! one that is merely installed.
//!
//! Refused: asking each tool (sdkman, update-alternatives). Their JDKs are in the folders anyway.

use super::jdk::{Jdk, JdkError, OLDEST, feature_by_file, home_of};
use crate::format::distinct;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The places that a search covers.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// `JAVA_HOME`.
    pub java_home: Option<PathBuf>,
    /// `PATH`.
    pub path: Option<OsString>,
    /// The user's folder.
    pub home: Option<PathBuf>,
    /// The folder where the user's programs keep reproducible data.
    pub cache: Option<PathBuf>,
    /// `/`, the root of the package folders.
    pub root: PathBuf,
}

impl Surroundings {
    /// The places of this process.
    pub fn of_process() -> Surroundings {
        Surroundings::of(|name| std::env::var_os(name))
    }

    /// The places that environment variables give.
    fn of(variable: impl Fn(&str) -> Option<OsString>) -> Surroundings {
        let folder = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        // A path that is not absolute is ignored, as the XDG Base Directory Specification says. It
        // would be another folder in each folder where the lab is started. The same holds for HOME.
        let absolute = |name: &str| folder(name).filter(|path| path.is_absolute());
        let (home, cache) = (absolute("HOME"), absolute("XDG_CACHE_HOME"));
        Surroundings {
            java_home: folder("JAVA_HOME"),
            path: variable("PATH"),
            cache: cache.or_else(|| Some(home.as_ref()?.join(".cache"))),
            home,
            root: "/".into(),
        }
    }

    /// A program on the `PATH`.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        let folders = std::env::split_paths(self.path.as_ref()?).collect::<Vec<_>>();
        folders.into_iter().map(|folder| folder.join(name)).find(|path| path.is_file())
    }

    /// Folders that may be JDKs, the most wanted first, each once.
    fn candidates(&self) -> Vec<PathBuf> {
        let mut places: Vec<PathBuf> = self.java_home.iter().cloned().collect();
        places.extend(self.program("java"));
        places.extend(listed(&self.root.join("usr/lib/jvm"), |_| true));
        if let Some(home) = &self.home {
            places.extend(listed(&home.join(".sdkman/candidates/java"), |_| true));
            places.extend(listed(&home.join(".jdks"), |_| true));
        }
        places.extend(listed(&self.root.join("opt"), |name| name.contains("jdk")));
        distinct(places.iter().filter_map(|place| home_of(place)))
    }
}

/// The entries of a folder whose names are wanted, in the order of names.
fn listed(folder: &Path, wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .filter(|entry| wanted(&entry.file_name().to_string_lossy()))
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}

/// The JDKs of this machine, one for each feature release, oldest first, and remarks on the others.
pub fn find_all(surroundings: &Surroundings) -> (Vec<Jdk>, Vec<String>) {
    let (mut found, mut told): (Vec<Jdk>, Vec<String>) = (Vec::new(), Vec::new());
    for home in surroundings.candidates() {
        let known = |feature: u32| found.iter().any(|jdk| jdk.feature == feature);
        // The release in its file saves starting the JDK.
        if feature_by_file(&home).is_some_and(|feature| feature < OLDEST || known(feature)) {
            continue;
        }
        match Jdk::at(&home) {
            Ok(jdk) if known(jdk.feature) => {}
            Ok(jdk) => found.push(jdk),
            Err(JdkError::Old { .. }) => {}
            Err(error) => told.push(error.to_string()),
        }
    }
    found.sort_by_key(|jdk| jdk.feature);
    (found, told)
}

/// The JDKs at these paths, each once, in their order.
///
/// # Errors
/// One is not a JDK, or two are of one feature release, whose rows could not be distinguished.
pub fn find(paths: &[PathBuf]) -> Result<Vec<Jdk>, String> {
    let mut found: Vec<Jdk> = Vec::new();
    for path in paths {
        let jdk = Jdk::at(path).map_err(|error| error.to_string())?;
        match found.iter().find(|known| known.feature == jdk.feature) {
            Some(known) if known.home == jdk.home => {}
            Some(known) => {
                return Err(format!(
                    "{} and {} are both release {}; give one of a release",
                    known.home.display(),
                    jdk.home.display(),
                    jdk.feature
                ));
            }
            None => found.push(jdk),
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::super::examples::fake_jdk;
    use super::*;
    use std::os::unix::fs::symlink;

    fn surroundings(root: &Path) -> Surroundings {
        Surroundings {
            java_home: None,
            path: None,
            home: Some(root.join("home/me")),
            cache: None,
            root: root.into(),
        }
    }

    fn features(jdks: &[Jdk]) -> Vec<u32> {
        jdks.iter().map(|jdk| jdk.feature).collect()
    }

    #[test]
    fn folders_that_are_not_absolute_are_ignored() {
        let of = |home: &'static str, cache: &'static str| {
            let found = Surroundings::of(|name| match name {
                "HOME" => Some(home.into()),
                "XDG_CACHE_HOME" => Some(cache.into()),
                _ => None,
            });
            (found.home, found.cache)
        };
        let path = |text: &str| Some(PathBuf::from(text));
        assert_eq!(of("/h", "/c"), (path("/h"), path("/c")));
        assert_eq!(of("/h", "c"), (path("/h"), path("/h/.cache")));
        assert_eq!(of("h", "c"), (None, None));
        assert_eq!(of("", ""), (None, None));
    }

    #[test]
    fn each_place_is_looked_at_and_each_release_taken_once() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let packaged = fake_jdk(&root.join("usr/lib/jvm/java-17-openjdk"), "17.0.15", "");
        symlink("java-17-openjdk", root.join("usr/lib/jvm/java-1.17.0-openjdk")).unwrap();
        fake_jdk(&root.join("usr/lib/jvm/java-11-openjdk"), "11.0.2", "echo run >> $0.runs");
        std::fs::create_dir_all(root.join("usr/lib/jvm/openjdk-17")).unwrap();
        fake_jdk(&root.join("home/me/.sdkman/candidates/java/21.0.4-tem"), "21.0.4", "");
        symlink("21.0.4-tem", root.join("home/me/.sdkman/candidates/java/current")).unwrap();
        fake_jdk(&root.join("home/me/.jdks/openjdk-24"), "24", "");
        fake_jdk(&root.join("opt/jdk-25"), "25.0.3", "");
        fake_jdk(&root.join("opt/other-26"), "26", "");
        let (found, told) = find_all(&surroundings(&root));
        assert_eq!((features(&found), told.as_slice()), (vec![17, 21, 24, 25], &[][..]));
        assert_eq!(found[0].home, packaged);
        assert!(!root.join("usr/lib/jvm/java-11-openjdk/bin/java.runs").exists(), "too old to be started");
    }

    #[test]
    fn what_the_user_set_up_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fake_jdk(&root.join("usr/lib/jvm/a"), "25.0.1", "");
        let on_path = fake_jdk(&root.join("tools"), "25.0.2", "");
        let chosen = fake_jdk(&root.join("mine"), "21.0.1", "");
        fake_jdk(&root.join("usr/lib/jvm/b"), "21.0.9", "");
        let surroundings = Surroundings {
            java_home: Some(chosen.clone()),
            path: Some(std::env::join_paths([root.join("nothing"), on_path.join("bin")]).unwrap()),
            ..surroundings(&root)
        };
        let (found, _) = find_all(&surroundings);
        assert_eq!(found.iter().map(|jdk| &jdk.home).collect::<Vec<_>>(), [&chosen, &on_path]);
    }

    #[test]
    fn a_broken_one_is_told_and_another_of_its_release_taken() {
        let folder = tempfile::tempdir().unwrap();
        fake_jdk(&folder.path().join("usr/lib/jvm/a"), "25", "echo Error: no libjvm >&2; exit 1");
        let sound = fake_jdk(&folder.path().join("usr/lib/jvm/b"), "25", "");
        let (found, told) = find_all(&surroundings(folder.path()));
        assert_eq!((found.len(), &found[0].home), (1, &sound));
        assert!(told.len() == 1 && told[0].contains("no libjvm"), "{told:?}");
    }

    #[test]
    fn a_machine_without_java_has_none() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(find_all(&surroundings(folder.path())), (vec![], vec![]));
    }

    #[test]
    fn named_ones_must_be_there_and_differ() {
        let folder = tempfile::tempdir().unwrap();
        let one = fake_jdk(&folder.path().join("one"), "25.0.1", "");
        let two = fake_jdk(&folder.path().join("two"), "25.0.2", "");
        let old = fake_jdk(&folder.path().join("old"), "21", "");
        let found = find(&[one.clone(), old, one.join("bin/java")]).unwrap();
        assert_eq!(features(&found), [25, 21]);
        assert!(find(&[one, two]).unwrap_err().contains("are both release 25"));
        assert!(find(&["/no/such".into()]).unwrap_err().contains("`/no/such` is not a JDK"));
    }
}
