// macro (`.await` runs a future of the user)
// says: `.await` is not a field
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

use std::pin::Pin;
use std::task::{Context, Poll};

struct Vm<'m, 't> {
    mu: Option<&'m mut Mutator<'t>>,
}
impl<'m, 't> Future for Vm<'m, 't> {
    type Output = &'m mut Mutator<'t>;
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        let mu = self.mu.take().unwrap();
        mu.collect();
        Poll::Ready(mu)
    }
}
fn g(a: Local<'_, Node>) -> u64 {
    0
}
async fn f(holder: &mut Vm<'_, '_>, mut a: Gc<'_, Node>) -> u64 {
    keep!(holder.await, [a] => ());
    a.key
}
