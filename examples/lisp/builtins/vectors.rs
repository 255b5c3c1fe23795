//! Vectors.

use super::kinds::{ANY, Builtin};
use crate::fault::Fault;
use crate::lisp::{list, vector};
use crate::value::Val;
use allotment::{NewArray, alloc, root};

pub const ALL: &[Builtin] = &[
    Builtin::make("make-vector", 1, 2, |mu, lisp, args| {
        let len = args.index(mu, lisp, 0)?;
        let fill = if args.count == 2 { args.get(mu, lisp, 1) } else { Val::Unspecified };
        Ok(Val::Vector(alloc!(mu, NewArray::new(len, fill))?))
    }),
    Builtin::make("vector", 0, ANY, |mu, lisp, args| {
        Ok(Val::Vector(vector(mu, &mut lisp.stack, args.base)?))
    }),
    Builtin::look("vector-length", 1, 1, |mu, lisp, args| {
        let len = args.vector(mu, lisp, 0)?.len();
        Ok(Val::int(len as i64).expect("no heap holds so many elements"))
    }),
    Builtin::look("vector-ref", 2, 2, |mu, lisp, args| {
        let (vector, index) = (args.vector(mu, lisp, 0)?, args.index(mu, lisp, 1)?);
        vector.get(index).map(|slot| slot.load(mu)).ok_or_else(|| beyond(index, vector.len()))
    }),
    Builtin::look("vector-set!", 3, 3, |mu, lisp, args| {
        let (vector, index) = (args.vector(mu, lisp, 0)?, args.index(mu, lisp, 1)?);
        let slot = vector.get(index).ok_or_else(|| beyond(index, vector.len()))?;
        slot.store(mu, args.get(mu, lisp, 2));
        Ok(Val::Unspecified)
    }),
    Builtin::look("vector-fill!", 2, 2, |mu, lisp, args| {
        let vector = args.vector(mu, lisp, 0)?;
        vector.fill(mu, 0..vector.len(), args.get(mu, lisp, 1));
        Ok(Val::Unspecified)
    }),
    Builtin::make("vector->list", 1, 1, |mu, lisp, args| {
        let height = lisp.stack.len();
        let vector = args.vector(mu, lisp, 0)?;
        vector.iter(mu).for_each(|item| lisp.stack.push(mu, item));
        root!(mu, nil = Val::Nil);
        list(mu, &mut lisp.stack, height, nil)
    }),
    Builtin::make("list->vector", 1, 1, |mu, lisp, args| {
        let height = lisp.stack.len();
        let list = args.get(mu, lisp, 0);
        lisp.push_list(mu, list)?;
        Ok(Val::Vector(vector(mu, &mut lisp.stack, height)?))
    }),
];

fn beyond(index: usize, len: usize) -> Fault {
    Fault::new(format!("the vector has {len} elements, and none with index {index}"))
}
