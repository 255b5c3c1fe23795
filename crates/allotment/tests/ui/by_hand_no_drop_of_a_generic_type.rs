// E0283 (the basis of the derives, without the implementation that has the better message)
// says: HasNoDrop
#![forbid(unsafe_code)]

struct Holder<T: Copy>(T);
impl<T: Copy> Drop for Holder<T> {
    fn drop(&mut self) {}
}
fn f<T: Copy>() {
    allotment::rt::no_drop::<Holder<T>, _>();
}
