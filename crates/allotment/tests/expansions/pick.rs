//! A procedural macro whose expansions differ: the n-th is the second choice if the n-th bit of the
//! environment's `PICKS` is set. It says on the standard error stream how often it is asked.

extern crate proc_macro;
use proc_macro::{TokenStream, TokenTree};
use std::sync::atomic::{AtomicU32, Ordering};

static ASKED: AtomicU32 = AtomicU32::new(0);

/// `pick!(one ; other)`.
#[proc_macro]
pub fn pick(choices: TokenStream) -> TokenStream {
    let picks: u64 = std::env::var("PICKS").unwrap().parse().unwrap();
    let second = picks >> ASKED.fetch_add(1, Ordering::Relaxed) & 1 == 1;
    eprintln!("picked {second}");
    let (mut one, mut other, mut behind) = (TokenStream::new(), TokenStream::new(), false);
    for token in choices {
        match &token {
            TokenTree::Punct(punct) if punct.as_char() == ';' => behind = true,
            _ if behind => other.extend([token]),
            _ => one.extend([token]),
        }
    }
    if second { other } else { one }
}
