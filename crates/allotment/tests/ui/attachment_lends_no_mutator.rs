// lifetime
#![forbid(unsafe_code)]
use allotment::*;

fn f(attachment: &'static mut Attachment) -> &'static mut Mutator<'static> {
    attachment.with(|mu| mu)
}
