// E0277
#![forbid(unsafe_code)]
use allotment::*;

fn is_sync<T: Sync>() {}

fn f() {
    is_sync::<Attachment>();
}
