//! The columns of a batch.

use std::sync::Arc;

use arrow_schema::{DataType, Schema, SchemaRef};

use crate::batch::error::ColumnError;
use crate::events::schema::{COLUMNS, Column as C, schema, with_plain_words};

/// Columns of a batch and their order.
#[derive(Debug, Clone)]
pub struct Projection {
    pub(crate) columns: Vec<C>,
    schema: SchemaRef,
    pub(crate) plain_words: bool,
}

impl Default for Projection {
    fn default() -> Self {
        let columns = COLUMNS.iter().map(|&(column, ..)| column).collect();
        Self { columns, schema: schema(), plain_words: false }
    }
}

impl Projection {
    /// The columns of these names, in this order.
    ///
    /// # Errors
    /// A name is not that of a column, or is given twice.
    ///
    /// # Examples
    /// ```
    /// use tracefast_core::batch::Projection;
    ///
    /// let projection = Projection::from_names(&["path", "name"])?;
    /// assert_eq!(projection.schema().field(0).name(), "path");
    /// let error = Projection::from_names(&["name", "name"]).unwrap_err();
    /// assert_eq!(error.to_string(), "the column 'name' is named twice");
    /// # Ok::<(), tracefast_core::batch::ColumnError>(())
    /// ```
    pub fn from_names<T: AsRef<str>>(names: &[T]) -> Result<Self, ColumnError> {
        let all = schema();
        let mut columns = Vec::with_capacity(names.len());
        for name in names.iter().map(AsRef::as_ref) {
            let found = COLUMNS.iter().find(|&&(_, known, _)| known == name);
            let Some(&(column, ..)) = found else {
                return Err(ColumnError::Unknown(name.to_owned()));
            };
            if columns.contains(&column) {
                return Err(ColumnError::Repeated(column));
            }
            columns.push(column);
        }
        let fields: Vec<_> =
            columns.iter().map(|&column| Arc::clone(&all.fields()[column as usize])).collect();
        Ok(Self { columns, schema: Arc::new(Schema::new(fields)), plain_words: false })
    }

    /// The same columns with names and sources as string views, as in Parquet files, instead of
    /// dictionaries.
    ///
    /// # Examples
    /// ```
    /// use arrow_schema::DataType;
    /// use tracefast_core::batch::Projection;
    ///
    /// let plain = Projection::from_names(&["ts", "name"])?.with_plain_words();
    /// assert_eq!(*plain.schema().field(1).data_type(), DataType::Utf8View);
    /// # Ok::<(), tracefast_core::batch::ColumnError>(())
    /// ```
    #[must_use]
    pub fn with_plain_words(mut self) -> Self {
        let plain = with_plain_words(&self.schema, &DataType::Utf8View);
        (self.schema, self.plain_words) = (plain, true);
        self
    }

    /// Number of columns.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// There are no columns: rows are only counted.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// The schema of the batches.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
