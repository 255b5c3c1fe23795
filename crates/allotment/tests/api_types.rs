//! Types: generic objects, `Any` and the way back, identity, numbers and text, and what they print.
#![forbid(unsafe_code)]

mod api_common;

use allotment::{
    Any, Array, Bytes, Downcast, Field, Gc, Mutator, NewBytes, NewSlots, NewStr, Object, OutOfMemory, Plain,
    Slots, Str, Word, alloc, keep, root,
};
use api_common::*;
use std::collections::HashSet;

#[derive(Object)]
struct Entry<K: Word, V: Word> {
    key: Field<K>,
    hash: u32,
    value: Field<V>,
    next: Field<Option<Entry<K, V>>>,
    uses: Plain<u64>,
}

fn entry<'m, K: Word, V: Word>(
    mu: &'m mut Mutator,
    key: allotment::Local<'_, K>,
    value: allotment::Local<'_, V>,
) -> Result<Gc<'m, Entry<K, V>>, OutOfMemory> {
    let mut last = None;
    for hash in 0..3 {
        let (key, value) = (key.get(mu), value.get(mu));
        let new = NewEntry::<K, V> { key, hash, value, next: last, uses: Plain::new(0) };
        last = Some(alloc!(mu, new)?);
    }
    Ok(allotment::rebind!(mu, last).expect("three were made"))
}

#[test]
fn generic_objects_survive_with_their_parameters() {
    heap()
        .attach(|mu| {
            root!(mu, text = alloc!(mu, NewStr::from("key")).unwrap(), value = Val::Int(4));
            root!(mu, one = entry(mu, text, value).unwrap(), two = entry(mu, value, text).unwrap());
            mu.collect();
            let (one, two) = (one.get(mu), two.get(mu));
            one.uses.set(one.uses.get() + 1);
            assert_eq!((&*one.key.load(mu), one.value.load(mu)), ("key", Val::Int(4)));
            assert_eq!((two.key.load(mu), &*two.value.load(mu)), (Val::Int(4), "key"));
            let first = one.next.load(mu).and_then(|entry| entry.next.load(mu)).unwrap();
            assert_eq!((first.hash, one.hash, first.next.load(mu).is_none()), (0, 2, true));
            assert_eq!(one.uses.get(), 1);
        })
        .unwrap();
}

/// Types of the same layout, and even of the same name, are told apart.
#[test]
fn any_is_asked_for_its_type() {
    mod other {
        #[derive(allotment::Object)]
        pub(super) struct Pair {
            pub(super) car: allotment::Field<super::Value>,
            pub(super) cdr: allotment::Field<super::Value>,
        }
        pub(super) fn new<'g>() -> NewPair<'g> {
            NewPair { car: super::Val::Nil, cdr: super::Val::Nil }
        }
    }
    heap()
        .attach(|mu| {
            let mut all: Vec<Gc<'_, Any>> = Vec::new();
            let pair = alloc!(mu, [all] => cons(Val::Nil, Val::Nil)).unwrap();
            all.push(pair.as_any());
            let pair = alloc!(mu, [all] => other::new()).unwrap();
            assert_eq!((pair.car.load(mu), pair.cdr.load(mu)), (Val::Nil, Val::Nil));
            all.push(pair.as_any());
            let text = alloc!(mu, [all] => NewStr::from("t")).unwrap();
            all.push(text.as_any());
            let bytes = alloc!(mu, [all] => NewBytes::from(&b"t"[..])).unwrap();
            all.push(bytes.as_any());
            let numbers = alloc!(mu, [all] => NewSlots::new(1, 1u64)).unwrap();
            all.push(numbers.as_any());
            let numbers = alloc!(mu, [all] => NewSlots::new(1, 1f64)).unwrap();
            all.push(numbers.as_any());
            let array = alloc!(mu, [all] => allotment::NewArray::new(1, Val::Nil)).unwrap();
            all.push(array.as_any());
            keep!(mu, [all] => mu.collect());
            fn which<T: Downcast>(all: &[Gc<'_, Any>]) -> Vec<usize> {
                (0..all.len()).filter(|&index| all[index].downcast::<T>().is_some()).collect()
            }
            assert_eq!(which::<Pair>(&all), [0]);
            assert_eq!(which::<other::Pair>(&all), [1]);
            assert_eq!(which::<Str>(&all), [2]);
            assert_eq!(which::<Bytes>(&all), [3]);
            assert_eq!(which::<Slots<u64>>(&all), [4]);
            assert_eq!(which::<Slots<f64>>(&all), [5]);
            assert!(which::<Slots<i64>>(&all).is_empty() && which::<Node>(&all).is_empty());
            assert!(all[2].is_same(all[2].downcast::<Str>().unwrap()) && all[2] != all[3]);
            root!(mu, any = all[2]);
            assert_eq!(
                format!("{:?} {:?}", any.get(mu), any.get(mu).downcast::<Str>()),
                "Gc<Any> Some(\"t\")"
            );
        })
        .unwrap();
}

#[test]
fn an_identity_hash_is_kept_and_spread() {
    heap()
        .attach(|mu| {
            let (mut objects, mut hashes) = (Vec::new(), Vec::new());
            for key in 0..1000 {
                let object = alloc!(mu, [objects] => node(key)).unwrap();
                hashes.push(mu.identity_hash(object));
                objects.push(object);
            }
            objects.drain(..500);
            keep!(mu, [objects] => mu.collect());
            for (object, hash) in objects.iter().zip(&hashes[500..]) {
                assert_eq!(mu.identity_hash(*object), *hash);
                assert!(object.as_any().is::<Node>(), "the hash lies beside the shape");
            }
            assert!(hashes.iter().collect::<HashSet<_>>().len() > 990);
        })
        .unwrap();
}

#[test]
fn numbers() {
    heap()
        .attach(|mu| {
            let floats = alloc!(mu, NewSlots::from(&[0.5f64, f64::NAN][..])).unwrap();
            assert!(floats.len() == 2 && floats.at(0).get() == 0.5 && floats.at(1).get().is_nan());
            let empty = alloc!(mu, NewSlots::<u16>::from(&[][..])).unwrap();
            assert!(empty.is_empty());
            let wide = alloc!(mu, NewSlots::new(5, i64::MIN)).unwrap();
            assert!(wide.iter().all(|number| number == i64::MIN));
        })
        .unwrap();
    heap()
        .attach(|mu| {
            let mut bytes = alloc!(mu, NewSlots::from(&[1u8, 2, 3, 4, 5][..])).unwrap();
            bytes.at(1).set(7);
            keep!(mu, [bytes] => mu.collect());
            assert_eq!(bytes.iter().collect::<Vec<_>>(), [1, 7, 3, 4, 5]);
            bytes.copy_within(0..4, 1);
            assert_eq!(bytes.iter().collect::<Vec<_>>(), [1, 1, 7, 3, 4]);
            bytes.copy_within(1..5, 0);
            assert_eq!(bytes.iter().collect::<Vec<_>>(), [1, 7, 3, 4, 4]);
            bytes.fill(0..2, 0);
            bytes.copy_from_slice(3, &[9, 9]);
            assert_eq!(format!("{bytes:?}"), "[0, 0, 3, 9, 9]");
            assert_eq!(bytes.iter().rev().map(u32::from).sum::<u32>(), 21);
        })
        .unwrap();
}

#[test]
fn text_and_bytes() {
    heap()
        .attach(|mu| {
            for length in 0..40 {
                let text: String = ('a'..).take(length).collect();
                let mut copy = alloc!(mu, NewStr::from(&*text)).unwrap();
                let bytes = alloc!(mu, [copy] => NewBytes::from(text.as_bytes())).unwrap();
                assert_eq!((&*copy, &*bytes), (&*text, text.as_bytes()));
                assert_eq!(format!("{copy} {copy:>4} {copy:?}"), format!("{text} {text:>4} {text:?}"));
            }
            let umlaut = alloc!(mu, NewStr::from("äöü")).unwrap();
            assert_eq!(umlaut.chars().count(), 3);
            let cut = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let _cut = NewStr::part(umlaut, 1..2);
            }));
            assert!(cut.is_err(), "a character is not cut");
        })
        .unwrap();
}

#[test]
fn equality_is_identity() {
    heap()
        .attach(|mu| {
            let mut one = alloc!(mu, NewStr::from("same")).unwrap();
            let two = alloc!(mu, [one] => NewStr::from("same")).unwrap();
            assert!(one != two && *one == *two && one == one.as_any().downcast().unwrap());
        })
        .unwrap();
}

#[test]
fn objects_without_slots_or_fields() {
    #[derive(Object)]
    struct Unit;
    #[derive(Object)]
    #[repr(C)]
    struct Mixed {
        byte: u8,
        next: Field<Option<Array<Value>>>,
        half: u16,
    }
    heap()
        .attach(|mu| {
            let mut unit = alloc!(mu, NewUnit {}).unwrap();
            let mixed = alloc!(mu, [unit] => NewMixed { byte: 1, next: None, half: 2 }).unwrap();
            root!(mu, mixed = mixed);
            keep!(mu, [unit] => mu.collect());
            assert!(unit.as_any().is::<Unit>());
            let mixed = mixed.get(mu);
            assert_eq!((mixed.byte, mixed.half, mixed.next.load(mu).is_none()), (1, 2, true));
        })
        .unwrap();
}

#[test]
fn the_same_beside_the_concurrent_collector() {
    again_beside_cycles("the_same_beside_the_concurrent_collector");
}
