//! `Map` and `IdMap` against an ordered vector of pairs, for keys of several kinds.

use super::in_each_mode;
use allotment::{
    Bytes, Gc, IdMap, Key, Local, Map, Maybe, Mutator, NewBytes, NewIdMap, NewMap, NewStr, Object,
    OutOfMemory, Stack, Str, Unboxed, WeakRoot, Word, alloc, pass, root,
};
use proptest::collection::vec;
use proptest::prelude::*;
use std::hash::{Hash, Hasher};

/// A kind of key, of which there are some.
pub(crate) trait Sample: Key {
    fn make<'m>(mu: &'m mut Mutator<'_>, number: u8) -> Result<Self::Of<'m>, OutOfMemory>;
    fn number<'g>(key: Self::Of<'g>, mu: &'g Mutator<'_>) -> u8;
}

impl Sample for Str {
    fn make<'m>(mu: &'m mut Mutator<'_>, number: u8) -> Result<Gc<'m, Str>, OutOfMemory> {
        let text = number.to_string();
        alloc!(mu, NewStr::from(&*text))
    }
    fn number<'g>(key: Gc<'g, Str>, _: &'g Mutator<'_>) -> u8 {
        key.parse().expect("a number")
    }
}

impl Sample for Bytes {
    fn make<'m>(mu: &'m mut Mutator<'_>, number: u8) -> Result<Gc<'m, Bytes>, OutOfMemory> {
        let bytes = [number];
        alloc!(mu, NewBytes::from(&bytes[..]))
    }
    fn number<'g>(key: Gc<'g, Bytes>, _: &'g Mutator<'_>) -> u8 {
        key[0]
    }
}

impl Sample for Unboxed<i16> {
    fn make<'m>(_: &'m mut Mutator<'_>, number: u8) -> Result<Self::Of<'m>, OutOfMemory> {
        Ok(Unboxed(-i16::from(number)))
    }
    fn number<'g>(key: Self::Of<'g>, _: &'g Mutator<'_>) -> u8 {
        u8::try_from(-key.0).expect("as made")
    }
}

/// 0 is none.
impl Sample for Maybe<Str> {
    fn make<'m>(mu: &'m mut Mutator<'_>, number: u8) -> Result<Maybe<Gc<'m, Str>>, OutOfMemory> {
        if number == 0 { Ok(Maybe(None)) } else { Str::make(mu, number).map(|key| Maybe(Some(key))) }
    }
    fn number<'g>(key: Maybe<Gc<'g, Str>>, mu: &'g Mutator<'_>) -> u8 {
        key.0.map_or(0, |key| Str::number(key, mu))
    }
}

/// A user's key, whose hashes nearly all collide.
#[derive(Object)]
pub(crate) struct Clumsy {
    number: u8,
}

impl Key for Clumsy {
    fn hash<'g, H: Hasher>(key: Gc<'g, Clumsy>, _: &'g Mutator<'_>, state: &mut H) {
        (key.number % 2).hash(state);
    }
    fn equal<'g>(one: Gc<'g, Clumsy>, other: Gc<'g, Clumsy>, _: &'g Mutator<'_>) -> bool {
        one.number == other.number
    }
}

impl Sample for Clumsy {
    fn make<'m>(mu: &'m mut Mutator<'_>, number: u8) -> Result<Gc<'m, Clumsy>, OutOfMemory> {
        alloc!(mu, NewClumsy { number })
    }
    fn number<'g>(key: Gc<'g, Clumsy>, _: &'g Mutator<'_>) -> u8 {
        key.number
    }
}

#[derive(Clone, Debug)]
enum Step {
    Insert(u8, u32),
    Remove(u8),
    /// Removes the keys that leave no remainder, during an iteration.
    RemoveSome(u8),
    Clear,
    Reserve(usize),
    Collect,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let key = || 0_u8..32;
    let step = prop_oneof![
        12 => (key(), any::<u32>()).prop_map(|(key, value)| Step::Insert(key, value)),
        6 => key().prop_map(Step::Remove),
        1 => (1_u8..4).prop_map(Step::RemoveSome),
        1 => Just(Step::Clear),
        1 => (0_usize..20).prop_map(Step::Reserve),
        1 => Just(Step::Collect),
    ];
    vec(step, 0..80)
}

/// In the order of insertion.
type Model = Vec<(u8, u32)>;

fn insert(model: &mut Model, key: u8, value: u32) {
    match model.iter_mut().find(|(other, _)| *other == key) {
        Some(entry) => entry.1 = value,
        None => model.push((key, value)),
    }
}

fn remove(model: &mut Model, key: u8) -> Option<u32> {
    let at = model.iter().position(|(other, _)| *other == key)?;
    Some(model.remove(at).1)
}

fn contents<K: Sample>(mu: &Mutator<'_>, map: Local<'_, Map<K, Unboxed<u32>>>) -> Model {
    map.get(mu).iter(mu).map(|(key, value)| (K::number(key, mu), value.0)).collect()
}

fn step<K: Sample>(
    mu: &mut Mutator<'_>,
    map: Local<'_, Map<K, Unboxed<u32>>>,
    model: &mut Model,
    step: Step,
) {
    match step {
        Step::Insert(number, value) => {
            root!(mu, key = K::make(mu, number).expect("room"));
            pass!(Map::insert(mu, map, key, =Unboxed(value))).expect("room");
            insert(model, number, value);
            assert_eq!(map.get(mu).get(mu, key.get(mu)), Some(Unboxed(value)));
        }
        Step::Remove(number) => {
            root!(mu, key = K::make(mu, number).expect("room"));
            let (this, key) = (map.get(mu), key.get(mu));
            assert_eq!(this.contains(mu, key), model.iter().any(|(other, _)| *other == number));
            assert_eq!(this.remove(mu, key).map(|value| value.0), remove(model, number));
            assert_eq!(this.get(mu, key), None);
        }
        Step::RemoveSome(divisor) => {
            let this = map.get(mu);
            for (key, _) in this.iter(mu) {
                if K::number(key, mu).is_multiple_of(divisor) {
                    assert!(this.remove(mu, key).is_some());
                }
            }
            model.retain(|(key, _)| !key.is_multiple_of(divisor));
        }
        Step::Clear => {
            map.get(mu).clear(mu);
            model.clear();
        }
        Step::Reserve(additional) => {
            Map::reserve(mu, map, additional).expect("room");
            assert!(map.get(mu).capacity(mu) >= model.len() + additional);
        }
        Step::Collect => assert!(mu.collect()),
    }
}

fn is_a_map<K: Sample>() {
    in_each_mode(12, &steps(), |mu, steps| {
        root!(mu, map = alloc!(mu, NewMap::<K, Unboxed<u32>>::new()).expect("room"));
        let mut model = Model::new();
        for one in steps {
            step(mu, map, &mut model, one);
            let this = map.get(mu);
            assert_eq!((this.len(), this.is_empty()), (model.len(), model.is_empty()));
            assert_eq!(contents(mu, map), model);
            assert!(
                this.iter(mu).rev().map(|(_, value)| value.0).eq(model.iter().rev().map(|entry| entry.1))
            );
        }
    });
}

#[test]
fn a_map_by_text_is_a_map() {
    is_a_map::<Str>();
}

#[test]
fn a_map_by_bytes_is_a_map() {
    is_a_map::<Bytes>();
}

#[test]
fn a_map_by_immediates_is_a_map() {
    is_a_map::<Unboxed<i16>>();
}

#[test]
fn a_map_by_words_that_may_be_none_is_a_map() {
    is_a_map::<Maybe<Str>>();
}

#[test]
fn a_map_by_a_type_of_the_user_whose_hashes_collide_is_a_map() {
    is_a_map::<Clumsy>();
}

/// Any object, or a number: the values that an interpreter compares with `eq`.
#[derive(Clone, Copy, Word)]
#[word(Value)]
enum Val<'g> {
    Number(u8),
    Text(Gc<'g, Str>),
}

/// 24 objects with four texts, and 8 numbers.
fn key<'g>(mu: &'g Mutator<'_>, pool: &Stack<'_, Str>, number: u8) -> Val<'g> {
    pool.get(mu, number.into()).map_or(Val::Number(number), Val::Text)
}

#[test]
fn a_map_by_identity_is_a_map() {
    in_each_mode(24, &steps(), |mu, steps| {
        let mut pool: Stack<'_, Str> = Stack::new(mu);
        for number in 0..24 {
            let text = (number % 4).to_string();
            let text = alloc!(mu, NewStr::from(&*text)).expect("room");
            pool.push(mu, text);
        }
        root!(mu, map = alloc!(mu, NewIdMap::<Value, Unboxed<u32>>::new()).expect("room"));
        let mut model = Model::new();
        for one in steps {
            match one {
                Step::Insert(number, value) => {
                    let key = key(mu, &pool, number);
                    pass!(IdMap::insert(mu, map, =key, =Unboxed(value))).expect("room");
                    insert(&mut model, number, value);
                }
                Step::Remove(number) => {
                    let (this, key) = (map.get(mu), key(mu, &pool, number));
                    assert_eq!(this.remove(mu, key).map(|value| value.0), remove(&mut model, number));
                }
                Step::RemoveSome(divisor) => {
                    let this = map.get(mu);
                    for number in (0..32).filter(|number: &u8| number.is_multiple_of(divisor)) {
                        this.remove(mu, key(mu, &pool, number));
                    }
                    model.retain(|(key, _)| !key.is_multiple_of(divisor));
                }
                Step::Clear => {
                    map.get(mu).clear(mu);
                    model.clear();
                }
                Step::Reserve(additional) => IdMap::reserve(mu, map, additional).expect("room"),
                Step::Collect => assert!(mu.collect()),
            }
            let this = map.get(mu);
            assert_eq!((this.len(), this.is_empty()), (model.len(), model.is_empty()));
            assert!(this.iter(mu).map(|(_, value)| value.0).eq(model.iter().map(|entry| entry.1)));
            for number in 0..32 {
                let expected = model.iter().find(|(other, _)| *other == number).map(|entry| Unboxed(entry.1));
                let key = key(mu, &pool, number);
                assert_eq!(this.get(mu, key), expected);
                assert_eq!(this.contains(mu, key), expected.is_some());
            }
        }
    });
}

#[test]
fn text_is_found_without_an_object() {
    super::heap("ZealInterval=1,+ZealMove")
        .attach(|mu| {
            root!(mu, map = Map::<Str, Unboxed<u8>>::with_capacity(mu, 3).expect("room"));
            for (number, text) in [(1, "one"), (2, ""), (3, "drei")] {
                root!(mu, key = alloc!(mu, NewStr::from(text)).expect("room"));
                pass!(Map::insert(mu, map, key, =Unboxed(number))).expect("room");
            }
            let found = ["one", "", "drei", "two"].map(|text| map.get(mu).get_str(mu, text));
            assert_eq!(found, [Some(Unboxed(1)), Some(Unboxed(2)), Some(Unboxed(3)), None]);
        })
        .unwrap();
}

/// A queue of few entries does not grow, however many go through it.
#[test]
fn removed_entries_make_room() {
    super::heap("")
        .attach(|mu| {
            root!(mu, map = alloc!(mu, NewMap::<Unboxed<u32>, Unboxed<u32>>::new()).expect("room"));
            for number in 0..1000 {
                pass!(Map::insert(mu, map, =Unboxed(number), =Unboxed(number))).expect("room");
                if let Some(old) = number.checked_sub(3) {
                    assert_eq!(map.get(mu).remove(mu, Unboxed(old)), Some(Unboxed(old)));
                }
            }
            let this = map.get(mu);
            assert!(this.iter(mu).map(|(key, _)| key.0).eq(997..1000));
            assert!(this.capacity(mu) <= 12, "{}", this.capacity(mu));
        })
        .unwrap();
}

/// A removed key or value is not kept alive by its former place, even if other entries were moved
/// there.
#[test]
fn what_is_taken_out_of_a_map_dies() {
    super::heap("")
        .attach(|mu| {
            root!(mu, map = Map::<Str, Str>::with_capacity(mu, 12).expect("room"));
            root!(mu, by_identity = IdMap::<Str, Str>::with_capacity(mu, 12).expect("room"));
            let mut weak = Vec::new();
            for number in 0_u8..16 {
                root!(
                    mu,
                    key = Str::make(mu, number).expect("room"),
                    value = Str::make(mu, number).expect("room")
                );
                // The last four need room: the others are moved up.
                if number == 12 {
                    for old in (0_u8..12).filter(|old| old % 3 != 0) {
                        let (this, ids) = (map.get(mu), by_identity.get(mu));
                        let (own, _) =
                            this.iter(mu).find(|(key, _)| Str::number(*key, mu) == old).expect("there");
                        assert!(ids.remove(mu, own).is_some() && this.remove(mu, own).is_some());
                    }
                }
                Map::insert(mu, map, key, value).expect("room");
                IdMap::insert(mu, by_identity, key, value).expect("room");
                weak.push((WeakRoot::new(mu, key.get(mu)), WeakRoot::new(mu, value.get(mu))));
            }
            assert_eq!((map.get(mu).capacity(mu), by_identity.get(mu).capacity(mu)), (12, 12));
            // Removes the entries at the end, and the one before them, which was moved and whose
            // old place is still free.
            for (key, _) in map.get(mu).iter(mu).rev().take(5) {
                assert!(
                    map.get(mu).remove(mu, key).is_some() && by_identity.get(mu).remove(mu, key).is_some()
                );
            }
            assert!(mu.collect());
            for (number, (key, value)) in weak.iter().enumerate() {
                let expected = number < 9 && number % 3 == 0;
                assert_eq!(
                    (key.get(mu).is_some(), value.get(mu).is_some()),
                    (expected, expected),
                    "{number}"
                );
            }
            map.get(mu).clear(mu);
            by_identity.get(mu).clear(mu);
            assert!(mu.collect());
            assert!(weak.iter().all(|(key, value)| key.get(mu).is_none() && value.get(mu).is_none()));
        })
        .unwrap();
}
