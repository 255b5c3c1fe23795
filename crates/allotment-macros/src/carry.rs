//! `#[derive(Carry)]`.

use crate::parts::{Library, arguments, declarations, replace};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Data, DeriveInput, Error, Index, Member, Result};

fn library(input: &DeriveInput) -> Result<Library> {
    let mut library = Library::standard();
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("carry")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("crate") {
                return Err(meta.error("`crate = path` is known"));
            }
            library = Library::at(&meta.value()?.parse()?);
            Ok(())
        })?;
    }
    Ok(library)
}

pub(crate) fn derive(input: DeriveInput) -> Result<TokenStream> {
    let library = library(&input)?;
    let DeriveInput { ident: name, generics, data, .. } = &input;
    let Data::Struct(data) = data else {
        return Err(Error::new_spanned(
            name,
            "a struct can be carried; for an enum of pointers and immediates derive `Word`",
        ));
    };
    let Some(span) = generics.lifetimes().next().map(|parameter| parameter.lifetime.ident.clone()) else {
        return Err(Error::new_spanned(
            name,
            "it has no span to be replaced: what holds no bare value needs no live list",
        ));
    };
    // `replace` is handed the identifier behind the apostrophe.
    let other_span = |tokens: TokenStream| {
        replace(tokens, &|ident, lifetime| {
            (lifetime && *ident == span).then(|| Ident::new("__al_at", Span::call_site()).into_token_stream())
        })
    };
    let applied = arguments(generics);
    let declared = declarations(generics);
    let bounds = &generics.where_clause;
    let own_type = quote!(#name<#applied>);
    let at_type = other_span(own_type.clone());
    let fields = data.fields.iter().enumerate().map(|(index, field)| {
        let member = match &field.ident {
            Some(name) => Member::Named(name.clone()),
            None => Member::Unnamed(Index::from(index)),
        };
        let own = replace(field.ty.to_token_stream(), &|ident, lifetime| {
            (!lifetime && ident == "Self").then(|| own_type.clone())
        });
        quote!({ #member [#own] })
    });
    Ok(quote! {
        #library::__carry! {
            carry #name [#own_type]
            generics [#declared]
            at '__al_at [#at_type]
            bounds [#bounds]
            fields [#(#fields)*]
        }
    })
}
