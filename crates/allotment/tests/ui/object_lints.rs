// compiles: no lint of the user is met

#![deny(warnings, missing_docs, unused, dead_code, unreachable_pub)]
//! Documented.
/// A pair.
#[derive(allotment::Object)]
pub struct Pair {
    /// One.
    pub car: allotment::Field<Value>,
    /// Other.
    pub cdr: allotment::Field<Value>,
}
/// A value.
#[derive(Clone, Copy, allotment::Word)]
#[word(Value)]
pub enum Val<'g> {
    /// Nothing.
    Nil,
    /// A pair.
    Pair(allotment::Gc<'g, Pair>),
}
/// Allocates.
pub fn f(mu: &mut allotment::Mutator<'_>) -> Result<u64, allotment::OutOfMemory> {
    let mut a = allotment::alloc!(mu, NewPair { car: Val::Nil, cdr: Val::Nil })?;
    let b = allotment::alloc!(mu, [a] => NewPair { car: Val::Pair(a), cdr: Val::Nil })?;
    allotment::root!(mu, b = b);
    allotment::keep!(mu, [a] => mu.safepoint());
    let _ = allotment::rebind!(mu, a);
    let _ = b.get(mu);
    Ok(0)
}
