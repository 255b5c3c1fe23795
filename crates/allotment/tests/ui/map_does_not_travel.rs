// E0277
// says: cannot be shared between threads safely
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &mut Mutator, l: Local<'_, Map<Str, Str>>) {
    let inside: &Map<Str, Str> = l.get(mu).as_ref();
    std::thread::scope(|scope| {
        scope.spawn(|| inside.len());
    });
}
