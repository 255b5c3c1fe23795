//! The equality of two values, and a hash that is consistent with it.
//!
//! Neither allocates, so both are ordinary Rust over bare values.

use crate::value::Val;
use allotment::Mutator;

/// Whether both are one object, or the same number, character or boolean: `eqv?`.
pub fn same(a: Val<'_>, b: Val<'_>) -> bool {
    match (a, b) {
        (Val::Float(a), Val::Float(b)) => a.value == b.value,
        _ => a == b,
    }
}

/// Whether both are the same by content: `equal?`.
pub fn equal(mu: &Mutator<'_>, a: Val<'_>, b: Val<'_>) -> bool {
    let mut left = vec![(a, b)];
    while let Some((a, b)) = left.pop() {
        let equal = match (a, b) {
            (Val::Pair(a), Val::Pair(b)) => {
                // Lists are long in their rests. So a rest is pushed first and popped last, which
                // keeps `left` short.
                left.push((a.cdr.load(mu), b.cdr.load(mu)));
                left.push((a.car.load(mu), b.car.load(mu)));
                true
            }
            (Val::Vector(a), Val::Vector(b)) => {
                left.extend(a.iter(mu).zip(b.iter(mu)));
                a.len() == b.len()
            }
            (Val::Text(a), Val::Text(b)) => *a == *b,
            (a, b) => same(a, b),
        };
        if !equal {
            return false;
        }
    }
    true
}

/// Values that a hash examines: the hash must end even if a structure contains itself.
const LOOKED_AT: usize = 16;

/// A hash that is the same for equal values, at any address.
pub fn hash(mu: &Mutator<'_>, value: Val<'_>) -> u64 {
    // FNV-1a.
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut mix = |word: u64| hash = (hash ^ word).wrapping_mul(0x0100_0000_01b3);
    let mut left = vec![value];
    for _ in 0..LOOKED_AT {
        match left.pop() {
            None => break,
            Some(Val::Pair(pair)) => left.extend([pair.cdr.load(mu), pair.car.load(mu)]),
            Some(Val::Vector(vector)) => left.extend(vector.iter(mu).take(LOOKED_AT)),
            Some(Val::Text(text)) => text.bytes().for_each(|byte| mix(byte.into())),
            Some(Val::Symbol(symbol)) => mix(symbol.id.into()),
            Some(Val::Int(n)) => mix(n.get() as u64),
            Some(Val::Float(float)) => mix((float.value + 0.0).to_bits()),
            Some(Val::Char(c)) => mix(c.into()),
            Some(Val::Bool(b)) => mix(b.into()),
            Some(Val::Builtin(index)) => mix(index.into()),
            // Values that are equal only to themselves. They keep a number for life, even when they
            // move.
            Some(Val::Closure(closure)) => mix(mu.identity_hash(closure).get().into()),
            Some(Val::Table(table)) => mix(mu.identity_hash(table).get().into()),
            Some(_) => mix(1),
        }
    }
    hash ^ hash >> 32
}
