// E0277
#![forbid(unsafe_code)]
use allotment::*;

fn f(attachment: Attachment) {
    std::thread::spawn(move || drop(attachment));
}
