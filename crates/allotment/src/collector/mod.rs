//! Collectors: choreographies over the layers below, one file each.

mod epsilon;

pub(crate) use epsilon::Epsilon;
