// E0277
// says: does not fit in a word
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &mut Mutator, text: Local<'_, Str>) {
    root!(mu, hidden = Unboxed(text.get(mu)));
}
