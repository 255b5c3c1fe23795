// E0277
// says: is not a type that `Gc<Any>` can be asked for
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &mut Mutator, any: Local<'_, Any>) -> bool {
    any.get(mu).is::<IdMap<Str, Str>>()
}
