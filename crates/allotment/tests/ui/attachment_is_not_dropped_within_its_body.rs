// E0505
#![forbid(unsafe_code)]
use allotment::*;

fn f(mut attachment: Attachment) {
    attachment.with(|_mu| drop(attachment));
}
