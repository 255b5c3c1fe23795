//! The shop in this heap and that in a JVM: the same words, products, customers, finds, and
//! percentiles.
//!
//! The Java classes are compiled by `javac` and need neither JMH nor Maven. The classes that
//! print the numbers are in `jvm/test`, which is not part of the jar.

use super::configuration::Configuration;
use super::customers::Customers;
use super::goods::Goods;
use super::latency::Latencies;
use super::search::{Query, Search, words};
use super::shop::{Common, OpenShop};
use super::text::{Dictionary, Draws, score};
use super::workload::Workload;
use crate::jvm::examples::java_tools;
use allotment::{Gc, Heap, Local, Mutator, OutOfMemory, root};
use std::fmt::{self, Display};
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

/// Queries that are made, and pairs of words that are compared.
const SOME: usize = 500;

/// Fowler, Noll and Vo's hash (FNV-1a), of numbers where theirs is of bytes.
struct Hash(u64);

impl Hash {
    fn new() -> Hash {
        Hash(0xCBF2_9CE4_8422_2325)
    }

    fn add(&mut self, value: u64) {
        self.0 = (self.0 ^ value).wrapping_mul(0x0100_0000_01B3);
    }

    fn text(&mut self, text: &str) {
        text.bytes().for_each(|letter| self.add(letter.into()));
        self.add(u64::MAX);
    }
}

impl Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", self.0)
    }
}

fn of_data(mutator: &Mutator<'_>, goods: Gc<'_, Goods>, customers: Gc<'_, Customers>) -> String {
    let (mut products, mut names) = (Hash::new(), Hash::new());
    for product in goods.products(mutator) {
        products.add(product.id);
        product.texts(mutator).iter().for_each(|text| products.text(text));
    }
    for place in 0..customers.len(mutator) {
        let customer = customers.at(mutator, place).expect("every place has a customer");
        names.text(customer.name(mutator));
    }
    format!("products {products}, customers {names}\n")
}

fn of_search(
    mutator: &mut Mutator<'_>,
    any: bool,
    goods: Local<'_, Goods>,
    dictionary: Local<'_, Dictionary>,
    keywords: usize,
) -> Result<String, OutOfMemory> {
    let (mut found, mut matches) = (Hash::new(), 0);
    let mut draws = Draws::new(keywords as u64, dictionary);
    let mut search = Search::new(mutator, any);
    for _ in 0..SOME {
        root!(mutator, words = words(mutator, &mut draws, keywords)?);
        let candidates = search.candidates(mutator, Query { goods, words })?;
        root!(mutator, candidates = candidates);
        let candidates = candidates.get(mutator).iter(mutator).flatten();
        let mut ids: Vec<u64> = candidates.map(|product| product.id).collect();
        ids.sort_unstable();
        matches += ids.len();
        ids.into_iter().for_each(|id| found.add(id));
    }
    Ok(format!("{keywords} keywords, any {any}: {matches} found, {found}\n"))
}

fn of_scores(mutator: &mut Mutator<'_>, dictionary: Local<'_, Dictionary>) -> Result<String, OutOfMemory> {
    let mut scores = Hash::new();
    let mut draws = Draws::new(9, dictionary);
    for _ in 0..SOME {
        root!(mutator, words = words(mutator, &mut draws, 2)?);
        let at = |index: usize| words.get(mutator).at(index).load(mutator).expect("a query is full");
        root!(mutator, word = at(0));
        let at = |index: usize| words.get(mutator).at(index).load(mutator).expect("a query is full");
        root!(mutator, within = at(1));
        scores.add(score(mutator, word, within)?.to_bits().into());
    }
    Ok(format!("scores {scores}\n"))
}

/// The text that the class `Digest` prints, for the shop in this heap.
fn digest(workload: &Workload) -> String {
    let heap = Heap::builder().max_heap_size(64 << 20).build().unwrap();
    let common = Common::new(workload.clone());
    let built = heap.attach(|mutator| {
        root!(mutator, shop = common.build(mutator)?);
        root!(mutator, dictionary = shop.get(mutator).dictionary.load(mutator));
        let open = OpenShop { common: &common, shop };
        root!(mutator, goods = open.snapshot::<Goods>(mutator)?);
        root!(mutator, customers = open.snapshot::<Customers>(mutator)?);
        let mut text = of_data(mutator, goods.get(mutator), customers.get(mutator));
        for any in [true, false] {
            for keywords in 1..=3 {
                text += &of_search(mutator, any, goods, dictionary, keywords)?;
            }
        }
        Ok::<String, OutOfMemory>(text + &of_scores(mutator, dictionary)?)
    });
    built.unwrap().unwrap()
}

/// Runs a class of `jvm/test` with this on standard input, and returns what it prints. `None`:
/// there is no JDK.
fn java(class: &str, arguments: &[&str], input: &str) -> Option<String> {
    let Some((java, javac)) = java_tools() else {
        println!("skipped: there is no java or no javac on the PATH");
        return None;
    };
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("jvm");
    let classes = tempfile::tempdir().unwrap();
    let mut compile = Command::new(javac);
    compile.arg("-sourcepath").arg(project.join("src/main/java")).arg("-d").arg(classes.path());
    let compiled =
        compile.arg(project.join(format!("test/allotment/extremem/{class}.java"))).output().unwrap();
    assert!(compiled.status.success(), "{compiled:?}");
    let text = classes.path().join("input");
    fs::write(&text, input).unwrap();
    let mut run = Command::new(java);
    run.args(["-XX:+UseG1GC", "-Xmx256m", "-cp"]).arg(classes.path());
    run.arg(format!("allotment.extremem.{class}")).args(arguments).stdin(File::open(&text).unwrap());
    let ran = run.output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    Some(String::from_utf8_lossy(&ran.stdout).into_owned())
}

#[test]
fn the_shop_in_a_jvm_is_the_same() {
    // Few words, so that a search for three of them finds something.
    let options = "NumProducts=600 NumCustomers=700 DictionarySize=1000 DistinctWords=400";
    let workload = Configuration::named("quick", options).unwrap().workload;
    let Some(theirs) = java("Digest", &[&workload.written()], "") else { return };
    assert_eq!(digest(&workload), theirs);
}

#[test]
fn percentiles_in_a_jvm_are_the_same() {
    let counts = [1, 2, 99, 100, 1_000, 100_000, 100_001];
    let of = |count: i64| {
        let mut latencies = Latencies::default();
        (1..=count).for_each(|sample| latencies.add(sample));
        let values = latencies.percentiles();
        let text = |value: &Option<i64>| value.map_or("*".into(), |value| value.to_string());
        values.iter().map(text).collect::<Vec<String>>().join(" ")
    };
    let words: Vec<String> = counts.iter().map(i64::to_string).collect();
    let arguments: Vec<&str> =
        std::iter::once("percentiles").chain(words.iter().map(String::as_str)).collect();
    let Some(theirs) = java("Said", &arguments, "") else { return };
    let ours: Vec<String> = counts.into_iter().map(of).collect();
    assert_eq!(theirs.lines().collect::<Vec<_>>(), ours);
}

/// Lines of JDK 25: two cycles of generational Shenandoah, of which one degenerates, stops of
/// Parallel and of G1, and a collection of ZGC.
const LOG: &str = "GC(3) Concurrent reset (Young) 0.162ms
GC(3) Pause Init Mark (Young) 0.028ms
GC(3) TLAB totals: thrds: 46  refills: 152 max: 7 slow allocs: 0 max 0 waste: 80.0% gc: 700B max: 9B slow: 100B max: 6B
GC(3) Concurrent marking roots 28.777ms
GC(3) Concurrent marking (Young) 100.000ms
GC(3) Pause Final Mark (Young) 0.126ms
GC(3) Concurrent cleanup (Young) 88M->88M(96M) 0.004ms
GC(3) Pause Final Update Refs 0.020ms
GC(4) Pause Init Mark (Global) (unload classes) 0.030ms
GC(4) Concurrent marking (Global) (unload classes) 300.000ms
GC(5) Pause Degenerated GC (Global) (Mark) 93M->53M(96M) 107.748ms
GC(5) TLAB totals: thrds: 2  refills: 53 max: 52 slow allocs: 0 max 0 waste:  5.0% gc: 40B max: 40B slow: 10B max: 10B
GC(6) Pause Full 93M->53M(96M) 50.000ms
GC(7) Pause Young (Allocation Failure) 25M->4M(92M) 38.351ms
GC(8)   Evacuate Collection Set: 31.32ms
GC(8) Pause Young (Normal) (G1 Evacuation Pause) 15M->3M(96M) 32.014ms
GC(9) Major Collection (Allocation Rate)
GC(9) Y: Pause Mark Start (Major) 0.015ms
GC(9) Y: Concurrent Mark 200.000ms
GC(9) Y: Young Generation 32M(33%)->30M(31%) 0.002s
GC(9) Major Collection (Allocation Rate) 32M(33%)->30M(31%) 0.359s
";

#[test]
fn a_jvms_log_becomes_figures() {
    let Some(said) = java("Said", &["log"], LOG) else { return };
    let value = |label: &str| {
        let line = said.lines().find_map(|line| line.strip_prefix(&format!("{label} ")));
        line.unwrap_or_else(|| panic!("{label}: {said}")).to_string()
    };
    for (label, expected) in [
        ("gc.young", "2.0"),
        ("gc.full", "1.0"),
        // One of Shenandoah and one of ZGC, without the one that degenerates.
        ("gc.concurrent", "2.0"),
        ("pause.max", "107.748 at most"),
        ("concurrent.mark", "200.0"),
        ("concurrent.mark.max", "300.0 at most"),
        ("concurrent.marking-roots", "28.777"),
        ("concurrent.cleanup", "0.004"),
        // 800 of 1,000 bytes and 50 of 1,000.
        ("tlab.waste", "42.5"),
        ("first-gc.waste", "80.0"),
    ] {
        assert_eq!(value(label), expected, "{label}");
    }
    let total: f64 = value("pause.total").parse().unwrap();
    assert!((total - 228.332).abs() < 1e-6, "{said}");
    // Of nine pauses. The JVM that reads the log has G1, which never degenerates.
    assert_eq!(value("pause.p50"), "0.126");
    assert!(!said.contains("gc.degenerated") && said.contains("rss.peak "), "{said}");
}

/// The options that the benchmark has without the lab are those of `quick`.
#[test]
fn the_benchmark_has_the_options_of_quick() {
    let source = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/jvm/src/main/java/allotment/extremem/Extremem.java"
    ));
    let (_, rest) = source.split_once("@Param(\"").unwrap();
    let (options, _) = rest.split_once("\")").unwrap();
    let pieces: Vec<&str> = options.split('"').step_by(2).collect();
    assert_eq!(pieces.concat(), Configuration::named("quick", "").unwrap().workload.written());
}
