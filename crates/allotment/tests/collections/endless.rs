//! Every operation ends, whatever a key's hash and equality do, and whatever other threads do to
//! the collection meanwhile. Wrong answers are allowed; panics that the program did not ask for,
//! broken heaps and loops without end are not.

use super::heap;
use allotment::{
    Gc, Heap, IdMap, Interner, Key, List, Map, Mutator, NewIdMap, NewInterner, NewList, NewMap, NewStr,
    Object, Root, Str, Unboxed, alloc, pass, root,
};
use std::cell::{Cell, RefCell};
use std::hash::Hasher;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

#[derive(Object)]
struct Evil {
    number: u32,
}

type EvilMap = Map<Evil, Unboxed<u32>>;

/// The action of a callback at each call.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mischief {
    Nothing,
    /// Takes all out.
    Clear,
    /// Takes the first key out, by another key than the one it is called for.
    RemoveFirst,
    /// Removes the key for which it is called.
    RemoveThis,
    /// Looks into the map.
    Look,
    /// Has another thread put in so much that the map grows.
    Grow,
    /// The same, into a map that was cleared.
    ClearAndGrow,
    /// Says something else each time.
    Differ,
    /// Says the same of all.
    Agree,
    Panic,
}
use Mischief::{Agree, Clear, ClearAndGrow, Differ, Grow, Look, Nothing, Panic, RemoveFirst, RemoveThis};

const ALL: [Mischief; 10] =
    [Nothing, Clear, RemoveFirst, RemoveThis, Look, Grow, ClearAndGrow, Differ, Agree, Panic];

#[derive(Clone)]
struct Setting {
    heap: Heap,
    map: Root<EvilMap>,
    in_hash: Mischief,
    in_equal: Mischief,
}

thread_local! {
    static SETTING: RefCell<Option<Setting>> = const { RefCell::new(None) };
    /// The map's own calls from within a callback do no mischief, or there would be no end.
    static WITHIN: Cell<bool> = const { Cell::new(false) };
    static CALLS: Cell<u64> = const { Cell::new(0) };
}

/// Does the action that is set. Returns that action.
fn commit(mu: &Mutator<'_>, key: Gc<'_, Evil>, which: impl FnOnce(&Setting) -> Mischief) -> Mischief {
    let Some(setting) = SETTING.with_borrow(Clone::clone).filter(|_| !WITHIN.get()) else { return Nothing };
    let (mischief, map) = (which(&setting), setting.map.get(mu));
    CALLS.set(CALLS.get() + 1);
    WITHIN.set(true);
    match mischief {
        Clear => map.clear(mu),
        RemoveFirst => {
            if let Some((first, _)) = map.iter(mu).next() {
                map.remove(mu, first);
            }
        }
        RemoveThis => drop(map.remove(mu, key)),
        Look => assert!(
            map.iter(mu).count() <= map.capacity(mu) && map.get(mu, key).is_none_or(|one| one.0 < 1000)
        ),
        Grow | ClearAndGrow => {
            if mischief == ClearAndGrow {
                map.clear(mu);
            }
            let first = 100 + CALLS.get() as u32 % 300;
            std::thread::scope(|scope| {
                scope.spawn(|| setting.heap.attach(|mu| fill(mu, &setting.map, first..first + 20)).unwrap());
            });
        }
        Panic => {
            WITHIN.set(false);
            panic!("asked for")
        }
        Nothing | Differ | Agree => {}
    }
    WITHIN.set(false);
    mischief
}

impl Key for Evil {
    fn hash<'g, H: Hasher>(key: Gc<'g, Evil>, mu: &'g Mutator<'_>, state: &mut H) {
        match commit(mu, key, |setting| setting.in_hash) {
            Differ => state.write_u64(CALLS.get()),
            Agree => {}
            _ => state.write_u32(key.number),
        }
    }

    fn equal<'g>(one: Gc<'g, Evil>, other: Gc<'g, Evil>, mu: &'g Mutator<'_>) -> bool {
        match commit(mu, other, |setting| setting.in_equal) {
            Differ => CALLS.get().is_multiple_of(2),
            Agree => true,
            _ => one.number == other.number,
        }
    }
}

fn fill(mu: &mut Mutator<'_>, map: &Root<EvilMap>, numbers: std::ops::Range<u32>) {
    root!(mu, map = map.get(mu));
    for number in numbers {
        let key = alloc!(mu, NewEvil { number }).unwrap();
        pass!(Map::insert(mu, map, =key, =Unboxed(number))).unwrap();
    }
}

/// Runs `body`, and says which it was if it does not end.
fn ends(what: &str, body: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        let thread = scope.spawn(move || {
            body();
            let _ = sender.send(());
        });
        if receiver.recv_timeout(Duration::from_secs(300)) == Err(mpsc::RecvTimeoutError::Timeout) {
            eprintln!("no end: {what}");
            std::process::abort();
        }
        thread.join().expect("no panic");
    });
}

/// Each operation of a map, with keys that are there and keys that are not.
fn operate(mu: &mut Mutator<'_>, map: &Root<EvilMap>, operation: u32) {
    root!(mu, map = map.get(mu), value = Unboxed(1));
    for number in [0, 3, 77] {
        root!(mu, key = alloc!(mu, NewEvil { number }).unwrap());
        match operation {
            0 => Map::insert(mu, map, key, value).unwrap(),
            1 => drop(map.get(mu).remove(mu, key.get(mu))),
            2 => drop(map.get(mu).get(mu, key.get(mu))),
            3 => drop(map.get(mu).contains(mu, key.get(mu))),
            4 => Map::reserve(mu, map, 50).unwrap(),
            _ => {
                for (key, _) in map.get(mu).iter(mu) {
                    map.get(mu).remove(mu, key);
                    map.get(mu).contains(mu, key);
                }
            }
        }
    }
}

/// A setting of its own for each mischief of either callback, and both at once.
fn hostile(mischief: impl Iterator<Item = (Mischief, Mischief)>) {
    for (in_hash, in_equal) in mischief {
        for operation in 0..6 {
            // Empty, nearly full, full.
            for filled in [0, 5, 6] {
                let what = format!(
                    "{in_hash:?} in hash, {in_equal:?} in equal, operation {operation}, {filled} entries"
                );
                ends(&what, || {
                    let heap = Heap::builder().max_heap_size(64 << 20).build().unwrap();
                    let body = |mu: &mut Mutator<'_>| {
                        let map = alloc!(mu, NewMap::new()).unwrap();
                        let map = Root::new(mu, map);
                        fill(mu, &map, 0..filled);
                        SETTING.set(Some(Setting {
                            heap: heap.clone(),
                            map: map.clone(),
                            in_hash,
                            in_equal,
                        }));
                        let panicked =
                            catch_unwind(AssertUnwindSafe(|| operate(mu, &map, operation))).is_err();
                        SETTING.set(None);
                        assert!(!panicked || [in_hash, in_equal].contains(&Panic), "{what}");
                        // And the map works again.
                        map.get(mu).clear(mu);
                        fill(mu, &map, 0..20);
                        assert_eq!(map.get(mu).len(), 20);
                        mu.collect();
                    };
                    heap.attach(body).unwrap();
                    heap.verify().unwrap();
                });
            }
        }
    }
}

#[test]
fn a_map_ends_whatever_hash_does() {
    hostile(ALL.into_iter().map(|mischief| (mischief, Nothing)));
}

#[test]
fn a_map_ends_whatever_equality_does() {
    // Where all collide, equality is asked of each.
    hostile(ALL.into_iter().flat_map(|mischief| [(Nothing, mischief), (Agree, mischief)]));
}

#[test]
fn a_map_ends_whatever_both_do() {
    hostile(
        [Clear, RemoveFirst, Grow, ClearAndGrow, Differ].into_iter().map(|mischief| (mischief, mischief)),
    );
}

/// The insertions of all keys are hostile, and the map grows all the while.
#[test]
fn a_map_that_its_keys_clear_can_be_filled() {
    for (in_hash, in_equal) in
        [(Clear, Nothing), (Nothing, Clear), (Agree, Clear), (Differ, Differ), (Clear, Clear)]
    {
        ends(&format!("{in_hash:?}, {in_equal:?}"), || {
            let heap = heap("ZealInterval=5,+ZealMove");
            let body = |mu: &mut Mutator<'_>| {
                let map = alloc!(mu, NewMap::new()).unwrap();
                let map = Root::new(mu, map);
                SETTING.set(Some(Setting { heap: heap.clone(), map: map.clone(), in_hash, in_equal }));
                fill(mu, &map, 0..200);
                SETTING.set(None);
                // The last one is there: nothing of a user runs behind it.
                assert!(map.get(mu).iter(mu).any(|(key, _)| key.number == 199));
            };
            heap.attach(body).unwrap();
            heap.verify().unwrap();
        });
    }
}

/// All collections, changed by several threads at once that take no turns.
struct Shared {
    list: Root<List<Str>>,
    map: Root<Map<Str, Unboxed<u32>>>,
    by_identity: Root<IdMap<Str, Unboxed<u32>>>,
    interner: Root<Interner>,
}

impl Shared {
    fn new(mu: &mut Mutator<'_>) -> Shared {
        root!(mu, list = alloc!(mu, NewList::new()).unwrap(), map = alloc!(mu, NewMap::new()).unwrap());
        root!(mu, by_identity = alloc!(mu, NewIdMap::new()).unwrap());
        let interner = alloc!(mu, NewInterner::new()).unwrap();
        Shared {
            interner: Root::new(mu, interner),
            list: Root::new(mu, list.get(mu)),
            map: Root::new(mu, map.get(mu)),
            by_identity: Root::new(mu, by_identity.get(mu)),
        }
    }

    fn clear(&self, mu: &mut Mutator<'_>) {
        self.list.get(mu).clear(mu);
        self.map.get(mu).clear(mu);
        self.by_identity.get(mu).clear(mu);
        mu.safepoint();
    }

    fn shrink(&self, mu: &mut Mutator<'_>) {
        self.list.get(mu).truncate(mu, 3);
        self.list.get(mu).pop(mu);
        let first = self.map.get(mu).iter(mu).next();
        first.map(|(key, _)| self.map.get(mu).remove(mu, key));
        let first = self.by_identity.get(mu).iter(mu).next_back();
        first.map(|(key, _)| self.by_identity.get(mu).remove(mu, key));
        mu.safepoint();
    }

    fn grow(&self, mu: &mut Mutator<'_>, number: u32) {
        root!(mu, list = self.list.get(mu), map = self.map.get(mu), interner = self.interner.get(mu));
        root!(mu, by_identity = self.by_identity.get(mu));
        root!(mu, text = Interner::intern(mu, interner, &(number % 3000).to_string()).unwrap());
        List::push(mu, list, text).unwrap();
        List::insert(mu, list, (number % 5) as usize, text).unwrap();
        pass!(Map::insert(mu, map, text, =Unboxed(number))).unwrap();
        pass!(IdMap::insert(mu, by_identity, text, =Unboxed(number))).unwrap();
        root!(mu, other = alloc!(mu, NewStr::from("other")).unwrap());
        Interner::unify(mu, interner, other).unwrap();
        // Whatever is in there is an object.
        assert!(list.get(mu).iter(mu).take(50).all(|text| text.len() < 6));
        assert!(map.get(mu).iter(mu).take(50).all(|(text, _)| text.len() < 6));
        assert!(by_identity.get(mu).iter(mu).take(50).all(|(text, _)| text.len() < 6));
    }
}

#[test]
fn collections_end_whatever_other_threads_do() {
    for options in ["", "ZealInterval=50,+ZealMove,+ZealPoison"] {
        ends(options, || {
            let heap = heap(options);
            let shared = heap.attach(Shared::new).unwrap();
            let done = AtomicBool::new(false);
            std::thread::scope(|scope| {
                let (heap, shared, done) = (&heap, &shared, &done);
                let repeat = |what: fn(&Shared, &mut Mutator<'_>)| {
                    scope.spawn(move || {
                        heap.attach(|mu| {
                            while !done.load(Ordering::Relaxed) {
                                what(shared, mu);
                            }
                        })
                        .unwrap();
                    });
                };
                repeat(Shared::clear);
                repeat(Shared::shrink);
                repeat(|shared, mu| shared.grow(mu, 7));
                let fill = |first: u32| {
                    heap.attach(|mu| (first..first + 1500).for_each(|n| shared.grow(mu, n))).unwrap()
                };
                let other = scope.spawn(move || fill(100_000));
                fill(0);
                other.join().unwrap();
                done.store(true, Ordering::Relaxed);
            });
            heap.verify().unwrap();
        });
    }
}
