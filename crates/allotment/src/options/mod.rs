//! The option table.
