//! What can be wrong with the columns of a projection or a predicate.

use std::fmt;

use crate::events::schema::Column;

/// A column that cannot be asked for in this way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnError {
    /// The schema has no column of this name.
    Unknown(String),
    /// The column is in the projection already.
    Repeated(Column),
    /// A number is compared with a column of texts.
    HoldsText(Column),
    /// A text is compared with a column of numbers.
    HoldsNumbers(Column),
}

impl fmt::Display for ColumnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name) => write!(f, "'{name}' is not a column of the event schema"),
            Self::Repeated(column) => write!(f, "the column '{}' is named twice", column.name()),
            Self::HoldsText(column) => write!(f, "'{}' holds text", column.name()),
            Self::HoldsNumbers(column) => write!(f, "'{}' holds numbers", column.name()),
        }
    }
}

impl std::error::Error for ColumnError {}
