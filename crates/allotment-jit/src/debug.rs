//! `Debug` of an error is what `Display` says.
//!
//! `main() -> Result<(), Box<dyn Error>>`, `unwrap` and `expect` show an error by `Debug`, and there a user should read what
//! was wrong and what would be right. Refused: the derived `Debug` (fields and variants, which tell of the code).

/// Makes it so for errors that implement `Display`.
macro_rules! debug_is_display {
    ($($error:ty),+) => {
        $(impl std::fmt::Debug for $error {
            fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, to)
            }
        })+
    };
}
pub(crate) use debug_is_display;
