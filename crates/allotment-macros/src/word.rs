//! `#[derive(Word)]`.
//!
//! The derive distinguishes pointers from immediates by the name of their type, `Gc` or `Option`.
//! The library refuses a type that is not what its name says.

use crate::parts::{called, library};
use proc_macro2::{Literal, TokenStream};
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, GenericParam, Result};

/// Immediates have a number of 7 bits. No variant has the last number, which stands for `None`.
const MAX_IMMEDIATES: usize = (1 << 7) - 1;

/// Pointers have a number of 18 bits.
const MAX_POINTERS: usize = 1 << 18;

pub(crate) fn derive(input: DeriveInput) -> Result<TokenStream> {
    let mut word = None;
    let library = library(&input, "word", |meta| {
        word = Some(meta.path.require_ident()?.clone());
        Ok(())
    })?;
    let word = word
        .ok_or_else(|| Error::new_spanned(&input.ident, "name the word that slots hold: `#[word(Value)]`"))?;
    let DeriveInput { vis, ident: name, generics, data, .. } = &input;
    let Data::Enum(data) = data else {
        return Err(Error::new_spanned(
            name,
            "a word is an enum; a struct that holds bare values derives `Carry`",
        ));
    };
    let one_span = "the only parameter of a word is the span's lifetime: `enum Val<'g>`";
    let r#type = match generics.params.iter().collect::<Vec<_>>()[..] {
        [] => quote!(#name),
        [GenericParam::Lifetime(_)] => quote!(#name<'__al>),
        _ => return Err(Error::new_spanned(generics, one_span)),
    };

    let (mut units, mut immediates, mut pointers) = (Vec::new(), Vec::new(), Vec::new());
    for variant in &data.variants {
        let ident = &variant.ident;
        let next = units.len() + immediates.len();
        let number = |number: usize| Literal::u64_unsuffixed(number as u64);
        match &variant.fields {
            Fields::Unit => {
                let number = number(next);
                units.push(quote!({ #ident #number }));
            }
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                if matches!(called(&fields.unnamed[0].ty).as_deref(), Some("Gc" | "Option")) {
                    let number = number(pointers.len());
                    pointers.push(quote!({ #ident #number }));
                } else {
                    let number = number(next);
                    immediates.push(quote!({ #ident #number }));
                }
            }
            fields => {
                return Err(Error::new_spanned(
                    fields,
                    "a variant of a word holds nothing, `Name`, or one value, `Name(i32)`, `Name(Gc<'g, Pair>)`",
                ));
            }
        }
    }
    if units.len() + immediates.len() > MAX_IMMEDIATES || pointers.len() > MAX_POINTERS {
        return Err(Error::new_spanned(name, format!("at most {MAX_IMMEDIATES} variants are immediates")));
    }
    if data.variants.is_empty() {
        return Err(Error::new_spanned(name, "a word needs at least one variant"));
    }
    let count = Literal::u64_unsuffixed(pointers.len() as u64);
    let about = format!("The word of a [`{name}`]: what a slot or a root of one holds.");
    Ok(quote! {
        #library::__word! {
            docs [#about]
            word #vis enum #word
            bare #name at '__al [#r#type]
            units [#(#units)*]
            immediates [#(#immediates)*]
            pointers #count [#(#pointers)*]
        }
    })
}
