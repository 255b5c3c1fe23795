//! The jar of the benchmarks: built once, and kept in the user's cache.
//!
//! Its folder is named by a hash of the sources. So a new version of this program builds anew, and
//! an old version keeps its own jar. The jar is built in a folder of its own and renamed when it is
//! complete. Two builders at the same time do the same work, and neither sees half a jar.
//!
//! Refused: a lock. A killed build leaves it behind, and the user would need an explanation.

use super::process::{Fate, tie, wait};
use super::sources::{SOURCES, fingerprint};
use super::{Jdk, Surroundings};
use anyhow::{Context, bail, ensure};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// The time limit for Maven. It takes half a minute where it has to fetch everything first, and
/// more on a slow line.
const PATIENCE: Duration = Duration::from_secs(900);

/// The folder of the jars, and the tools that build them.
#[derive(Clone, Debug)]
pub struct Jars {
    cache: Option<PathBuf>,
    maven: Option<PathBuf>,
    /// The JDK that Maven runs on; `None` for Maven's own choice.
    java_home: Option<PathBuf>,
    sources: &'static [(&'static str, &'static str)],
}

impl Jars {
    /// The user's cache, and the Maven of `surroundings`, on the newest of `jdks` that has a
    /// compiler.
    pub fn of<'a>(surroundings: &Surroundings, jdks: impl IntoIterator<Item = &'a Jdk>) -> Jars {
        let compiling = jdks.into_iter().filter(|jdk| jdk.compiles()).max_by_key(|jdk| jdk.feature);
        Jars {
            cache: surroundings.cache.clone(),
            maven: surroundings.program("mvn"),
            java_home: compiling.map(|jdk| jdk.home.clone()),
            sources: SOURCES,
        }
    }

    /// The jar. `building` is called before a build, if one is needed; `stop` ends the build.
    ///
    /// # Errors
    /// The jar does not exist and cannot be built.
    pub fn get(&self, building: &dyn Fn(), stop: &dyn Fn() -> bool) -> anyhow::Result<PathBuf> {
        let cache = self.cache.as_ref().context(
            "no folder for the Java benchmarks: neither XDG_CACHE_HOME nor HOME is set to an absolute path",
        )?;
        let cache = cache.join("allotment");
        let name = format!("jvm-{:016x}", fingerprint(self.sources));
        let jar = cache.join(&name).join("benchmarks.jar");
        if jar.is_file() {
            return Ok(jar);
        }
        let maven = self.maven.as_ref().context(
            "no Maven (mvn) on the PATH, which builds the Java benchmarks once; install it, or run without --jvm",
        )?;
        building();
        let folder = || format!("cannot prepare the Java benchmarks in {}", cache.display());
        let workshop = self.workshop(&cache).with_context(folder)?;
        let log = workshop.path().join("log");
        let made = workshop.path().join("target/benchmarks.jar");
        let built = self.build(maven, workshop.path(), &log, stop).and_then(|()| {
            ensure!(made.is_file(), "Maven made no target/benchmarks.jar");
            Ok(())
        });
        if let Err(why) = built {
            ensure!(!stop(), "interrupted");
            let kept = cache.join(format!("{name}.log"));
            fs::rename(&log, &kept).with_context(folder)?;
            bail!("the Java benchmarks cannot be built: {why:#}; Maven's words are in {}", kept.display());
        }
        fs::create_dir_all(cache.join(&name)).with_context(folder)?;
        fs::rename(made, &jar).with_context(folder)?;
        Ok(jar)
    }

    /// A folder with the sources, which is removed when it is dropped.
    fn workshop(&self, cache: &Path) -> io::Result<TempDir> {
        fs::create_dir_all(cache)?;
        let workshop = tempfile::Builder::new().prefix("build-").tempdir_in(cache)?;
        for (path, content) in self.sources {
            let path = workshop.path().join(path);
            fs::create_dir_all(path.parent().unwrap_or(workshop.path()))?;
            fs::write(path, content)?;
        }
        Ok(workshop)
    }

    /// Runs Maven.
    ///
    /// # Errors
    /// Maven cannot be started, fails, takes too long, or is stopped.
    fn build(&self, maven: &Path, project: &Path, log: &Path, stop: &dyn Fn() -> bool) -> anyhow::Result<()> {
        let output = File::create(log)?;
        let mut command = Command::new(maven);
        command.args(["--quiet", "--batch-mode", "package"]).current_dir(project);
        if let Some(home) = &self.java_home {
            command.env("JAVA_HOME", home);
        }
        command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
        tie(&mut command);
        let mut child = command.spawn().with_context(|| maven.display().to_string())?;
        match wait(&mut child, PATIENCE, stop)? {
            Fate::Stopped => bail!("interrupted"),
            Fate::TooLong => bail!("Maven took more than {} s", PATIENCE.as_secs()),
            Fate::Exited(status) if status.success() => Ok(()),
            Fate::Exited(status) => bail!("Maven ended with {status}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::examples::script;
    use super::*;
    use std::sync::Barrier;
    use std::thread;

    const FEW: &[(&str, &str)] = &[("pom.xml", "<project/>"), ("src/main/java/A.java", "class A {}")];

    /// Jars in `folder`, built by a Maven that does `behaviour`.
    fn jars(folder: &Path, behaviour: &str) -> Jars {
        let maven = folder.join("mvn");
        script(&maven, behaviour);
        Jars {
            cache: Some(folder.join("cache")),
            maven: Some(maven),
            java_home: Some("/jdk".into()),
            sources: FEW,
        }
    }

    const MAKES: &str = "test -f pom.xml && test $JAVA_HOME = /jdk && mkdir target \
                         && cp src/main/java/A.java target/benchmarks.jar && echo made >> ../../../made";

    fn get(jars: &Jars) -> anyhow::Result<PathBuf> {
        jars.get(&|| (), &|| false)
    }

    #[test]
    fn a_jar_is_built_once_and_for_each_change() {
        let folder = tempfile::tempdir().unwrap();
        let mut jars = jars(folder.path(), MAKES);
        let jar = get(&jars).unwrap();
        assert_eq!(fs::read_to_string(&jar).unwrap(), "class A {}");
        assert_eq!(get(&jars).unwrap(), jar);
        let made = || fs::read_to_string(folder.path().join("made")).unwrap().lines().count();
        assert_eq!(made(), 1);
        jars.sources = &[("pom.xml", ""), ("src/main/java/A.java", "class A {}")];
        assert_ne!(get(&jars).unwrap(), jar);
        assert_eq!(made(), 2);
        // No other file stays behind.
        assert_eq!(fs::read_dir(folder.path().join("cache/allotment")).unwrap().count(), 2);
    }

    #[test]
    fn builds_at_the_same_time_do_no_harm() {
        let folder = tempfile::tempdir().unwrap();
        let jars = jars(folder.path(), MAKES);
        let barrier = Barrier::new(4);
        let found: Vec<PathBuf> = thread::scope(|scope| {
            let build = || {
                barrier.wait();
                get(&jars).unwrap()
            };
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(build)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(found.iter().all(|jar| fs::read_to_string(jar).unwrap() == "class A {}"));
    }

    #[test]
    fn a_failed_build_keeps_what_maven_said() {
        let folder = tempfile::tempdir().unwrap();
        for (behaviour, expected) in
            [("echo no network; exit 1", "Maven ended with exit status: 1"), ("echo done", "no target")]
        {
            let error = get(&jars(folder.path(), behaviour)).unwrap_err();
            let error = error.to_string();
            let (why, log) = error.split_once("; Maven's words are in ").unwrap();
            assert!(why.contains(expected), "{error}");
            assert!(behaviour.contains(fs::read_to_string(log).unwrap().trim()));
        }
    }

    #[test]
    fn a_build_can_be_interrupted() {
        let folder = tempfile::tempdir().unwrap();
        let error = jars(folder.path(), "exec sleep 1000").get(&|| (), &|| true).unwrap_err();
        assert_eq!(error.to_string(), "interrupted");
        assert_eq!(fs::read_dir(folder.path().join("cache/allotment")).unwrap().count(), 0);
    }

    #[test]
    fn what_is_missing_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let jars = jars(folder.path(), "exit 0");
        let without = Jars { maven: None, ..jars.clone() };
        assert!(get(&without).unwrap_err().to_string().contains("no Maven (mvn)"));
        let homeless = Jars { cache: None, ..jars.clone() };
        assert!(get(&homeless).unwrap_err().to_string().contains("XDG_CACHE_HOME"));
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let error = get(&Jars { cache: Some(file), ..jars.clone() }).unwrap_err();
        assert!(error.to_string().contains("cannot prepare the Java benchmarks in"), "{error}");
        let gone = Jars { maven: Some("/no/such/mvn".into()), ..jars };
        assert!(get(&gone).unwrap_err().to_string().contains("/no/such/mvn"));
    }
}
