// compiles: an object without a field is plain data
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

#[derive(Object)]
pub struct Point {
    pub x: f64,
    pub seen: Plain<u64>,
}
fn f(mu: &Mutator, p: Local<'_, Point>) -> f64 {
    let p: &Point = p.get(mu).as_ref();
    std::thread::scope(|s| s.spawn(|| p.x + p.seen.get() as f64).join().unwrap())
}
