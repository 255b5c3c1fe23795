//! The API at work: lists, arrays, roots, threads, and a small Lisp as an interpreter's author
//! would write it.
#![forbid(unsafe_code)]

mod api_common;

use allotment::{
    Array, AttachError, Call, Gc, Heap, Local, LocalMut, Mutator, NewArray, OutOfMemory, Root, alloc, call,
    enter, keep, rebind, ret, root,
};
use api_common::*;

type Res<T> = Result<T, OutOfMemory>;

fn with_heap(test: impl Fn(&mut Mutator)) {
    heap().attach(&test).unwrap();
}

/// Loop-carried bare value, kept by the live list of the allocation itself.
fn range<'m>(mu: &'m mut Mutator, n: i32) -> Res<Val<'m>> {
    let mut list = Val::Nil;
    for i in (0..n).rev() {
        list = Val::Pair(alloc!(mu, cons(Val::Int(i), list))?);
    }
    Ok(rebind!(mu, list))
}

/// Two loop-carried values; the cursor must survive an allocation that does not hold it.
fn reverse<'m>(mu: &'m mut Mutator, list: Local<'_, Value>) -> Res<Val<'m>> {
    let mut out = Val::Nil;
    let mut rest = list.get(mu);
    while let Val::Pair(p) = rest {
        rest = p.cdr.load(mu);
        out = Val::Pair(alloc!(mu, [rest] => cons(p.car.load(mu), out))?);
    }
    Ok(rebind!(mu, out))
}

/// No allocation, so no ceremony: `&Mutator` and bare values throughout.
fn sum<'g>(mu: &'g Mutator, mut list: Val<'g>) -> i32 {
    let mut sum = 0;
    while let Val::Pair(p) = list {
        if let Val::Int(i) = p.car.load(mu) {
            sum += i;
        }
        list = p.cdr.load(mu);
    }
    sum
}

/// Bare arguments to a function that collects.
fn append<'m>(call: Call<'m, (Val<'_>, Val<'_>)>) -> Res<Val<'m>> {
    enter!(call => mu, (a, b));
    root!(mu, a = a);
    let mut out = b;
    let reversed = keep!(mu, [out] => rebind!(reverse(mu, a)?));
    let mut rest = reversed;
    while let Val::Pair(p) = rest {
        rest = p.cdr.load(mu);
        out = Val::Pair(alloc!(mu, [rest] => cons(p.car.load(mu), out))?);
    }
    Ok(rebind!(mu, out))
}

#[test]
fn lists() {
    with_heap(|mu| {
        let list = rebind!(range(mu, 100)).unwrap();
        assert_eq!(sum(mu, list), 4950);
        root!(mu, list = list);
        let reversed = rebind!(reverse(mu, list)).unwrap();
        let Val::Pair(first) = reversed else { panic!() };
        assert_eq!(first.car.load(mu), Val::Int(99));
        let original = list.get(mu);
        let both = call!(mu, append(original, reversed)).unwrap();
        assert_eq!(sum(mu, both), 9900);
    });
}

#[test]
fn weak_slots_and_typed_objects() {
    with_heap(|mu| {
        let mut a = alloc!(mu, node(1)).unwrap();
        let b = alloc!(mu, [a] => NewNode { next: None, seen: Some(a), key: 2 }).unwrap();
        assert_eq!(b.seen.load(mu), Some(a));
        a.seen.store(mu, Some(b));
        assert_eq!(a.seen.load(mu).unwrap().key, 2);
    });
}

#[test]
fn arrays() {
    with_heap(|mu| {
        let mut array = alloc!(mu, NewArray::<Value>::new(10, Val::Nil)).unwrap();
        for i in 0..array.len() {
            let pair = alloc!(mu, [array] => cons(Val::Int(i as i32), Val::Nil)).unwrap();
            array.at(i).store(mu, Val::Pair(pair));
        }
        keep!(mu, [array] => mu.safepoint());
        let total: i32 = array.iter(mu).map(|list| sum(mu, list)).sum();
        assert_eq!(total, 45);
        array.copy_within(mu, 0..8, 2);
        assert_eq!(
            array.iter(mu).map(|list| sum(mu, list)).collect::<Vec<_>>(),
            [0, 1, 0, 1, 2, 3, 4, 5, 6, 7]
        );
        array.copy_within(mu, 2..10, 0);
        assert_eq!(
            array.iter(mu).map(|list| sum(mu, list)).collect::<Vec<_>>(),
            [0, 1, 2, 3, 4, 5, 6, 7, 6, 7]
        );
        array.fill(mu, 1..10, Val::Nil);
        assert!(array[1..].iter().all(|field| field.load(mu) == Val::Nil));
    });
}

#[test]
fn every_kind_of_word_survives_its_slot() {
    with_heap(|mu| {
        let mut values: Vec<Val> = vec![
            Val::Nil,
            Val::Int(-7),
            Val::Int(i32::MIN),
            Val::Sym(u32::MAX),
            Val::Big(allotment::Fixnum::MIN),
            Val::Big(allotment::Fixnum::MAX),
            Val::Flag(true),
            Val::Flag(false),
            Val::Char('\u{10FFFF}'),
            Val::Float(-0.5),
            Val::Node(None),
        ];
        let node = alloc!(mu, [values] => node(3)).unwrap();
        values.push(Val::Node(Some(node)));
        let mut pair = alloc!(mu, [values] => cons(Val::Nil, Val::Nil)).unwrap();
        values.push(Val::Pair(pair));
        let closure = NewClosure { params: Val::Nil, body: Val::Nil, env: Val::Pair(pair) };
        let closure = alloc!(mu, [values, pair] => closure).unwrap();
        values.push(Val::Closure(closure));
        for value in values {
            pair.car.store(mu, value);
            assert_eq!(pair.car.load(mu), value);
            assert_eq!(Root::new(mu, value).get(mu), value);
        }
    });
}

#[test]
fn roots_and_threads() {
    let heap = heap();
    let root = heap
        .attach(|mu| {
            let list = rebind!(range(mu, 10)).unwrap();
            Root::new(mu, list)
        })
        .unwrap();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                heap.attach(|mu| {
                    for _ in 0..5 {
                        let list = rebind!(range(mu, 20)).unwrap();
                        assert_eq!(sum(mu, list), 190);
                        assert_eq!(sum(mu, root.get(mu)), 45);
                        mu.safepoint();
                    }
                })
                .unwrap()
            });
        }
    });
    let copy = root.clone();
    heap.attach(|mu| {
        root.set(mu, Val::Int(1));
        assert_eq!(root.get(mu), Val::Int(1));
        assert_eq!(sum(mu, copy.get(mu)), 45);
    })
    .unwrap();
}

#[test]
fn one_heap_per_thread() {
    let (a, b) = (heap(), heap());
    a.attach(|_| assert_eq!(b.attach(|_| ()), Err(AttachError::AlreadyAttached))).unwrap();
}

#[test]
fn out_of_memory_is_a_value() {
    let heap = Heap::builder().max_heap_size(4 << 20).build().unwrap();
    heap.attach(|mu| {
        let error = rebind!(range(mu, 1 << 20)).map(|_| ()).unwrap_err();
        assert_eq!(error.bytes(), 24);
        let boxed: Box<dyn std::error::Error> = error.into();
        assert!(boxed.to_string().contains("out of memory"));
    })
    .unwrap();
}

// ---- A Lisp. ----

const LAMBDA: u32 = 0;
const IF: u32 = 1;
const ADD: u32 = 2;
const SUB: u32 = 3;
const LESS: u32 = 4;
const FIB: u32 = 100;
const N: u32 = 101;

fn list<'m>(mu: &'m mut Mutator, items: &[Local<'_, Value>]) -> Res<Val<'m>> {
    let mut out = Val::Nil;
    for item in items.iter().rev() {
        out = Val::Pair(alloc!(mu, cons(item.get(mu), out))?);
    }
    Ok(rebind!(mu, out))
}

fn nth<'g>(mu: &'g Mutator, mut list: Val<'g>, n: usize) -> Val<'g> {
    for _ in 0..n {
        let Val::Pair(p) = list else { return Val::Nil };
        list = p.cdr.load(mu);
    }
    let Val::Pair(p) = list else { return Val::Nil };
    p.car.load(mu)
}

fn lookup<'g>(mu: &'g Mutator, mut env: Val<'g>, name: u32) -> Val<'g> {
    while let Val::Pair(p) = env {
        if let Val::Pair(binding) = p.car.load(mu)
            && binding.car.load(mu) == Val::Sym(name)
        {
            return binding.cdr.load(mu);
        }
        env = p.cdr.load(mu);
    }
    Val::Nil
}

fn eval<'m>(mu: &'m mut Mutator, expr: Local<'_, Value>, env: Local<'_, Value>) -> Res<Val<'m>> {
    let form = match expr.get(mu) {
        Val::Sym(name) => ret!(mu, Ok(lookup(mu, env.get(mu), name))),
        Val::Pair(form) => form,
        other => ret!(mu, Ok(other)),
    };
    match form.car.load(mu) {
        Val::Sym(LAMBDA) => {
            let (params, body) = (nth(mu, form.cdr.load(mu), 0), nth(mu, form.cdr.load(mu), 1));
            return Ok(Val::Closure(alloc!(mu, NewClosure { params, body, env: env.get(mu) })?));
        }
        Val::Sym(IF) => {
            let rest = form.cdr.load(mu);
            root!(mu, test = nth(mu, rest, 0), then = nth(mu, rest, 1), other = nth(mu, rest, 2));
            let taken = match eval(mu, test, env)? {
                Val::Nil => other,
                _ => then,
            };
            return eval(mu, taken, env);
        }
        _ => {}
    }
    // An application: evaluate the operator and the operands.
    root!(mu, op = form.car.load(mu), mut rest = form.cdr.load(mu), mut args = Val::Nil, mut item = Val::Nil);
    while let Val::Pair(p) = rest.get(mu) {
        item.set(mu, p.car.load(mu));
        rest.set(mu, p.cdr.load(mu));
        let value = rebind!(eval(mu, item.local(), env)?);
        let pair = alloc!(mu, cons(value, args.get(mu)))?;
        args.set(mu, Val::Pair(pair));
    }
    let numbers = match (nth(mu, args.get(mu), 1), nth(mu, args.get(mu), 0)) {
        (Val::Int(a), Val::Int(b)) => Some((a, b)),
        _ => None,
    };
    match (op.get(mu), numbers) {
        (Val::Sym(ADD), Some((a, b))) => return Ok(Val::Int(a + b)),
        (Val::Sym(SUB), Some((a, b))) => return Ok(Val::Int(a - b)),
        (Val::Sym(LESS), Some((a, b))) => return Ok(if a < b { Val::Int(1) } else { Val::Nil }),
        _ => {}
    }
    let Val::Closure(closure) = rebind!(eval(mu, op, env)?) else { return Ok(Val::Nil) };
    root!(mu, body = closure.body.load(mu), mut scope = env.get(mu), name = nth(mu, closure.params.load(mu), 0));
    let argument = nth(mu, args.get(mu), 0);
    let binding = alloc!(mu, cons(name.get(mu), argument))?;
    let frame = alloc!(mu, cons(Val::Pair(binding), scope.get(mu)))?;
    scope.set(mu, Val::Pair(frame));
    eval(mu, body, scope.local())
}

#[test]
fn lisp() {
    with_heap(|mu| {
        // (lambda (n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
        root!(mu, lambda = Val::Sym(LAMBDA), iff = Val::Sym(IF), add = Val::Sym(ADD), sub = Val::Sym(SUB));
        root!(
            mu,
            less = Val::Sym(LESS),
            fib = Val::Sym(FIB),
            n = Val::Sym(N),
            one = Val::Int(1),
            two = Val::Int(2)
        );
        root!(mu, params = list(mu, &[n]).unwrap());
        root!(mu, test = list(mu, &[less, n, two]).unwrap());
        root!(mu, n1 = list(mu, &[sub, n, one]).unwrap());
        root!(mu, n2 = list(mu, &[sub, n, two]).unwrap());
        root!(mu, f1 = list(mu, &[fib, n1]).unwrap());
        root!(mu, f2 = list(mu, &[fib, n2]).unwrap());
        root!(mu, plus = list(mu, &[add, f1, f2]).unwrap());
        root!(mu, body = list(mu, &[iff, test, n, plus]).unwrap());
        root!(mu, function = list(mu, &[lambda, params, body]).unwrap(), mut env = Val::Nil);
        let closure = rebind!(eval(mu, function, env.local())).unwrap();
        let binding = alloc!(mu, cons(fib.get(mu), closure)).unwrap();
        let frame = alloc!(mu, cons(Val::Pair(binding), Val::Nil)).unwrap();
        env.set(mu, Val::Pair(frame));
        root!(mu, eight = Val::Int(8));
        root!(mu, call = list(mu, &[fib, eight]).unwrap());
        assert_eq!(eval(mu, call, env.local()).unwrap(), Val::Int(21));
    });
}

/// A callee gets a `Local` of the caller's cursor and cannot move it; the caller can.
#[test]
fn a_local_is_read_only_and_a_local_mut_is_not() {
    fn length(mu: &mut Mutator, list: Local<'_, Option<Node>>) -> usize {
        root!(mu, mut cursor = list.get(mu));
        let mut length = 0;
        while let Some(node) = cursor.get(mu) {
            length += 1;
            let next = node.next.load(mu);
            cursor.set(mu, next);
        }
        length
    }
    fn push(mu: &mut Mutator, list: &mut LocalMut<'_, Option<Node>>, key: u64) -> Res<()> {
        let node = alloc!(mu, NewNode { next: list.get(mu), seen: None, key })?;
        list.set(mu, Some(node));
        Ok(())
    }
    with_heap(|mu| {
        root!(mu, mut list = None);
        push(mu, &mut list, 1).unwrap();
        push(mu, &mut list, 2).unwrap();
        assert_eq!(length(mu, list.local()), 2);
        assert_eq!(length(mu, list.local()), 2);
    });
}

#[test]
fn pointers_to_arrays_are_slices() {
    fn last<'g>(mu: &'g Mutator, array: Gc<'g, Array<Option<Node>>>) -> Option<Gc<'g, Node>> {
        array.last()?.load(mu)
    }
    with_heap(|mu| {
        let one = alloc!(mu, node(9)).unwrap();
        let array = alloc!(mu, NewArray::new(3, Some(one))).unwrap();
        assert_eq!(last(mu, array).unwrap().key, 9);
        assert_eq!(array.len(), 3);
        assert_eq!(format!("{array:?}"), "Gc<Array>[3]");
        assert_eq!(format!("{:?}", array.at(0).load(mu)), "Some(Gc<Node>)");
        let empty = alloc!(mu, NewArray::<Value>::new(0, Val::Nil)).unwrap();
        assert!(empty.is_empty());
    });
}

#[test]
fn the_same_beside_the_concurrent_collector() {
    again_beside_cycles("the_same_beside_the_concurrent_collector");
}
