//! DevTools, memlab and VS Code open our `.heapsnapshot`. Dominators of the first two agree with
//! ours.

use super::super::{heap, heapsnapshot, model};
use super::names::{names, texts, with_names};
use super::{installed, run};
use crate::observe::{SnapshotSettings, SnapshotSummary};
use heapsnapshot::Node;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// Writes snapshots of graphs of all kinds to `file` in turn, and calls `check` with the nodes of
/// each, as the strict reader has them.
fn for_each_snapshot(file: &Path, mut check: impl FnMut(&[Node])) {
    let mut check = |summary: SnapshotSummary| {
        let nodes = heapsnapshot::read(&std::fs::read(file).unwrap());
        assert_eq!(nodes.len() as u64, summary.objects + 7);
        assert_eq!(nodes.iter().map(|node| node.bytes).sum::<u64>(), summary.bytes);
        check(&nodes);
    };
    let settings = SnapshotSettings::default();
    let mut runner = TestRunner::new(Config::default());
    for collector in ["Collector=parallel", "Collector=shenandoah"] {
        let model = model::model(300).new_tree(&mut runner).unwrap().current();
        let heap = heap(4096, 512, collector);
        let summary =
            model::with_model(&heap, &model, |mutator| mutator.snapshot_to_file(file, &settings).unwrap());
        check(summary);
    }
    for bytes in [0, usize::MAX] {
        let settings = settings.clone().string_bytes(bytes);
        check(with_names(|mutator| mutator.snapshot_to_file(file, &settings).unwrap()));
    }
}

/// What a reader that keeps all of a file prints: by node its id, type, name, own bytes and
/// retained bytes, and its edges by type, name and target.
fn expected(nodes: &[Node]) -> Vec<Value> {
    let dominators = model::graph(nodes).dominators().unwrap();
    let node = |(place, node): (usize, &Node)| {
        let edges: Vec<Value> =
            node.edges.iter().map(|edge| json!([edge.kind, edge.name, edge.to])).collect();
        json!([place + 1, node.kind, node.name, node.bytes, dominators.retained[place], edges])
    };
    let mut all: Vec<Value> = nodes.iter().enumerate().map(node).collect();
    // What the strict reader leaves out.
    all[0][5].as_array_mut().unwrap().push(json!(["element", "2", nodes.len()]));
    all.push(json!([nodes.len() + 1, "synthetic", "(end)", 0, 0, []]));
    all
}

/// The lines that a script wrote.
fn printed(output: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(output).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Compares without printing thousands of lines.
fn compare(found: &[Value], expected: &[Value]) {
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.len(), expected.len());
}

#[test]
fn names_and_texts_are_in_the_file_as_they_are() {
    let mut file = Vec::new();
    let settings = SnapshotSettings::default().string_bytes(usize::MAX);
    with_names(|mutator| mutator.snapshot(&mut file, &settings)).unwrap();
    let nodes = heapsnapshot::read(&file);
    let of_kind = |kind: &str| -> Vec<String> {
        let nodes = nodes[7..].iter().filter(|node| node.kind == kind);
        nodes.map(|node| node.name.clone()).collect()
    };
    let cut = |name: String| name.chars().take(1024).collect::<String>();
    assert_eq!(of_kind("object"), names().into_iter().map(cut).collect::<Vec<_>>());
    let texts: Vec<_> = texts().iter().map(|text| String::from_utf8_lossy(text).into_owned()).collect();
    assert_eq!(of_kind("string"), texts);
    let keys = crate::observe::snapshot::json::KEYS;
    let text = String::from_utf8(file).unwrap();
    for key in keys {
        assert!(text.matches(&format!("\"{key}\"")).count() <= 1, "{key}");
    }
}

#[test]
fn memlab_opens_snapshots_and_retains_what_we_do() {
    let Some(readers) = installed("node", &["node_modules/@memlab/heap-analysis"]) else { return };
    let directory = tempfile::tempdir().unwrap();
    let [script, file, output] =
        ["memlab.cjs", "one.heapsnapshot", "nodes"].map(|name| directory.path().join(name));
    std::fs::write(&script, include_str!("memlab.cjs")).unwrap();
    for_each_snapshot(&file, |nodes| {
        let modules = readers.join("node_modules");
        run(Command::new("node").args([&script, &file, &output]).env("NODE_PATH", modules));
        compare(&printed(&output), &expected(nodes));
    });
}

/// The graph as VS Code has it: no types, and edges by their targets alone. What VS Code retains is
/// left out: in graphs with many ways to an object it is more than all others say.
fn of_vs_code(nodes: &[Node]) -> Vec<Value> {
    let node = |(place, node): (usize, &Node)| {
        let mut targets: Vec<usize> = node.edges.iter().map(|edge| edge.to).collect();
        targets.sort_unstable();
        json!([place + 1, node.name, node.bytes, targets])
    };
    let mut all: Vec<Value> = nodes.iter().enumerate().map(node).collect();
    all[0][3].as_array_mut().unwrap().push(json!(nodes.len()));
    all.push(json!([nodes.len() + 1, "(end)", 0, []]));
    all
}

#[test]
fn vs_code_opens_snapshots() {
    let Some(readers) = installed("node", &["node_modules/@vscode/v8-heap-parser"]) else { return };
    let directory = tempfile::tempdir().unwrap();
    let [script, file, output] =
        ["vscode.cjs", "one.heapsnapshot", "nodes"].map(|name| directory.path().join(name));
    std::fs::write(&script, include_str!("vscode.cjs")).unwrap();
    for_each_snapshot(&file, |nodes| {
        let modules = readers.join("node_modules");
        run(Command::new("node").args([&script, &file, &output]).env("NODE_PATH", modules));
        compare(&printed(&output), &of_vs_code(nodes));
    });
}

#[test]
fn devtools_open_snapshots_and_retain_what_we_do() {
    let needs = ["node_modules/chrome-devtools-frontend", "node_modules/esbuild"];
    let Some(readers) = installed("node", &needs) else { return };
    let directory = tempfile::tempdir().unwrap();
    let [script, file, output] =
        ["devtools.mjs", "one.heapsnapshot", "nodes"].map(|name| directory.path().join(name));
    std::fs::write(directory.path().join("devtools.mts"), include_str!("devtools.mts")).unwrap();
    // A file of DevTools' own build, which is not in their package.
    let names =
        ["LOCALES", "BUNDLED_LOCALES", "DEFAULT_LOCALE", "REMOTE_FETCH_PATTERN", "LOCAL_FETCH_PATTERN"];
    let locales: String = names.iter().map(|name| format!("export const {name} = ['en-US'];")).collect();
    std::fs::write(directory.path().join("locales.js"), locales).unwrap();
    std::fs::write(directory.path().join("package.json"), r#"{"type": "module"}"#).unwrap();
    let options =
        "devtools.mts --bundle --platform=node --format=esm --outfile=devtools.mjs --external:./locales.js";
    run(Command::new("node")
        .arg(readers.join("node_modules/esbuild/bin/esbuild"))
        .args(options.split(' '))
        .arg("--log-level=error")
        .current_dir(&directory)
        .env("NODE_PATH", readers.join("node_modules").canonicalize().unwrap()));
    for_each_snapshot(&file, |nodes| {
        for piece in ["113", "1000000000"] {
            run(Command::new("node").args([&script, &file, &output]).arg(piece));
            compare(&printed(&output), &expected(nodes));
        }
    });
}
