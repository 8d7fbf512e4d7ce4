//! The fields of one event, with types, read from the text of its records.
//!
//! For the most common events, `forms` says how kernels print them, and what the types of their
//! fields are: the columns are the same whatever the kernel, the tool and its options were. All
//! other events are read as keys and values, as far as they have them. In both cases no text is
//! lost: what does not fit a column goes into the last one, `rest`.

mod columns;
mod forms;
mod function;
pub(crate) mod key_values;
mod marker;
#[cfg(test)]
mod tests;
mod unknown_event;
mod value;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};

pub use columns::{REST, column_name};
pub use unknown_event::{ValueKind, survey};

use columns::BatchBuilder;
use forms::{EventColumn, Form, Row};
use unknown_event::{Keys, Leftovers};
use value::{FieldType, Slot};

/// Reads texts of one event into columns.
///
/// # Examples
/// ```
/// use tracefast_core::ftrace::decode::Decoder;
/// let decoder = Decoder::for_event("sched_wakeup").expect("a known event");
/// let text = "comm=dd pid=12 prio=120 target_cpu=001";
/// let batch = decoder.decode([Some(text)].into_iter())?;
/// let names: Vec<_> = batch.schema().fields().iter().map(|f| f.name().clone()).collect();
/// assert_eq!(names, ["event_comm", "event_pid", "prio", "target_cpu", "success", "rest"]);
/// # Ok::<(), arrow_schema::ArrowError>(())
/// ```
#[derive(Debug)]
pub struct Decoder {
    schema: SchemaRef,
    kinds: Vec<FieldType>,
    reader: Reader,
}

#[derive(Debug)]
enum Reader {
    /// A known event: read by its forms, or else by its keys.
    Known { columns: Vec<EventColumn>, forms: Vec<Form>, keys: Keys },
    /// An event of keys and values.
    Generic { kinds: Vec<ValueKind>, keys: Keys, chosen: bool },
    /// Text that a program or the kernel wrote; the kernel's may name the function.
    Marker { printed: bool },
    /// A function that was called.
    Function,
}

impl Decoder {
    /// The decoder of an event with known fields; `None` for any other.
    pub fn for_event(event: &str) -> Option<Self> {
        if marker::NAMES.contains(&event) {
            let printed = event != "tracing_mark_write";
            return Some(Self::new(&marker::columns(), Reader::Marker { printed }));
        }
        let event = forms::find(event)?;
        let mut columns = Vec::new();
        let forms: Vec<Form> =
            event.forms.iter().filter_map(|form| Form::new(form, &mut columns)).collect();
        let mut keys: Vec<(String, usize)> = Vec::new();
        for (key, column) in forms.iter().flat_map(Form::keys) {
            if !keys.iter().any(|(known, _)| known == key) {
                keys.push((key.to_owned(), column));
            }
        }
        for (at, column) in columns.iter().enumerate() {
            if !keys.iter().any(|(known, _)| known == column.name) {
                keys.push((column.name.to_owned(), at));
            }
        }
        let keys = Keys::new(keys.into_iter());
        Some(Self::new(&columns.clone(), Reader::Known { columns, forms, keys }))
    }

    /// The decoder of any other event, with these keys. If they are `chosen` by the user,
    /// their values may be any text.
    pub fn generic(fields: &[(String, ValueKind)], chosen: bool) -> Self {
        let columns = fields.iter().map(|(name, kind)| (name.as_str(), kind.column()));
        let schema = columns::schema(columns);
        let kinds: Vec<ValueKind> = fields.iter().map(|field| field.1).collect();
        let keys = fields.iter().enumerate().map(|(at, field)| (field.0.clone(), at));
        let reader = Reader::Generic { keys: Keys::new(keys), kinds: kinds.clone(), chosen };
        Self { schema, kinds: kinds.into_iter().map(ValueKind::column).collect(), reader }
    }

    /// The decoder of rows of kind `function`.
    pub fn function() -> Self {
        Self::new(&function::columns(), Reader::Function)
    }

    fn new(columns: &[EventColumn], reader: Reader) -> Self {
        let schema = columns::schema(columns.iter().map(|column| (column.name, column.kind)));
        Self { schema, kinds: columns.iter().map(|column| column.kind).collect(), reader }
    }

    /// The schema of the batches: the event's fields, and `rest`.
    pub fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }

    /// Reads the texts of some records, one row for each.
    ///
    /// # Errors
    /// Never in practice: all columns have one length. The error type is Arrow's.
    pub fn decode<'a>(
        &self,
        texts: impl Iterator<Item = Option<&'a str>>,
    ) -> Result<RecordBatch, ArrowError> {
        let mut out = BatchBuilder::new(self.kinds.iter().copied());
        let mut row = Row { slots: vec![Slot::Null; self.kinds.len()], made: String::new() };
        let mut left = Leftovers::default();
        for text in texts {
            row.clear();
            let Some(text) = text else {
                out.push("", &row, None);
                continue;
            };
            match &self.reader {
                Reader::Known { columns, forms, keys } => {
                    if formed(forms, text, &mut row) {
                        out.push(text, &row, None);
                        continue;
                    }
                    row.clear();
                    left.read(text, keys, true, &mut row, |column, span, made| {
                        keyed(columns.get(column)?, text, span, made)
                    });
                    out.push(text, &row, left.rest());
                }
                Reader::Generic { kinds, keys, chosen } => {
                    left.read(text, keys, *chosen, &mut row, |column, span, _| {
                        unknown_event::convert(kinds, text, column, span)
                    });
                    out.push(text, &row, left.rest());
                }
                Reader::Marker { printed } => {
                    marker::read(text, *printed, &mut row);
                    out.push(text, &row, None);
                }
                Reader::Function => {
                    let rest = function::read(text, &mut row);
                    out.push(text, &row, text.get(rest..).filter(|rest| !rest.is_empty()));
                }
            }
        }
        out.finish(self.schema())
    }
}

/// Whether `text` has all fields of the event, which is known.
///
/// # Examples
/// ```
/// use tracefast_core::ftrace::decode::is_whole;
/// assert!(is_whole("sched_process_exec", "filename=/bin/cat pid=7 old_pid=7"));
/// assert!(!is_whole("sched_process_exec", "filename=/bin/c"));
/// assert!(!is_whole("of_nobody", "a=1"));
/// ```
pub fn is_whole(event: &str, text: &str) -> bool {
    let Some(event) = forms::find(event) else { return false };
    let mut columns = Vec::new();
    let forms: Vec<Form> =
        event.forms.iter().filter_map(|form| Form::new(form, &mut columns)).collect();
    let mut row = Row { slots: vec![Slot::Null; columns.len()], made: String::new() };
    formed(&forms, text, &mut row)
}

/// Reads `text` by the first form that fits. Their order matters, because a text may fit several;
/// the record before it must not.
#[inline]
fn formed(forms: &[Form], text: &str, row: &mut Row) -> bool {
    let bytes = text.as_bytes();
    let trimmed = bytes.trim_ascii_end();
    let mut read = |bytes: &[u8]| {
        forms.iter().any(|form| {
            row.clear();
            form.read(bytes, row)
        })
    };
    // Some formats end in a blank or a line feed, and some writers cut them off.
    read(bytes) || (trimmed.len() < bytes.len() && read(trimmed))
}

/// A value that a key gives, all of it.
fn keyed(
    column: &EventColumn,
    text: &str,
    span: (usize, usize),
    made: &mut String,
) -> Option<Slot> {
    let (start, end) = span;
    if column.print.is_open() {
        return Some(column.print.open(text.as_bytes(), start, end));
    }
    let bytes = text.as_bytes().get(..end)?;
    let (slot, stop) = value::read(column.print, column.kind, bytes, start, None, made)?;
    (stop == end).then_some(slot)
}

/// Names of the events with known fields, by subsystem.
///
/// # Examples
/// ```
/// use tracefast_core::ftrace::decode::known;
/// assert!(known().any(|name| name == "sched_switch"));
/// ```
pub fn known() -> impl Iterator<Item = &'static str> {
    marker::NAMES.into_iter().chain(forms::names())
}
