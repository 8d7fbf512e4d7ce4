//! What the footer of a file of events says: its metadata, and where its batches are.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::read_footer_length;
use arrow_ipc::{Footer, root_as_footer};
use arrow_schema::Schema;
use parquet::file::metadata::ParquetMetaDataReader;
use parquet::file::statistics::Statistics;

use crate::columns::arrow_layout::Layout;
use crate::error::{Error, Result};

/// The column of times.
const TIME: &str = "ts";
const PARQUET: [u8; 4] = *b"PAR1";
/// Length and magic at the end of Arrow IPC.
const TAIL: usize = 10;

/// The metadata of a Parquet or Arrow IPC file, by key.
///
/// # Errors
/// The file cannot be read, or it is not whole.
///
/// # Examples
/// ```
/// let error = tracefast_io::columns::metadata::metadata("no.parquet".as_ref()).unwrap_err();
/// assert!(error.to_string().starts_with("no.parquet: "));
/// ```
pub fn metadata(path: &Path) -> Result<BTreeMap<String, String>> {
    let refused = |error| Error::io(path, error);
    let mut file = File::open(path).map_err(refused)?;
    let mut magic = [0; 4];
    file.read_exact(&mut magic).map_err(refused)?;
    if magic == PARQUET {
        let metadata = ParquetMetaDataReader::new()
            .parse_and_finish(&file)
            .map_err(|error| Error::damaged_columns(path, error.to_string()))?;
        let metadata = metadata.file_metadata();
        let columns = metadata.schema_descr().root_schema().get_fields();
        check_names(path, columns.iter().map(|column| column.name()))?;
        let pairs = metadata.key_value_metadata().into_iter().flatten();
        return Ok(pairs
            .map(|pair| (pair.key.clone(), pair.value.clone().unwrap_or_default()))
            .collect());
    }
    let footer = ArrowFooter::read(path, file)?;
    let schema = footer.schema(path)?;
    // A file has its own keys besides those of its schema.
    let own = footer.parsed(path)?.custom_metadata().into_iter().flatten();
    let own = own.filter_map(|pair| Some((pair.key()?.to_owned(), pair.value()?.to_owned())));
    Ok(schema.metadata.into_iter().chain(own).collect())
}

/// The first and the last time of the rows of a Parquet file, in nanoseconds, by its statistics.
/// None if the file has none of all rows with a time.
///
/// # Errors
/// The file cannot be read, or it is not whole.
///
/// # Examples
/// ```
/// let error = tracefast_io::columns::metadata::times("no.parquet".as_ref()).unwrap_err();
/// assert!(error.to_string().starts_with("no.parquet: "));
/// ```
pub fn times(path: &Path) -> Result<Option<(i64, i64)>> {
    let file = File::open(path).map_err(|error| Error::io(path, error))?;
    let metadata = ParquetMetaDataReader::new()
        .parse_and_finish(&file)
        .map_err(|error| Error::damaged_columns(path, error.to_string()))?;
    let columns = metadata.file_metadata().schema_descr().columns();
    let Some(at) = columns.iter().position(|column| column.path().string() == TIME) else {
        return Ok(None);
    };
    let mut found: Option<(i64, i64)> = None;
    for group in metadata.row_groups() {
        let Some(Statistics::Int64(times)) = group.column(at).statistics() else {
            return Ok(None);
        };
        match (times.min_opt(), times.max_opt()) {
            (Some(&first), Some(&last)) => {
                let (low, high) = found.unwrap_or((first, last));
                found = Some((low.min(first), high.max(last)));
            }
            // No row of it has a time.
            _ if times.null_count_opt() == u64::try_from(group.num_rows()).ok() => {}
            _ => return Ok(None),
        }
    }
    Ok(found)
}

/// Checks that all batches of an Arrow IPC file are where its footer says, and as long as it says.
///
/// # Errors
/// The file cannot be read, or it is not whole.
pub fn check_batches(path: &Path) -> Result<()> {
    let file = File::open(path).map_err(|error| Error::io(path, error))?;
    let footer = ArrowFooter::read(path, file)?;
    let schema = footer.schema(path)?;
    let parsed = footer.parsed(path)?;
    let layout = Layout::new(&footer.file, footer.start, &parsed, &schema);
    layout.check(&parsed).map_err(|what| Error::damaged_columns(path, what))
}

/// The footer of an Arrow IPC file.
struct ArrowFooter {
    file: File,
    start: u64,
    bytes: Vec<u8>,
}

impl ArrowFooter {
    fn read(path: &Path, mut file: File) -> Result<Self> {
        let refused = |error| Error::io(path, error);
        let length = file.seek(SeekFrom::End(0)).map_err(refused)?;
        let end = length.checked_sub(TAIL as u64).ok_or_else(|| odd(path))?;
        let mut tail = [0; TAIL];
        file.seek(SeekFrom::Start(end)).map_err(refused)?;
        file.read_exact(&mut tail).map_err(refused)?;
        let size = read_footer_length(tail)
            .map_err(|error| Error::damaged_columns(path, error.to_string()))?;
        let start = end.checked_sub(size as u64).ok_or_else(|| odd(path))?;
        let mut bytes = vec![0; size];
        file.seek(SeekFrom::Start(start)).map_err(refused)?;
        file.read_exact(&mut bytes).map_err(refused)?;
        Ok(Self { file, start, bytes })
    }

    fn parsed(&self, path: &Path) -> Result<Footer<'_>> {
        root_as_footer(&self.bytes).map_err(|_| odd(path))
    }

    fn schema(&self, path: &Path) -> Result<Schema> {
        let schema = self.parsed(path)?.schema().ok_or_else(|| odd(path))?;
        let schema = try_fb_to_schema(schema)
            .map_err(|error| Error::damaged_columns(path, error.to_string()))?;
        check_names(path, schema.fields().iter().map(|field| field.name().as_str()))?;
        Ok(schema)
    }
}

fn odd(path: &Path) -> Error {
    Error::damaged_columns(path, "no footer where one is expected")
}

/// Refuses a file that has a column twice: readers would take one of them, or fail.
fn check_names<'a>(path: &Path, names: impl Iterator<Item = &'a str>) -> Result<()> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            let what = format!("it has the column '{name}' more than once");
            return Err(Error::damaged_columns(path, what));
        }
    }
    Ok(())
}
