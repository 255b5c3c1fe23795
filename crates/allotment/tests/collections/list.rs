//! `List` against `Vec`.

use super::in_each_mode;
use allotment::{Gc, List, Local, Mutator, NewList, NewStr, Str, Word, alloc, pass, root};
use proptest::collection::vec;
use proptest::prelude::*;

#[derive(Clone, Copy, Debug, Word)]
#[word(Value)]
enum Val<'g> {
    Nil,
    Int(u32),
    Text(Gc<'g, Str>),
}

/// The model's text for it.
fn shown(value: Val<'_>) -> String {
    match value {
        Val::Nil => "nil".into(),
        Val::Int(number) => number.to_string(),
        Val::Text(text) => format!("{text:?}"),
    }
}

fn make<'m>(mu: &'m mut Mutator<'_>, number: u32) -> Val<'m> {
    let text = number.to_string();
    match number % 3 {
        0 => Val::Nil,
        1 => Val::Int(number),
        _ => Val::Text(alloc!(mu, NewStr::from(&*text)).expect("room")),
    }
}

#[derive(Clone, Debug)]
enum Step {
    Push(u32),
    Insert(usize, u32),
    Set(usize, u32),
    Pop,
    Remove(usize),
    SwapRemove(usize),
    Truncate(usize),
    Clear,
    Reserve(usize),
    Collect,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let index = || 0_usize..20;
    let step = prop_oneof![
        6 => any::<u32>().prop_map(Step::Push),
        3 => (index(), any::<u32>()).prop_map(|(at, value)| Step::Insert(at, value)),
        2 => (index(), any::<u32>()).prop_map(|(at, value)| Step::Set(at, value)),
        2 => Just(Step::Pop),
        2 => index().prop_map(Step::Remove),
        2 => index().prop_map(Step::SwapRemove),
        1 => index().prop_map(Step::Truncate),
        1 => Just(Step::Clear),
        1 => index().prop_map(Step::Reserve),
        1 => Just(Step::Collect),
    ];
    vec(step, 0..60)
}

fn contents(mu: &Mutator<'_>, list: Local<'_, List<Value>>) -> Vec<String> {
    list.get(mu).iter(mu).map(shown).collect()
}

fn step(mu: &mut Mutator<'_>, list: Local<'_, List<Value>>, model: &mut Vec<String>, step: Step) {
    let in_model = |index: usize, model: &Vec<String>| (index < model.len()).then_some(index);
    match step {
        Step::Push(number) => {
            root!(mu, value = make(mu, number));
            List::push(mu, list, value).expect("room");
            model.push(shown(value.get(mu)));
        }
        Step::Insert(index, number) => {
            root!(mu, value = make(mu, number));
            let inserted = List::insert(mu, list, index, value).expect("room");
            assert_eq!(inserted, index <= model.len());
            if inserted {
                model.insert(index, shown(value.get(mu)));
            }
        }
        Step::Set(index, number) => {
            root!(mu, value = make(mu, number));
            assert_eq!(list.get(mu).set(mu, index, value.get(mu)), index < model.len());
            if let Some(old) = model.get_mut(index) {
                *old = shown(value.get(mu));
            }
        }
        Step::Pop => assert_eq!(list.get(mu).pop(mu).map(shown), model.pop()),
        Step::Remove(index) => {
            let expected = in_model(index, model).map(|index| model.remove(index));
            assert_eq!(list.get(mu).remove(mu, index).map(shown), expected);
        }
        Step::SwapRemove(index) => {
            let expected = in_model(index, model).map(|index| model.swap_remove(index));
            assert_eq!(list.get(mu).swap_remove(mu, index).map(shown), expected);
        }
        Step::Truncate(len) => {
            list.get(mu).truncate(mu, len);
            model.truncate(len);
        }
        Step::Clear => {
            list.get(mu).clear(mu);
            model.clear();
        }
        Step::Reserve(additional) => {
            List::reserve(mu, list, additional).expect("room");
            assert!(list.get(mu).capacity(mu) >= model.len() + additional);
        }
        Step::Collect => assert!(mu.collect()),
    }
}

#[test]
fn a_list_is_a_vec() {
    in_each_mode(24, &steps(), |mu, steps| {
        root!(mu, list = alloc!(mu, NewList::<Value>::new()).expect("room"));
        let mut model = Vec::new();
        for one in steps {
            step(mu, list, &mut model, one);
            let this = list.get(mu);
            assert_eq!((this.len(), this.is_empty()), (model.len(), model.is_empty()));
            assert_eq!(this.last(mu).map(shown), model.last().cloned());
            assert_eq!(this.get(mu, 3).map(shown), model.get(3).cloned());
            assert_eq!(contents(mu, list), model);
            let backward: Vec<_> = this.iter(mu).rev().map(shown).collect();
            assert!(backward.iter().eq(model.iter().rev()));
        }
    });
}

/// A removed element is not kept alive by its former place.
#[test]
fn what_is_taken_out_of_a_list_dies() {
    super::heap("")
        .attach(|mu| {
            root!(mu, list = List::<Value>::with_capacity(mu, 8).expect("room"));
            let mut weak = Vec::new();
            for _ in 0..6 {
                root!(mu, text = alloc!(mu, NewStr::from("text")).expect("room"));
                weak.push(allotment::WeakRoot::new(mu, text.get(mu)));
                let value = Val::Text(text.get(mu));
                pass!(List::push(mu, list, =value)).expect("room");
            }
            let this = list.get(mu);
            assert!(
                this.pop(mu).is_some() && this.remove(mu, 0).is_some() && this.swap_remove(mu, 1).is_some()
            );
            this.truncate(mu, 2);
            assert!(mu.collect());
            let alive: Vec<bool> = weak.iter().map(|weak| weak.get(mu).is_some()).collect();
            assert_eq!(alive, [false, true, false, false, true, false]);
            assert_eq!(list.get(mu).capacity(mu), 8);
            list.get(mu).clear(mu);
            assert!(mu.collect());
            assert!(weak.iter().all(|weak| weak.get(mu).is_none()));
        })
        .unwrap();
}
