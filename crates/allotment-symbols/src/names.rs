//! Names of functions in readable form.
//!
//! Rust's names lose their hashes. C++'s names lose their parameters, as in the tables of
//! `go tool pprof`: a row of a table has room for a name, and lines distinguish overloads.

use std::fmt::Write as _;

/// The readable form of a function's name; the name itself if it is not mangled.
///
/// ```
/// use allotment_symbols::readable;
///
/// assert_eq!(readable("_ZN4lisp7machine7execute17h0123456789abcdefE"), "lisp::machine::execute");
/// assert_eq!(readable("_ZNSt6vectorIiSaIiEE9push_backERKi"), "std::vector<int, std::allocator<int> >::push_back");
/// assert_eq!(readable("main"), "main");
/// ```
#[must_use]
pub fn readable(name: &str) -> String {
    if let Ok(rust) = rustc_demangle::try_demangle(name) {
        let mut text = String::new();
        // The alternate form has no hashes. A name that is too long to write stays as it is.
        if write!(text, "{rust:#}").is_ok() {
            return text;
        }
    }
    if name.starts_with("_Z") {
        let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type();
        let symbol = cpp_demangle::Symbol::new(name).ok();
        if let Some(text) = symbol.and_then(|symbol| symbol.demangle_with_options(&options).ok()) {
            return text;
        }
    }
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn names_of_both_of_rusts_forms_and_of_cpp_are_readable() {
        for (name, told) in [
            ("_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar"),
            ("_ZN3std2rt10lang_start17h0123456789abcdefE.llvm.123", "std::rt::lang_start"),
            ("_ZN5store3Map6insertEPKcm", "store::Map::insert"),
            ("_ZN12_GLOBAL__N_14workEv", "(anonymous namespace)::work"),
            ("_Znonsense", "_Znonsense"),
            ("_R", "_R"),
            ("", ""),
        ] {
            assert_eq!(readable(name), told);
        }
    }
}
