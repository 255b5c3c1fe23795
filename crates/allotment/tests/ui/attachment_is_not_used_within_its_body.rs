// E0500
#![forbid(unsafe_code)]
use allotment::*;

fn f(attachment: &mut Attachment) {
    attachment.with(|_outer| attachment.with(|_inner| ()));
}
