//! `Interner`: one object for each text that is alive.

use super::in_each_mode;
use allotment::{Interner, NewInterner, NewStr, Root, Str, alloc, pass, root};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
enum Step {
    Intern(u8),
    Unify(u8),
    Look(u8),
    Forget(u8),
    Collect,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let text = || 0_u8..40;
    let step = prop_oneof![
        6 => text().prop_map(Step::Intern),
        4 => text().prop_map(Step::Unify),
        2 => text().prop_map(Step::Look),
        6 => text().prop_map(Step::Forget),
        1 => Just(Step::Collect),
    ];
    vec(step, 0..100)
}

#[test]
fn equal_texts_are_one_object_as_long_as_it_lives() {
    in_each_mode(24, &steps(), |mu, steps| {
        root!(mu, interner = alloc!(mu, NewInterner::new()).expect("room"));
        let mut kept: BTreeMap<u8, Root<Str>> = BTreeMap::new();
        for step in steps {
            let known = |number: u8| (number, number.to_string());
            match step {
                Step::Intern(number) => {
                    let (number, text) = known(number);
                    root!(mu, text = Interner::intern(mu, interner, &text).expect("room"));
                    let text = text.get(mu);
                    assert_eq!(&*text, number.to_string());
                    let root = kept.entry(number).or_insert_with(|| Root::new(mu, text));
                    assert_eq!(root.get(mu), text);
                }
                Step::Unify(number) => {
                    let (number, text) = known(number);
                    root!(mu, new = alloc!(mu, NewStr::from(&*text)).expect("room"));
                    let one = pass!(Interner::unify(mu, interner, new)).expect("room");
                    assert_eq!(*one, *text);
                    let root = kept.entry(number).or_insert_with(|| Root::new(mu, one));
                    assert_eq!(root.get(mu), one);
                }
                Step::Look(number) => {
                    let found = interner.get(mu).get(mu, &number.to_string());
                    match kept.get(&number) {
                        Some(root) => assert_eq!(found, Some(root.get(mu))),
                        // It may not have been collected yet.
                        None => assert!(found.is_none_or(|found| *found == *number.to_string())),
                    }
                }
                Step::Forget(number) => drop(kept.remove(&number)),
                Step::Collect => {
                    assert!(mu.collect());
                    assert_eq!(interner.get(mu).count(mu), kept.len());
                }
            }
        }
        assert!(mu.collect());
        assert_eq!(interner.get(mu).count(mu), kept.len());
    });
}

/// The heap holds some ten thousand, and 200 000 go through it.
#[test]
fn texts_that_died_make_room() {
    super::heap("")
        .attach(|mu| {
            root!(mu, interner = alloc!(mu, NewInterner::new()).expect("room"));
            root!(mu, kept = Interner::intern(mu, interner, "kept").expect("room"));
            for number in 0..200_000 {
                Interner::intern(mu, interner, &number.to_string()).map(drop).expect("room");
            }
            assert_eq!(interner.get(mu).get(mu, "kept"), Some(kept.get(mu)));
        })
        .unwrap();
}
