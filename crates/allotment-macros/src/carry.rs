//! `#[derive(Carry)]`.

use crate::parts::{arguments, library, predicates, without_self};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Data, DeriveInput, Error, GenericParam, Index, Member, Result};

pub(crate) fn derive(input: DeriveInput) -> Result<TokenStream> {
    let library = library(&input, "carry", |meta| Err(meta.error("`crate = path` is known")))?;
    let DeriveInput { ident: name, generics, data, .. } = &input;
    let Data::Struct(data) = data else {
        return Err(Error::new_spanned(
            name,
            "a struct can be carried; for an enum of pointers and immediates derive `Word`",
        ));
    };
    let Some(span) = generics.lifetimes().next().map(|parameter| &parameter.lifetime) else {
        return Err(Error::new_spanned(
            name,
            "it has no lifetime of a span: a struct without bare values needs no live list",
        ));
    };
    let lifetimes = generics.lifetimes().skip(1).map(|parameter| &parameter.lifetime);
    let parameters = generics.params.iter().filter_map(|parameter| match parameter {
        GenericParam::Lifetime(_) => None,
        GenericParam::Type(parameter) => {
            let name = &parameter.ident;
            Some(quote!(type #name;))
        }
        GenericParam::Const(parameter) => {
            let (name, r#type) = (&parameter.ident, &parameter.ty);
            Some(quote!(const #name #r#type;))
        }
    });
    let applied = arguments(generics);
    let own_type = quote!(#name<#applied>);
    let predicates = without_self(predicates(generics)?, &own_type);
    let fields = data.fields.iter().enumerate().map(|(index, field)| {
        let member = match &field.ident {
            Some(name) => Member::Named(name.clone()),
            None => Member::Unnamed(Index::from(index)),
        };
        let own = without_self(field.ty.to_token_stream(), &own_type);
        quote!({ #member [#own] })
    });
    Ok(quote! {
        #library::__carry! {
            carry #name
            span #span at '__al_at
            lifetimes [#(#lifetimes)*]
            params [#(#parameters)*]
            predicates [#predicates]
            fields [#(#fields)*]
        }
    })
}
