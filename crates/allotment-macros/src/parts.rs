//! The common parts of the derives: attributes, generics, and the replacement of names in tokens.

use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::meta::ParseNestedMeta;
use syn::punctuated::Punctuated;
use syn::{
    Attribute, BoundLifetimes, DeriveInput, Error, GenericParam, Generics, Lifetime, Meta, Path, Result,
    Token, Type, TypeParamBound, WherePredicate,
};

/// The path of the library, `::allotment` or that of `#[attribute(crate = path)]`. All else in
/// these attributes goes to `other`.
pub(crate) fn library(
    input: &DeriveInput,
    attribute: &str,
    mut other: impl FnMut(ParseNestedMeta<'_>) -> Result<()>,
) -> Result<TokenStream> {
    let mut library = quote!(::allotment);
    for attribute in input.attrs.iter().filter(|found| found.path().is_ident(attribute)) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("crate") {
                return other(meta);
            }
            library = meta.value()?.parse::<Path>()?.to_token_stream();
            Ok(())
        })?;
    }
    Ok(library)
}

/// The documentation among the attributes, in the form of the library's macros: `[words] [texts]`,
/// from `#[doc(hidden)]` and `#[doc = "text"]`.
pub(crate) fn docs(attributes: &[Attribute]) -> TokenStream {
    let (mut words, mut texts) = (Vec::new(), Vec::new());
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("doc")) {
        match &attribute.meta {
            Meta::NameValue(text) => texts.push(text.value.to_token_stream()),
            Meta::List(list) => words.extend(list.parse_args::<Ident>()),
            Meta::Path(_) => {}
        }
    }
    quote!([#(#words)*] [#(#texts),*])
}

/// The demands of parameters and of the `where` clause, in the form of the library's macros: one
/// bound each.
pub(crate) fn predicates(generics: &Generics) -> Result<TokenStream> {
    let mut predicates = TokenStream::new();
    for parameter in &generics.params {
        match parameter {
            GenericParam::Type(parameter) => {
                predicates.extend(bounds(&[], &parameter.ident, &parameter.bounds)?);
            }
            GenericParam::Lifetime(parameter) => {
                let (lifetime, bounds) = (&parameter.lifetime, parameter.bounds.iter());
                predicates.extend(quote!(#({ lifetime #lifetime: outlives #bounds })*));
            }
            GenericParam::Const(_) => {}
        }
    }
    let clause = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    for predicate in clause {
        match predicate {
            WherePredicate::Type(predicate) => {
                let lifetimes = lifetimes(&predicate.lifetimes)?;
                predicates.extend(bounds(&lifetimes, &predicate.bounded_ty, &predicate.bounds)?);
            }
            WherePredicate::Lifetime(predicate) => {
                let (lifetime, bounds) = (&predicate.lifetime, predicate.bounds.iter());
                predicates.extend(quote!(#({ lifetime #lifetime: outlives #bounds })*));
            }
            other => {
                return Err(Error::new_spanned(other, "the derive does not know this kind of predicate"));
            }
        }
    }
    Ok(predicates)
}

fn lifetimes(bound: &Option<BoundLifetimes>) -> Result<Vec<Lifetime>> {
    let parameters = bound.iter().flat_map(|bound| &bound.lifetimes);
    parameters
        .map(|parameter| match parameter {
            GenericParam::Lifetime(parameter) if parameter.bounds.is_empty() => {
                Ok(parameter.lifetime.clone())
            }
            other => Err(Error::new_spanned(other, "`for<..>` declares lifetimes, without bounds")),
        })
        .collect()
}

/// `T: A + for<'x> B<'x> + 'static` as one predicate for each bound.
fn bounds(
    outer: &[Lifetime],
    bounded: &dyn ToTokens,
    bounds: &Punctuated<TypeParamBound, Token![+]>,
) -> Result<TokenStream> {
    let mut predicates = TokenStream::new();
    for bound in bounds {
        let (inner, bound) = match bound {
            TypeParamBound::Lifetime(lifetime) => (Vec::new(), quote!(outlives #lifetime)),
            TypeParamBound::Trait(bound) => {
                let path = &bound.path;
                bound.modifiers.require_empty()?;
                let word = if bound.maybe.is_some() { quote!(maybe) } else { quote!(is) };
                (lifetimes(&bound.lifetimes)?, quote!(#word #path,))
            }
            other => return Err(Error::new_spanned(other, "the derive does not know this kind of bound")),
        };
        predicates.extend(quote!({ type [#(#outer)* #(#inner)*] #bounded: #bound }));
    }
    Ok(predicates)
}

/// The name of each parameter of a type, followed by a comma, as arguments of the type.
pub(crate) fn arguments(generics: &Generics) -> TokenStream {
    generics
        .params
        .iter()
        .map(|parameter| match parameter {
            GenericParam::Type(parameter) => parameter.ident.to_token_stream(),
            GenericParam::Const(parameter) => parameter.ident.to_token_stream(),
            GenericParam::Lifetime(parameter) => parameter.lifetime.to_token_stream(),
        })
        .map(|argument| quote!(#argument,))
        .collect()
}

/// The name of the last segment of a path: the name of a type at its use.
pub(crate) fn called(r#type: &Type) -> Option<String> {
    match r#type {
        Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
        Type::Group(group) => called(&group.elem),
        Type::Paren(paren) => called(&paren.elem),
        _ => None,
    }
}

/// The tokens with `own` in place of `Self`.
pub(crate) fn without_self(tokens: TokenStream, own: &TokenStream) -> TokenStream {
    let replaced = tokens.into_iter().map(|token| match token {
        TokenTree::Group(group) => {
            let mut inside = Group::new(group.delimiter(), without_self(group.stream(), own));
            inside.set_span(group.span());
            TokenTree::Group(inside).into()
        }
        TokenTree::Ident(name) if name == "Self" => own.clone(),
        other => other.into(),
    });
    replaced.collect()
}

/// Whether any of the names occurs in the tokens.
pub(crate) fn mentions(tokens: TokenStream, names: &[Ident]) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(group) => mentions(group.stream(), names),
        TokenTree::Ident(name) => names.contains(&name),
        _ => false,
    })
}
