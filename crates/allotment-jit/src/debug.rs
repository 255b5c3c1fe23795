//! `Debug` of an error prints the same text as `Display`.
//!
//! `main() -> Result<(), Box<dyn Error>>`, `unwrap` and `expect` show an error by `Debug`. So a
//! user reads there what was wrong and what would be right.
//!
//! Refused: the derived `Debug`. It shows fields and variants, which describe the code.

/// Implements `Debug` by `Display` for the error types.
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
