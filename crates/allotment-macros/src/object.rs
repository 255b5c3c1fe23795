//! `#[derive(Object)]`.
//!
//! The derive distinguishes slots from plain data by the name of their type, `Field` or
//! `WeakField`. It takes a slot under another name for plain data; the library refuses that,
//! because a slot is not `Send`. The library also refuses another type under one of these names,
//! because it is not a slot.

use crate::parts::{arguments, called, docs, library, mentions, predicates, without_self};
use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Error, Fields, GenericParam, Meta, Result, Token};

pub(crate) fn derive(input: DeriveInput) -> Result<TokenStream> {
    let mut new = format_ident!("New{}", input.ident);
    let library = library(&input, "object", |meta| {
        if !meta.path.is_ident("new") {
            return Err(meta.error("`new = Name` and `crate = path` are known"));
        }
        new = meta.value()?.parse()?;
        Ok(())
    })?;
    let DeriveInput { vis, ident: object, generics, data, .. } = &input;
    let Data::Struct(data) = data else {
        return Err(Error::new_spanned(
            object,
            "an object of the heap is a struct; for an enum of pointers and immediates derive `Word`",
        ));
    };
    if let Fields::Unnamed(fields) = &data.fields {
        return Err(Error::new_spanned(fields, "name the fields: the initialiser is made of their names"));
    }
    let mut parameters = Vec::new();
    for parameter in &generics.params {
        match parameter {
            GenericParam::Type(parameter) => parameters.push(parameter.ident.clone()),
            GenericParam::Lifetime(parameter) => {
                return Err(Error::new_spanned(
                    parameter,
                    "an object outlives every borrow: a reference to another object is a `Field<T>`",
                ));
            }
            GenericParam::Const(parameter) => {
                return Err(Error::new_spanned(
                    parameter,
                    "all instances of a generic object have one layout: a variable length is an `Array` or `Slots`",
                ));
            }
        }
    }

    let applied = arguments(generics);
    let object_type = if parameters.is_empty() { quote!(#object) } else { quote!(#object<#applied>) };
    let mut slots = 0;
    let mut parts = Vec::new();
    for field in &data.fields {
        let (name, vis, docs) = (&field.ident, &field.vis, docs(&field.attrs));
        let r#type = without_self(field.ty.to_token_stream(), &object_type);
        let part = match called(&field.ty).as_deref() {
            Some(slot @ ("Field" | "WeakField")) => {
                slots += 1;
                let kind = if slot == "Field" { quote!(Strong) } else { quote!(Weak) };
                quote!(slot #kind #r#type,)
            }
            _ if mentions(r#type.clone(), &parameters) => {
                return Err(Error::new(
                    field.ty.span(),
                    "a type parameter may be used inside `Field<..>` and `WeakField<..>` only: all instances of a \
                     generic object have one layout",
                ));
            }
            plain => {
                let hint = never_dropped(plain);
                quote!(plain #r#type, #hint)
            }
        };
        parts.push(quote!({ #docs #vis #name #part }));
    }

    let predicates = without_self(predicates(generics)?, &object_type);
    let own = if slots == 0 { quote!() } else { quote!('__al) };
    let (downcast, layout) = if parameters.is_empty() {
        (quote!(#object), quote!(own []))
    } else {
        (quote!(), stand_in(&input.attrs)?)
    };
    let about = format!("Makes a [`{object}`]: an initialiser for `alloc!`.");
    Ok(quote! {
        #library::__object! {
            docs [#about]
            object #vis struct #object
            params [#(#parameters)*]
            predicates [#predicates]
            new #new
            span '__al at '__al_at [#own]
            downcast [#downcast]
            layout #layout
            fields [#(#parts)*]
        }
    })
}

/// The layout of a generic object is that of a stand-in with the same representation.
fn stand_in(attributes: &[Attribute]) -> Result<TokenStream> {
    let mut representations = Punctuated::<Meta, Token![,]>::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("repr")) {
        representations.extend(attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)?);
    }
    Ok(quote!(stand_in [#representations]))
}

/// The message for a plain field with drop glue, by the name of its type.
fn never_dropped(name: Option<&str>) -> String {
    let instead = match name {
        Some("String") => "text of the heap is `Field<Str>`, made by `NewStr`",
        Some("Vec" | "VecDeque") => {
            "an array of references is `Field<Array<W>>`, one of numbers `Field<Slots<u64>>`, one that grows `Field<List<W>>`"
        }
        Some("Box" | "Rc" | "Arc") => "a reference to another object is `Field<T>`",
        Some("HashMap" | "BTreeMap") => "a map of the heap is `Field<Map<K, V>>`",
        _ => "no field may have drop glue, as `String`, `Vec`, `Box` and types with `Drop` have",
    };
    format!("an object of the heap is never dropped: {instead}")
}
