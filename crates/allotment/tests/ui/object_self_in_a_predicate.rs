// compiles: `Self` in a `where` clause is the type itself, as in a field
#![forbid(unsafe_code)]
use allotment::*;

pub trait Named {}
impl Named for Node {}
impl<W: Word> Named for Cell<W> {}

#[derive(Object)]
pub struct Node
where
    Self: Sized + Named,
{
    pub next: Field<Option<Self>>,
}
#[derive(Object)]
pub struct Cell<W: Word>
where
    Self: Named,
    Option<Self>: Sized,
{
    pub value: Field<W>,
}

#[derive(Carry)]
pub struct Both<'g>
where
    Self: Sized,
    [Self; 2]: Sized,
{
    a: Gc<'g, Node>,
    b: u64,
}
