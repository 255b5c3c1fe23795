//! Gangs, stacks and entries on real threads.

use super::*;
use crate::platform::topology::Topology;
use crate::platform::{own_cpus, run_on_cpus};
use proptest::prelude::*;
use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn each_worker_runs_once_under_its_number_and_name() {
    let gang = Gang::new("crowd", 4);
    for wanted in [1, 4, 2, 3, 9] {
        let workers = gang.ready(wanted);
        assert_eq!(workers, wanted.min(4));
        let seen = Mutex::new(Vec::new());
        let caller = std::thread::current().id();
        Workers::new(&gang, workers).run(&|number| {
            let thread = std::thread::current();
            assert_eq!(thread.id() == caller, number == 0);
            assert!(number == 0 || thread.name() == Some(&format!("crowd-{number}")));
            seen.lock().unwrap().push(number);
        });
        let mut seen = seen.into_inner().unwrap();
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..workers));
    }
}

#[test]
fn a_gang_of_one_starts_no_thread() {
    for most in [0, 1] {
        let gang = Gang::new("alone", most);
        assert_eq!((gang.most(), gang.ready(0), gang.ready(7)), (1, 1, 1));
        let caller = std::thread::current().id();
        Workers::new(&gang, 1).run(&|_| assert_eq!(std::thread::current().id(), caller));
    }
}

#[test]
fn threads_end_with_their_gang() {
    struct Ended(&'static AtomicUsize);
    impl Drop for Ended {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    static ENDED: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static LOCAL: std::cell::RefCell<Option<Ended>> = const { std::cell::RefCell::new(None) };
    }
    let gang = Gang::new("mortal", 3);
    let workers = gang.ready(3);
    Workers::new(&gang, workers).run(&|number| {
        if number > 0 {
            LOCAL.with(|local| *local.borrow_mut() = Some(Ended(&ENDED)));
        }
    });
    drop(gang);
    assert_eq!(ENDED.load(Ordering::Relaxed), workers - 1);
}

#[test]
fn threads_run_on_the_cpus_of_their_gang_whoever_starts_them() {
    let cpus: Vec<usize> = Topology::detect().cpus().iter().map(|cpu| cpu.number).collect();
    let gang = Gang::new("free", 3).on_cpus(&cpus);
    std::thread::scope(|scope| {
        let bound = scope.spawn(|| {
            run_on_cpus(&cpus[..1]);
            let allowed = Mutex::new(HashSet::new());
            Workers::new(&gang, gang.ready(3)).run(&|number| {
                if number > 0 {
                    allowed.lock().unwrap().extend(own_cpus());
                }
            });
            allowed.into_inner().unwrap()
        });
        let allowed = bound.join().unwrap();
        assert!(cpus[1..].iter().all(|cpu| allowed.contains(cpu)), "{allowed:?} of {cpus:?}");
    });
}

#[test]
fn threads_of_a_gang_keep_off_the_callers_cpu_or_have_one_each() {
    let cpus: Vec<usize> = Topology::detect().cpus().iter().map(|cpu| cpu.number).collect();
    let gang = Gang::new("apart", cpus.len() + 1).on_cpus(&cpus);
    let allowed_of = |workers: usize| {
        let allowed = Mutex::new(vec![Vec::new(); workers]);
        let look = |number: usize| allowed.lock().unwrap()[number] = own_cpus();
        assert_eq!(gang.ready(workers), workers);
        // Twice: a thread that had not begun yet at the first call is in its place at the second.
        Workers::new(&gang, workers).run(&look);
        Workers::new(&gang, workers).run(&look);
        allowed.into_inner().unwrap()
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for (index, &own) in cpus.iter().enumerate().filter(|_| cpus.len() > 1) {
                run_on_cpus(&[own]);
                let others: Vec<usize> = cpus.iter().copied().filter(|&cpu| cpu != own).collect();
                assert_eq!(allowed_of(2), [vec![own], others]);
                let one_each = allowed_of(cpus.len() + 1);
                assert!(one_each[1..].iter().flatten().eq(&cpus), "caller on the {index}th: {one_each:?}");
            }
        });
    });
}

/// Attached threads that come to a safepoint are called before threads of the gang. Each number is
/// done once, by any thread.
#[test]
fn threads_that_spin_at_the_safepoint_work_in_place_of_the_gang() {
    if std::thread::available_parallelism().is_ok_and(|cpus| cpus.get() == 1) {
        return eprintln!("one CPU: nobody answers while somebody calls");
    }
    let heap = crate::Heap::builder().max_heap_size(16 << 20).build().unwrap();
    let gang = Gang::new("spare", 4);
    assert_eq!(gang.ready(4), 4);
    let over = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            heap.attach(|mutator| {
                while over.load(Ordering::Relaxed) == 0 {
                    mutator.safepoint();
                }
            })
        });
        // For each number: whether a thread of the gang did it.
        let run = |workers: Workers<'_>| {
            let done = Mutex::new(Vec::new());
            workers.run(&|number| {
                let thread = std::thread::current();
                let of_gang = thread.name().is_some_and(|name| name.starts_with("spare-"));
                done.lock().unwrap().push((number, of_gang));
            });
            let mut done = done.into_inner().unwrap();
            done.sort_unstable();
            assert!(done.iter().map(|(number, _)| *number).eq(0..workers.numbers()), "{done:?}");
            done.into_iter().filter(|(_, of_gang)| *of_gang).count()
        };
        let mut helped = 0;
        while helped < 100 {
            heap.stop_the_world(|world| {
                let of_gang = run(Workers::new(&gang, 3).helped_by(world.volunteers()));
                assert!(
                    (1..3).contains(&of_gang),
                    "there is one other thread, and {of_gang} were of the gang"
                );
                helped += 2 - of_gang;
                let beside = run(Workers::beside(&gang, 2).helped_by(world.volunteers()));
                assert_eq!(beside, 2, "if the caller rests, the gang does all the work");
            })
            .unwrap();
        }
        over.store(1, Ordering::Relaxed);
    });
}

#[test]
fn more_than_the_others_can_be_given_stays() {
    let queues = TaskQueues::new(2, StackLimits { piece: 2, pieces: 200 }).unwrap();
    let mut stack = queues.worker(0);
    (0..200).for_each(|entry| assert!(stack.push(entry)));
    assert!(!stack.give_all());
    let mut left = std::iter::from_fn(|| stack.pop()).collect::<Vec<_>>();
    left.sort_unstable();
    assert!(left.into_iter().eq(0..200));
    assert!(stack.push(7) && stack.give_all());
    assert_eq!((stack.pop(), stack.pop()), (Some(7), None), "what is offered can be taken back");
}

#[test]
fn each_kind_is_given_as_a_piece_of_its_own() {
    let queues = TaskQueues::new(2, StackLimits { piece: 20, pieces: 60 }).unwrap();
    let (mut rich, mut poor) = (queues.worker(0), queues.worker(1));
    (0..12).for_each(|entry| assert!(rich.push(entry)));
    let kind = |entry: usize| (!entry.is_multiple_of(3)).then_some(entry % 3);
    assert!(rich.give_kind(kind) && rich.give_kind(kind) && !rich.give_kind(kind));
    let at_hand: Vec<usize> = std::iter::from_fn(|| rich.pop_at_hand()).collect();
    assert_eq!(at_hand, [9, 6, 3, 0], "entries without a kind stay, and given entries are out of reach");
    assert!(poor.find());
    let given: Vec<usize> = std::iter::from_fn(|| poor.pop()).collect();
    let mut back: Vec<usize> = std::iter::from_fn(|| rich.pop()).collect();
    back.sort_unstable();
    assert!(
        given == [10, 7, 4, 1] && back == [2, 5, 8, 11] || given == [11, 8, 5, 2] && back == [1, 4, 7, 10]
    );
}

#[test]
fn kinds_are_no_more_pieces_than_others_can_be_given() {
    let queues = TaskQueues::new(2, StackLimits { piece: 64, pieces: 200 }).unwrap();
    let mut stack = queues.worker(0);
    (0..60).for_each(|entry| assert!(stack.push(entry)));
    while stack.give_kind(Some) {}
    let at_hand: Vec<usize> = std::iter::from_fn(|| stack.pop_at_hand()).collect();
    assert!((30..60).contains(&at_hand.len()), "{}", at_hand.len());
    assert_eq!(at_hand.len() + std::iter::from_fn(|| stack.pop()).count(), 60);
}

/// Does all work that begins with `first`: an entry of `n` stands for itself and for entries of 1
/// to `n - 1`. If worker 0 `rests`, it leaves as much of the work to others as they can take.
/// Returns the entries done, those that did not fit on a stack, and steals.
fn work(gang: &Gang, queues: &TaskQueues, first: &[usize], rests: bool) -> (usize, usize, u64) {
    queues.begin();
    let sums = Mutex::new((0, 0, 0));
    Workers::new(gang, queues.workers()).run(&|number| {
        let mut stack = queues.worker(number);
        let (mut done, mut refused) = (0, 0);
        if number == 0 {
            refused += first.iter().filter(|&&entry| !stack.push(entry)).count();
            if rests && stack.give_all() {
                stack.rest();
                sums.lock().unwrap().1 += refused;
                return;
            }
        }
        loop {
            while let Some(entry) = stack.pop() {
                done += 1;
                for small in 1..entry {
                    refused += usize::from(!stack.push(small));
                }
                if stack.is_wanted() {
                    stack.give();
                }
            }
            if !stack.find() {
                break;
            }
        }
        let mut sums = sums.lock().unwrap();
        *sums = (sums.0 + done, sums.1 + refused, sums.2 + stack.steals());
    });
    sums.into_inner().unwrap()
}

proptest! {
    #[test]
    fn all_work_is_done_once_by_however_many(
        workers in 1usize..5,
        piece in 2usize..40,
        first in prop::collection::vec(1usize..12, 0..20),
        rests: bool,
    ) {
        let gang = Gang::new("many", workers);
        let queues = TaskQueues::new(gang.ready(workers), StackLimits { piece, pieces: 1 << 20 }).unwrap();
        // 1 + sum of those below: 2^(n-1).
        let expected: usize = first.iter().map(|entry| 1 << (entry - 1)).sum();
        for _ in 0..3 {
            let (done, refused, _) = work(&gang, &queues, &first, rests && workers > 1);
            prop_assert_eq!((done, refused), (expected, 0));
        }
    }

    #[test]
    fn a_small_stack_reports_each_refused_entry(
        workers in 1usize..5,
        piece in 2usize..10,
        pieces in 1usize..6,
        count in 0usize..100,
    ) {
        let queues = TaskQueues::new(workers, StackLimits { piece, pieces }).unwrap();
        for _ in 0..2 {
            let mut stack = queues.worker(0);
            let taken = (0..count).filter(|_| stack.push(8)).count();
            // Each of the others has a piece already.
            prop_assert_eq!(taken, count.min(piece * (pieces.max(workers) - workers + 1)));
        }
    }

    #[test]
    fn entries_survive_encoding(address in 1usize..1 << 44, number in 0usize..1 << 16) {
        for entry in [WorkEntry::Plain(address * 8), WorkEntry::Chunk { array: address * 8, number }] {
            prop_assert_eq!(WorkEntry::decode(entry.encode()), entry);
        }
    }

    #[test]
    fn words_are_plain_if_each_word_is(chunks: [bool; 4], address in 1usize..1 << 44) {
        let chunk = WorkEntry::Chunk { array: address * 8, number: 3 };
        let words = chunks.map(|is_chunk| if is_chunk { chunk } else { WorkEntry::Plain(address * 8) }.encode());
        prop_assert_eq!(WorkEntry::are_plain(&words), chunks == [false; 4]);
    }

    #[test]
    fn a_group_has_the_entries_that_single_pops_would_return(piece in 2usize..20, entries in 0usize..60, steps: Vec<Option<bool>>) {
        let queues = TaskQueues::new(1, StackLimits { piece, pieces: 100 }).unwrap();
        let mut stack = queues.worker(0);
        let mut model: Vec<usize> = (1..=entries).collect();
        prop_assert!(model.iter().all(|&entry| stack.push(entry)));
        for step in steps {
            let Some(suits) = step else {
                prop_assert_eq!(stack.pop(), model.pop());
                continue;
            };
            let at_hand = stack.at_hand();
            prop_assert!(at_hand <= model.len());
            match stack.pop_group::<3>(|_| suits) {
                Some(group) => {
                    prop_assert!(suits);
                    prop_assert_eq!(&group[..], &model.split_off(model.len() - 3)[..]);
                }
                None => prop_assert!(!suits || at_hand < 3),
            }
        }
        prop_assert!(std::iter::from_fn(|| stack.pop()).eq(model.into_iter().rev()));
    }

    #[test]
    fn an_array_has_at_most_65536_chunks(length: usize) {
        prop_assert!(length.div_ceil(chunk_slots(length)) <= 1 << 16);
    }
}

#[test]
fn a_stack_is_last_in_first_out_over_all_its_pieces() {
    let queues = TaskQueues::new(1, StackLimits { piece: 3, pieces: 100 }).unwrap();
    let mut stack = queues.worker(0);
    assert!((0..200).all(|entry| stack.push(entry)));
    assert!((0..200).rev().all(|entry| stack.pop() == Some(entry)));
    assert_eq!((stack.pop(), stack.find(), stack.is_wanted()), (None, false, false));
}

#[test]
fn every_other_entry_is_given_the_oldest_among_them() {
    let queues = TaskQueues::new(2, StackLimits { piece: 8, pieces: 10 }).unwrap();
    let (mut rich, mut poor) = (queues.worker(0), queues.worker(1));
    assert!((0..6).all(|entry| rich.push(entry)));
    rich.give();
    // Something is on offer already.
    rich.give();
    assert!(poor.find());
    let given: HashSet<usize> = std::iter::from_fn(|| poor.pop()).collect();
    assert_eq!((given, poor.steals()), (HashSet::from([0, 2, 4]), 1));
    assert_eq!([rich.pop(), rich.pop(), rich.pop(), rich.pop()], [Some(5), Some(3), Some(1), None]);
}

/// A worker takes the other's offers, whether it spins or sleeps by then. Meanwhile the worker that
/// has all entries is alone.
#[test]
fn a_worker_is_alone_while_all_others_idle_and_it_offers_nothing() {
    let queues = TaskQueues::new(3, StackLimits { piece: 8, pieces: 10 }).unwrap();
    std::thread::scope(|scope| {
        let others = [1, 2].map(|number| {
            let queues = &queues;
            scope.spawn(move || {
                let (mut stack, mut done) = (queues.worker(number), 0);
                while stack.find() {
                    done += std::iter::from_fn(|| stack.pop()).count();
                }
                done
            })
        });
        let mut stack = queues.worker(0);
        assert!(!stack.is_alone(), "no worker checked");
        for turn in 0..3 {
            while !stack.is_alone() {
                stack.look_around();
            }
            // The others sleep soon.
            std::thread::sleep(std::time::Duration::from_millis(turn));
            assert!((0..6).all(|entry| stack.push(entry)));
            assert!(stack.is_alone(), "no worker can take what it keeps");
            stack.look_around();
            assert!(!stack.is_alone());
            while stack.pop_at_hand().is_some() {}
            // Entries that no other worker took are this worker's, too.
        }
        let own = std::iter::from_fn(|| stack.pop()).count();
        assert!(!stack.find(), "nobody else offers anything");
        let done: usize = others.map(|other| other.join().unwrap()).iter().sum();
        assert_eq!(done + own, 9, "every other of three times six");
    });
}
