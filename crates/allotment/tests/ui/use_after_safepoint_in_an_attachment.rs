// E0502
#![forbid(unsafe_code)]
use allotment::*;

fn f(attachment: &mut Attachment) {
    attachment.with(|mu| {
        let text = alloc!(mu, NewStr::from("text")).unwrap();
        mu.collect();
        println!("{text}");
    });
}
