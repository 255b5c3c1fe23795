// E0502
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &mut Mutator, text: Local<'_, Str>) -> bool {
    let maybe = Maybe(Some(text.get(mu)));
    mu.safepoint();
    maybe.0.is_some_and(|text| text.is_empty())
}
