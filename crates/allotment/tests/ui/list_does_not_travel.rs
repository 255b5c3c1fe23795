// E0277
// says: cannot be shared between threads safely
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &mut Mutator, l: Local<'_, List<Str>>) {
    let inside: &List<Str> = l.get(mu).as_ref();
    std::thread::scope(|scope| {
        scope.spawn(|| inside.len());
    });
}
