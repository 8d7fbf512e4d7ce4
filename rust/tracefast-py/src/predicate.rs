//! Predicates as Python writes them: tuples that start with a word.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tracefast_core::batch::predicate::{Predicate, TextTest};
use tracefast_core::events::schema::{COLUMNS, Column};

/// A predicate that came from Python.
///
/// `("all", [P…])`, `("any", [P…])`, `("not", P)`, `("null", column)`,
/// `("between", column, low, high)` with both included and None for no bound,
/// `("among", column, [number…])`, `("in", column, [text…])`, and `("starts_with", column, text)`,
/// `"ends_with"`, `"contains"` in the same form.
pub(crate) struct Wanted(pub Predicate);

impl<'py> FromPyObject<'_, 'py> for Wanted {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        read(&object).map(Self)
    }
}

fn read(said: &Bound<'_, PyAny>) -> PyResult<Predicate> {
    let word: String = said.get_item(0)?.extract()?;
    let of = said.get_item(1)?;
    match word.as_str() {
        "all" => Ok(Predicate::all(several(&of)?)),
        "any" => Ok(Predicate::any(several(&of)?)),
        "not" => Ok(Predicate::not(read(&of)?)),
        _ => about(&word, column(&of)?, said),
    }
}

fn several(of: &Bound<'_, PyAny>) -> PyResult<Vec<Predicate>> {
    of.try_iter()?.map(|one| read(&one?)).collect()
}

fn about(word: &str, column: Column, said: &Bound<'_, PyAny>) -> PyResult<Predicate> {
    let text = || -> PyResult<String> { said.get_item(2)?.extract() };
    let made = match word {
        "null" => Ok(Predicate::null(column)),
        "between" => {
            let low: Option<i128> = said.get_item(2)?.extract()?;
            let high: Option<i128> = said.get_item(3)?.extract()?;
            Predicate::between(column, low.unwrap_or(i128::MIN), high.unwrap_or(i128::MAX))
        }
        "among" => Predicate::among(column, said.get_item(2)?.extract()?),
        "in" => {
            let texts: Vec<String> = said.get_item(2)?.extract()?;
            Predicate::text(column, TextTest::among(texts))
        }
        "starts_with" => Predicate::text(column, TextTest::starts_with(&text()?)),
        "ends_with" => Predicate::text(column, TextTest::ends_with(&text()?)),
        "contains" => Predicate::text(column, TextTest::contains(&text()?)),
        _ => return Err(PyValueError::new_err(format!("no predicate starts with '{word}'"))),
    };
    made.map_err(|error| PyValueError::new_err(error.to_string()))
}

fn column(name: &Bound<'_, PyAny>) -> PyResult<Column> {
    let name: &str = &name.extract::<String>()?;
    let found = COLUMNS.iter().find(|(_, known, _)| *known == name);
    found.map(|&(column, ..)| column).ok_or_else(|| {
        PyValueError::new_err(format!("'{name}' is not a column of the event schema"))
    })
}
