//! The Python extension `tracefast._core`: conversion only.

mod batch;
mod errors;
mod fields;
mod import;
mod options;
mod parse;
mod processes;
mod progress;
mod reader;
mod report;
mod uses;

/// Reading and writing of event logs; see the package `tracefast`.
#[pyo3::pymodule(gil_used = false)]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::batch::{Batch, Schema};
    #[pymodule_export]
    use super::errors::Error;
    #[pymodule_export]
    use super::fields::{Decoder, field_column, field_kind, known_events, survey};
    #[pymodule_export]
    use super::parse::parse;
    #[pymodule_export]
    use super::processes::Processes;
    #[pymodule_export]
    use super::progress::Progress;
    #[pymodule_export]
    use super::reader::Reader;
    #[pymodule_export]
    use super::report::Report;
    #[pymodule_export]
    use super::uses::{Covered, Darshan, Uses};

    /// Identity of a file that is known by a name: what the column `file` holds.
    #[pyfunction]
    fn file_id(name: &[u8]) -> u64 {
        tracefast_core::file_id::file_id(name)
    }

    /// The event schema.
    #[pyfunction]
    fn schema() -> Schema {
        Schema::new(tracefast_core::schema::schema())
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
