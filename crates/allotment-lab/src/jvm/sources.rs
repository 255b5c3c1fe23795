//! The Java benchmarks, as text in this program.
//!
//! The files are listed one by one, so that the compiler notices changes. A test checks that none
//! is missing.

use std::hash::{DefaultHasher, Hash, Hasher};

macro_rules! sources {
    ($($path:literal)*) => {
        /// Path below the project's folder, and content.
        pub(super) const SOURCES: &[(&str, &str)] =
            &[$(($path, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/jvm/", $path)))),*];
    };
}

sources! {
    "pom.xml"
    "src/main/java/allotment/Allocation.java"
    "src/main/java/allotment/Cache.java"
    "src/main/java/allotment/Collections.java"
    "src/main/java/allotment/Graph.java"
    "src/main/java/allotment/Layout.java"
    "src/main/java/allotment/Layouts.java"
    "src/main/java/allotment/Lists.java"
    "src/main/java/allotment/Load.java"
    "src/main/java/allotment/Part.java"
    "src/main/java/allotment/Pressure.java"
    "src/main/java/allotment/PressureFigures.java"
    "src/main/java/allotment/Random.java"
    "src/main/java/allotment/Refills.java"
    "src/main/java/allotment/Size.java"
    "src/main/java/allotment/Sized.java"
    "src/main/java/allotment/Trees.java"
    "src/main/java/allotment/Vertex.java"
    "src/main/java/allotment/extremem/Change.java"
    "src/main/java/allotment/extremem/Customer.java"
    "src/main/java/allotment/extremem/CustomerThread.java"
    "src/main/java/allotment/extremem/Customers.java"
    "src/main/java/allotment/extremem/Dictionary.java"
    "src/main/java/allotment/extremem/Extremem.java"
    "src/main/java/allotment/extremem/Figures.java"
    "src/main/java/allotment/extremem/Goods.java"
    "src/main/java/allotment/extremem/Latencies.java"
    "src/main/java/allotment/extremem/Linked.java"
    "src/main/java/allotment/extremem/Log.java"
    "src/main/java/allotment/extremem/Product.java"
    "src/main/java/allotment/extremem/Queue.java"
    "src/main/java/allotment/extremem/Run.java"
    "src/main/java/allotment/extremem/Sale.java"
    "src/main/java/allotment/extremem/Saved.java"
    "src/main/java/allotment/extremem/Schedule.java"
    "src/main/java/allotment/extremem/Search.java"
    "src/main/java/allotment/extremem/ServerThread.java"
    "src/main/java/allotment/extremem/Shop.java"
    "src/main/java/allotment/extremem/ShopThread.java"
    "src/main/java/allotment/extremem/UpdateThread.java"
    "src/main/java/allotment/extremem/Workload.java"
    "src/main/java/allotment/extremem/package-info.java"
    "src/main/java/allotment/figures/Figure.java"
    "src/main/java/allotment/figures/GcLog.java"
    "src/main/java/allotment/figures/HeapUse.java"
    "src/main/java/allotment/figures/package-info.java"
}

/// A hash of these sources, which changes with any change of them. Another release of Rust may
/// compute another hash, which costs one build.
pub(super) fn fingerprint(sources: &[(&str, &str)]) -> u64 {
    let mut hasher = DefaultHasher::new();
    sources.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::{Path, PathBuf};

    fn files(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            match entry.path() {
                path if path.is_dir() => files(&path, found),
                path => found.push(path),
            }
        }
    }

    #[test]
    fn every_source_is_here() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("jvm");
        let mut found = vec![root.join("pom.xml")];
        files(&root.join("src"), &mut found);
        found.sort();
        let mut known: Vec<PathBuf> = SOURCES.iter().map(|(path, _)| root.join(path)).collect();
        known.sort();
        assert_eq!(found, known, "the list in sources.rs is that of the folder jvm/");
    }

    #[test]
    fn any_change_changes_the_fingerprint() {
        let all = [
            fingerprint(&[("a", "b")]),
            fingerprint(&[("a", "c")]),
            fingerprint(&[("ab", "")]),
            fingerprint(&[("a", "b"), ("", "")]),
        ];
        assert!((1..all.len()).all(|index| !all[..index].contains(&all[index])), "{all:?}");
        assert_eq!(fingerprint(SOURCES), fingerprint(SOURCES));
    }
}
