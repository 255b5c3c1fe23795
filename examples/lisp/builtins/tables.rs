//! Hash tables whose keys are equal by content.
//!
//! A table is an object with an array of buckets. A bucket is a list of entries, and an entry is a
//! pair that `set-cdr!` can change. A key's hash is that of its content, so tables need no change
//! when a collection moves all objects.

use super::kinds::{Args, Builtin};
use crate::equality::{equal, hash};
use crate::fault::Fault;
use crate::lisp::{Lisp, list};
use crate::value::{NewPair, NewTable, Pair, Table, Val, Value};
use allotment::{Field, Gc, Mutator, NewArray, Plain, alloc, root};

const FIRST_BUCKETS: usize = 8;

pub const ALL: &[Builtin] = &[
    Builtin::make("make-hash-table", 0, 0, |mu, _, _| {
        let buckets = alloc!(mu, NewArray::new(FIRST_BUCKETS, Val::Nil))?;
        Ok(Val::Table(alloc!(mu, NewTable { buckets, entries: Plain::new(0) })?))
    }),
    Builtin::look("hash-table-ref/default", 3, 3, |mu, lisp, args| {
        let entry = find(mu, args.table(mu, lisp, 0)?, args.get(mu, lisp, 1));
        Ok(entry.map_or_else(|| args.get(mu, lisp, 2), |entry| entry.cdr.load(mu)))
    }),
    Builtin::look("hash-table-exists?", 2, 2, |mu, lisp, args| {
        Ok(Val::Bool(find(mu, args.table(mu, lisp, 0)?, args.get(mu, lisp, 1)).is_some()))
    }),
    Builtin::make("hash-table-set!", 3, 3, set),
    Builtin::look("hash-table-delete!", 2, 2, |mu, lisp, args| {
        delete(mu, args.table(mu, lisp, 0)?, args.get(mu, lisp, 1));
        Ok(Val::Unspecified)
    }),
    Builtin::look("hash-table-size", 1, 1, |mu, lisp, args| {
        let entries = args.table(mu, lisp, 0)?.entries.get();
        Ok(Val::int(entries as i64).expect("no heap holds so many entries"))
    }),
    Builtin::make("hash-table->alist", 1, 1, |mu, lisp, args| {
        let height = lisp.stack.len();
        let buckets = args.table(mu, lisp, 0)?.buckets.load(mu);
        for mut bucket in buckets.iter(mu) {
            while let Val::Pair(pair) = bucket {
                lisp.stack.push(mu, pair.car.load(mu));
                bucket = pair.cdr.load(mu);
            }
        }
        // The entries belong to the table. The program gets copies.
        for at in height..lisp.stack.len() {
            if let Some(Val::Pair(entry)) = lisp.stack.get(mu, at) {
                let copy = alloc!(mu, NewPair { car: entry.car.load(mu), cdr: entry.cdr.load(mu) })?;
                lisp.stack.set(mu, at, Val::Pair(copy));
            }
        }
        root!(mu, nil = Val::Nil);
        list(mu, &mut lisp.stack, height, nil)
    }),
];

fn bucket<'g>(mu: &'g Mutator<'_>, table: Gc<'g, Table>, key: Val<'_>) -> &'g Field<Value> {
    let buckets = table.buckets.load(mu);
    buckets.at(hash(mu, key) as usize & (buckets.len() - 1))
}

fn find<'g>(mu: &'g Mutator<'_>, table: Gc<'g, Table>, key: Val<'_>) -> Option<Gc<'g, Pair>> {
    let mut rest = bucket(mu, table, key).load(mu);
    while let Val::Pair(pair) = rest {
        if let Val::Pair(entry) = pair.car.load(mu)
            && equal(mu, entry.car.load(mu), key)
        {
            return Some(entry);
        }
        rest = pair.cdr.load(mu);
    }
    None
}

fn set<'m>(mu: &'m mut Mutator<'_>, lisp: &mut Lisp<'_, '_>, args: Args) -> Result<Val<'m>, Fault> {
    let table = args.table(mu, lisp, 0)?;
    if let Some(entry) = find(mu, table, args.get(mu, lisp, 1)) {
        entry.cdr.store(mu, args.get(mu, lisp, 2));
        return Ok(Val::Unspecified);
    }
    if table.entries.get() >= table.buckets.load(mu).len() {
        grow(mu, lisp, args)?;
    }
    let entry = alloc!(mu, NewPair { car: args.get(mu, lisp, 1), cdr: args.get(mu, lisp, 2) })?;
    // The place is not known yet, so the rest is filled in later. No allocation may happen in
    // between.
    let pair = alloc!(mu, NewPair { car: Val::Pair(entry), cdr: Val::Nil })?;
    let table = args.table(mu, lisp, 0)?;
    let place = bucket(mu, table, args.get(mu, lisp, 1));
    pair.cdr.store(mu, place.load(mu));
    place.store(mu, Val::Pair(pair));
    table.entries.set(table.entries.get() + 1);
    Ok(Val::Unspecified)
}

/// Doubles the number of buckets, and uses the pairs again.
fn grow(mu: &mut Mutator<'_>, lisp: &Lisp<'_, '_>, args: Args) -> Result<(), Fault> {
    let len = args.table(mu, lisp, 0)?.buckets.load(mu).len();
    let new = alloc!(mu, NewArray::new(len * 2, Val::Nil))?;
    let table = args.table(mu, lisp, 0)?;
    let old = table.buckets.load(mu);
    table.buckets.store(mu, new);
    for mut rest in old.iter(mu) {
        while let Val::Pair(pair) = rest {
            rest = pair.cdr.load(mu);
            if let Val::Pair(entry) = pair.car.load(mu) {
                let place = bucket(mu, table, entry.car.load(mu));
                pair.cdr.store(mu, place.load(mu));
                place.store(mu, Val::Pair(pair));
            }
        }
    }
    Ok(())
}

fn delete(mu: &Mutator<'_>, table: Gc<'_, Table>, key: Val<'_>) {
    let mut place = bucket(mu, table, key);
    while let Val::Pair(pair) = place.load(mu) {
        if let Val::Pair(entry) = pair.car.load(mu)
            && equal(mu, entry.car.load(mu), key)
        {
            place.store(mu, pair.cdr.load(mu));
            table.entries.set(table.entries.get() - 1);
            return;
        }
        place = &pair.as_ref().cdr;
    }
}
