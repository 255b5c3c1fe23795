// compiles: a type with drop glue may be carried if it does not implement `Drop` itself
#![forbid(unsafe_code)]

struct Holder<T>(T, String);
fn f<T: Copy>() {
    allotment::rt::no_drop::<Holder<T>, _>();
    allotment::rt::no_drop::<Holder<Vec<T>>, _>();
}
