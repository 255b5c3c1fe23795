//! `#[derive(Object)]`.
//!
//! Slots are told from plain data by the name of their type, `Field` or `WeakField`. A slot under another name is
//! taken for plain data, and refused by the library because it is not `Send`; something else of that name is
//! refused because it is no slot.

use crate::parts::{Library, arguments, called, declarations, docs, mentions, replace};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Fields, GenericParam, Result, Type};

struct Options {
    library: Library,
    new: Ident,
}

fn options(input: &DeriveInput) -> Result<Options> {
    let mut options = Options { library: Library::standard(), new: format_ident!("New{}", input.ident) };
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("object")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("crate") {
                options.library = Library::at(&meta.value()?.parse()?);
            } else if meta.path.is_ident("new") {
                options.new = meta.value()?.parse()?;
            } else {
                return Err(meta.error("`new = Name` and `crate = path` are known"));
            }
            Ok(())
        })?;
    }
    Ok(options)
}

pub(crate) fn derive(input: DeriveInput) -> Result<TokenStream> {
    let Options { library, new } = options(&input)?;
    let DeriveInput { vis, ident: object, generics, data, .. } = &input;
    let fields = match data {
        Data::Struct(data) => &data.fields,
        _ => {
            return Err(Error::new_spanned(
                object,
                "an object of the heap is a struct; for an enum of pointers and immediates derive `Word`",
            ));
        }
    };
    if let Fields::Unnamed(fields) = fields {
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
    let own_type = |r#type: &Type| {
        replace(r#type.to_token_stream(), &|name, lifetime| {
            (!lifetime && name == "Self").then(|| object_type.clone())
        })
    };
    let (mut slots, mut plain) = (Vec::new(), Vec::new());
    for field in fields {
        let (name, vis, docs, r#type) = (&field.ident, &field.vis, docs(&field.attrs), own_type(&field.ty));
        let stand_in = match called(&field.ty).as_deref() {
            Some("Field") => quote!(#library::rt::StrongSlot),
            Some("WeakField") => quote!(#library::rt::WeakSlot),
            _ => {
                if mentions(r#type.clone(), &parameters) {
                    return Err(Error::new(
                        field.ty.span(),
                        "a type parameter may be used inside `Field<..>` and `WeakField<..>` only: all instances of a \
                         generic object have one layout",
                    ));
                }
                plain.push(quote!({ [#docs] [#vis] #name [#r#type] }));
                continue;
            }
        };
        let layout = if parameters.is_empty() { r#type.clone() } else { stand_in };
        slots.push(quote!({ [#docs] [#vis] #name [#r#type] [#layout] }));
    }

    let declared = declarations(generics);
    let bounds = &generics.where_clause;
    let (span, at) =
        if slots.is_empty() { (quote!(), quote!()) } else { (quote!('__al,), quote!('__al_at,)) };
    let (layout, downcast) = if parameters.is_empty() {
        (format_ident!("__AlSelf"), quote!(yes))
    } else {
        (format_ident!("__AlLayout"), quote!())
    };
    let about = format!("Makes a [`{object}`]: an initialiser for `alloc!`.");
    Ok(quote! {
        #library::__object! {
            docs [#about]
            object [#vis] #object [#object_type]
            generics [#declared]
            new #new [#new<#span #applied>]
            new_generics [#span #declared]
            span '__al
            at '__al_at [#new<#at #applied>]
            bounds [#bounds]
            layout #layout
            slots [#(#slots)*]
            plain [#(#plain)*]
            downcast [#downcast]
        }
    })
}
