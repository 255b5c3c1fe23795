//! Threads that take memory faster than a worker can mark: cycles end beside them. Cycles are
//! counted, not times. Threads may wait for long, so that a slow machine changes nothing.

use allotment::stats::CollectionRecord;
use allotment::{Field, Gc, Heap, Mutator, Object, OutOfMemory, Root, alloc, root};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

const HEAP: usize = 32 << 20;

/// Cycles that may come too late, until the heap knows the program.
const LEARNING: usize = 5;

/// Nodes of a list of garbage.
const SHORT: usize = 100;

#[derive(Object)]
struct Node {
    next: Field<Option<Node>>,
    key: u64,
    rest: u64,
}

/// Bytes of a node, header included.
const BYTES: usize = 32;

fn node(next: Option<Gc<'_, Node>>, key: u64) -> NewNode<'_> {
    NewNode { next, key, rest: 0 }
}

fn garbage(mu: &mut Mutator<'_>, count: usize) -> Result<(), OutOfMemory> {
    let mut list = None;
    for made in 0..count {
        list = if made % SHORT == 0 { None } else { list };
        list = Some(alloc!(mu, node(list, made as u64))?);
    }
    Ok(())
}

/// A list of `count` nodes: markers have nothing to share in it.
fn list(mu: &mut Mutator<'_>, count: usize) -> Result<Root<Node>, OutOfMemory> {
    root!(mu, mut newest = alloc!(mu, node(None, 0))?);
    for key in 1..count {
        let made = alloc!(mu, node(Some(newest.get(mu)), key as u64))?;
        newest.set(mu, made);
    }
    let newest = newest.get(mu);
    Ok(Root::new(mu, newest))
}

/// What a heap tells of its cycles.
struct Cycles(Arc<Mutex<Vec<CollectionRecord>>>);

impl Cycles {
    /// A heap with these options, and its cycles.
    fn of(options: &str) -> (Heap, Cycles) {
        let records = Arc::new(Mutex::new(Vec::new()));
        let note = records.clone();
        let options = format!("Collector=shenandoah,ParallelGCThreads=2,ConcGCThreads=1,{options}");
        let builder = Heap::builder().max_heap_size(HEAP).use_transparent_huge_pages(false);
        let builder = builder.on_collection(move |record| note.lock().unwrap().push(record.clone()));
        (builder.options(&options).expect(&options).build().expect(&options), Cycles(records))
    }

    /// Cycles that threads had to wait for in a stop though they were under way, after the first
    /// few. And all cycles.
    fn degenerated(&self) -> (usize, usize) {
        let records = self.0.lock().unwrap();
        // The others had not begun: that is not the fault of threads.
        let late = |record: &&CollectionRecord| {
            let step = record.cycle().and_then(|cycle| cycle.degenerated);
            step.is_some_and(|step| step != "Outside of Cycle")
        };
        (records.iter().skip(LEARNING).filter(late).count(), records.len())
    }

    fn waits(&self) -> u64 {
        self.0
            .lock()
            .unwrap()
            .iter()
            .filter_map(CollectionRecord::cycle)
            .map(|cycle| cycle.pacing_waits)
            .sum()
    }
}

/// Two threads with a list each allocate as fast as they can, beside one that allocates little.
fn innocent(heap: &Heap) {
    let running = AtomicUsize::new(2);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let run = heap.attach(|mu| {
                    let lives = list(mu, HEAP / 11 / BYTES)?;
                    garbage(mu, 3_000_000)?;
                    drop(lives);
                    Ok::<(), OutOfMemory>(())
                });
                running.fetch_sub(1, Ordering::Relaxed);
                run.unwrap().unwrap();
            });
        }
        scope.spawn(|| {
            let run = heap.attach(|mu| {
                while running.load(Ordering::Relaxed) > 0 {
                    mu.blocking(|| thread::sleep(Duration::from_millis(1)));
                    garbage(mu, 10)?;
                }
                Ok::<(), OutOfMemory>(())
            });
            run.unwrap().unwrap();
        });
    });
}

/// A thread with a list allocates three quarters of the heap at once, rests, and does so again.
fn burst(heap: &Heap) {
    let run = heap.attach(|mu| {
        let lives = list(mu, HEAP / 11 / BYTES)?;
        for _ in 0..12 {
            garbage(mu, HEAP / 4 * 3 / BYTES)?;
            mu.blocking(|| thread::sleep(Duration::from_millis(20)));
        }
        drop(lives);
        Ok::<(), OutOfMemory>(())
    });
    run.unwrap().unwrap();
}

/// Runs a program in both modes, with threads that wait as long as they have to.
fn ends_beside_threads(program: impl Fn(&Heap)) {
    for mode in ["satb", "generational"] {
        let (heap, cycles) = Cycles::of(&format!("ShenandoahGCMode={mode},ShenandoahPacingMaxDelay=2000"));
        program(&heap);
        let (degenerated, all) = cycles.degenerated();
        println!("{mode}: {degenerated} of {all} cycles degenerated, {} waits", cycles.waits());
        assert!(all > LEARNING, "{mode}: {all} cycles");
        // Some: a worker without a CPU may lose a cycle before the first step that threads pay for.
        // Without pacing it is half of them.
        assert!(4 * degenerated <= all, "{mode}: {degenerated} of {all} cycles");
        heap.verify().unwrap();
    }
}

#[test]
fn beside_greedy_threads_cycles_end_in_time() {
    ends_beside_threads(innocent);
}

#[test]
fn in_bursts_cycles_end_in_time() {
    ends_beside_threads(burst);
}

/// Without pacing no thread helps or waits; without a delay none waits.
#[test]
fn the_options_of_pacing_have_their_effects() {
    for (options, helps, waits) in
        [("-ShenandoahPacing", false, false), ("ShenandoahPacingMaxDelay=0", true, false), ("", true, true)]
    {
        // All that is taken in a cycle costs very much.
        let cost = if helps { ",ShenandoahPacingCycleSlack=0,ShenandoahPacingSurcharge=100" } else { "" };
        let (heap, cycles) = Cycles::of(format!("{options}{cost}").trim_start_matches(','));
        innocent(&heap);
        let sums = heap.metrics().collections;
        let (degenerated, all) = cycles.degenerated();
        println!(
            "{options}: {degenerated} of {all} cycles degenerated, {} slices, {} waits",
            sums.assists, sums.pacing_waits
        );
        assert_eq!((sums.assists > 0, sums.pacing_waits > 0), (helps, waits), "{options}");
        assert_eq!(sums.pacing_waits, cycles.waits());
    }
}
