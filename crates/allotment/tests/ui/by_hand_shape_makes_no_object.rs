// E0133 (a shape of the user is data: an object of it takes `unsafe`)
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn shape() -> &'static raw::TypeShape {
    type_shape!(raw::Shape::constant("Forged", 32, &[], None))
}
fn f(mu: &mut Mutator) {
    let header = shape().header();
    let site: raw::Site<32> = todo!();
    mu.raw().try_alloc_raw(site);
}
