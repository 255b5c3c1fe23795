//! What the derives share: attributes, generics, and replacing names in tokens.

use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Attribute, GenericParam, Generics, Path, Type};

/// The path of the library: `::allotment`, or what `#[attribute(crate = path)]` says.
pub(crate) struct Library(TokenStream);

impl Library {
    pub(crate) fn standard() -> Library {
        Library(quote!(::allotment))
    }

    pub(crate) fn at(path: &Path) -> Library {
        Library(path.to_token_stream())
    }
}

impl ToTokens for Library {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.0.to_tokens(tokens);
    }
}

/// The documentation among the attributes.
pub(crate) fn docs(attributes: &[Attribute]) -> TokenStream {
    attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("doc"))
        .map(ToTokens::to_token_stream)
        .collect()
}

/// Parameters as an `impl` declares them, each with a comma behind it; without defaults.
pub(crate) fn declarations(generics: &Generics) -> TokenStream {
    let parameters = generics.params.iter().cloned().map(|mut parameter| {
        match &mut parameter {
            GenericParam::Type(parameter) => parameter.default = None,
            GenericParam::Const(parameter) => parameter.default = None,
            GenericParam::Lifetime(_) => {}
        }
        parameter
    });
    quote!(#(#parameters,)*)
}

/// Parameters as a type is applied to them, each with a comma behind it.
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

/// The name of the last segment of a path: what a type is called where it is used.
pub(crate) fn called(r#type: &Type) -> Option<String> {
    match r#type {
        Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
        Type::Group(group) => called(&group.elem),
        Type::Paren(paren) => called(&paren.elem),
        _ => None,
    }
}

/// The same tokens with each identifier replaced for which `replace` has something. A lifetime is an
/// apostrophe and an identifier, which is passed with it.
pub(crate) fn replace(
    tokens: TokenStream,
    replace_one: &dyn Fn(&Ident, bool) -> Option<TokenStream>,
) -> TokenStream {
    let mut replaced = TokenStream::new();
    let mut apostrophe = false;
    for token in tokens {
        match &token {
            TokenTree::Group(group) => {
                let mut inside = Group::new(group.delimiter(), replace(group.stream(), replace_one));
                inside.set_span(group.span());
                replaced.extend([TokenTree::Group(inside)]);
            }
            TokenTree::Ident(name) => match replace_one(name, apostrophe) {
                Some(other) => replaced.extend(other),
                None => replaced.extend([token.clone()]),
            },
            _ => replaced.extend([token.clone()]),
        }
        apostrophe = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '\'');
    }
    replaced
}

/// Whether any of the names occurs in the tokens, other than as a lifetime.
pub(crate) fn mentions(tokens: TokenStream, names: &[Ident]) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(group) => mentions(group.stream(), names),
        TokenTree::Ident(name) => names.contains(&name),
        _ => false,
    })
}
