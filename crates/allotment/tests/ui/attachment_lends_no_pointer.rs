// lifetime
#![forbid(unsafe_code)]
use allotment::*;

fn f(attachment: &mut Attachment) {
    let text = attachment.with(|mu| alloc!(mu, NewStr::from("text")).unwrap());
    println!("{text}");
}
