//! A loader that others wrote opens our snapshots, and its dominators agree with ours.
//!
//! This needs node, and the package in `target/memlab` or in the directory that `ALLOTMENT_MEMLAB`
//! names: `npm i --ignore-scripts --prefix target/memlab @memlab/heap-analysis@2.0.5`. Where either
//! is missing, the test says that it is left out.

use super::{heap, heapsnapshot, model};
use crate::observe::SnapshotSettings;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, TestRunner};
use std::path::PathBuf;
use std::process::Command;

/// Where the package is.
fn modules() -> PathBuf {
    let given = std::env::var_os("ALLOTMENT_MEMLAB").map(PathBuf::from);
    let place =
        given.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/memlab"));
    place.join("node_modules")
}

#[test]
fn memlab_opens_snapshots_and_retains_what_we_do() {
    let modules = modules();
    let node = Command::new("node").arg("--version").output();
    if !node.is_ok_and(|node| node.status.success()) || !modules.join("@memlab/heap-analysis").is_dir() {
        eprintln!("left out: node is not here, or @memlab/heap-analysis is not in {}", modules.display());
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let [script, file, output] =
        ["memlab.cjs", "one.heapsnapshot", "nodes"].map(|name| directory.path().join(name));
    std::fs::write(&script, include_str!("memlab.cjs")).unwrap();
    let mut runner = TestRunner::new(Config::default());
    for collector in ["Collector=parallel", "Collector=shenandoah"] {
        let model = model::model(300).new_tree(&mut runner).unwrap().current();
        let heap = heap(4096, 512, collector);
        model::with_model(&heap, &model, |mutator| {
            mutator.snapshot_to_file(&file, &SnapshotSettings::default()).unwrap()
        });
        let nodes = heapsnapshot::read(&std::fs::read(&file).unwrap());
        let memlab =
            Command::new("node").args([&script, &file, &output]).env("NODE_PATH", &modules).output().unwrap();
        assert!(memlab.status.success(), "{}", String::from_utf8_lossy(&memlab.stderr));
        let dominators = model::graph(&nodes).dominators().unwrap();
        let expected: Vec<String> = nodes
            .iter()
            .enumerate()
            .map(|(place, node)| {
                let fields = [node.bytes, dominators.retained[place], node.edges.len() as u64]
                    .map(|number| number.to_string());
                format!("{}\t{}\t{}\t{}", place + 1, node.kind, node.name, fields.join("\t"))
            })
            .collect();
        let found = std::fs::read_to_string(&output).unwrap();
        assert_eq!(found.lines().collect::<Vec<_>>(), expected, "{model:?}");
    }
}
