//! Events read back from Parquet, in order, by several threads.
//!
//! This is for folds over all rows of a file that [`sink`](crate::sink) wrote: few columns, every
//! row once. To filter rows, read the file with polars or another engine instead.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use arrow_array::{RecordBatch, RecordBatchOptions, new_null_array};
use arrow_schema::{FieldRef, Fields, Schema};
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::statistics::Statistics;
use tracefast_core::events::schema::{Kind, PLAIN, schema};

use crate::error::{Error, ErrorKind, Result};

/// The most rows of a batch: a larger one would leave the cache before it is read.
const ROWS: usize = 8_192;

/// Batches that may wait to be taken, for each thread: those of a usual row group, so that the threads
/// whose turn comes later go on reading.
const WAITING: usize = 8;

/// The most threads: they read faster than any consumer.
const THREADS: usize = 4;

/// What a thread hands over: rows, or None at the end of a row group.
type BatchOrEnd = Result<Option<RecordBatch>>;

/// The rows of a Parquet file of events, batch by batch, in order.
///
/// Several threads read row groups, each the next one that is free. A batch holds rows of one row
/// group, at most 8,192: as many as a cache holds until they are used. Memory is that of a few
/// batches for each thread, for any file.
///
/// # Examples
/// ```
/// use arrow_array::{ArrayRef, RecordBatch, new_null_array};
/// use tracefast_io::columns::parquet_events::SavedEvents;
/// use tracefast_io::sink::{ParquetAppender, ParquetEncoder, ParquetOptions};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("events.parquet");
/// let encoder = ParquetEncoder::try_new(ParquetOptions::default())?;
/// let schema = tracefast_core::events::schema::schema();
/// let nulls = |rows| -> Vec<ArrayRef> {
///     schema.fields().iter().map(|field| new_null_array(field.data_type(), rows)).collect()
/// };
/// let mut file = ParquetAppender::try_new(std::fs::File::create(&path)?, &encoder)?;
/// for rows in [10_000, 5] {
///     file.append(encoder.encode(&[RecordBatch::try_new(schema.clone(), nulls(rows))?])?)?;
/// }
/// file.finish(Vec::new())?;
///
/// let batches = SavedEvents::open(&path, &["ts".to_owned(), "name".to_owned()], 2)?;
/// let batches = batches.collect::<Result<Vec<_>, _>>()?;
/// let rows: Vec<usize> = batches.iter().map(RecordBatch::num_rows).collect();
/// assert_eq!(rows, [8192, 1808, 5]);
/// assert_eq!(batches[0].num_columns(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SavedEvents {
    path: PathBuf,
    threads: Vec<Receiver<BatchOrEnd>>,
    /// The current row group, and how many there are.
    group: usize,
    groups: usize,
}

impl SavedEvents {
    /// Opens a file, and starts to read the columns of these names.
    ///
    /// # Errors
    /// The file cannot be read; it is not Parquet; a column is missing, or is of another type than
    /// in the event schema.
    pub fn open(path: impl Into<PathBuf>, columns: &[String], threads: usize) -> Result<Self> {
        let path = path.into();
        let found = Self::start(&path, columns, threads);
        found.map_err(|error| error.at_path(path))
    }

    fn start(path: &Path, columns: &[String], threads: usize) -> Result<Self> {
        let file = SharedFile::open(path)?;
        let metadata = with_words(ArrowReaderMetadata::load(&file, ArrowReaderOptions::new())?)?;
        let events = schema();
        for name in columns {
            let wanted = events.field_with_name(name)?;
            let found = metadata.schema().field_with_name(name)?;
            if found.data_type() != wanted.data_type() {
                let text = format!(
                    "the column '{name}' does not have the type it has in the event schema"
                );
                return Err(Error::new(ErrorKind::Option(text)));
            }
        }
        let leaves = metadata.parquet_schema().columns().iter().enumerate();
        let leaves = leaves.filter_map(|(leaf, column)| {
            let [name] = column.path().parts() else { return None };
            let field = events.fields().find(name)?.1;
            columns.contains(name).then(|| (leaf, field.clone()))
        });
        let columns: Arc<[(usize, FieldRef)]> = leaves.collect();
        let groups = metadata.metadata().num_row_groups();
        let threads = threads.clamp(1, THREADS).min(groups);
        let mut receivers = Vec::with_capacity(threads);
        for first in 0..threads {
            let (sender, receiver) = sync_channel(WAITING);
            let job =
                Job { file: file.clone(), metadata: metadata.clone(), columns: columns.clone() };
            let mine = (first..groups).step_by(threads);
            let begun = thread::Builder::new()
                .name(format!("tracefast-read-{first}"))
                .spawn(move || job.run(mine, &sender));
            begun.map_err(Error::from)?;
            receivers.push(receiver);
        }
        Ok(Self { path: path.to_owned(), threads: receivers, group: 0, groups })
    }

    fn step(&mut self) -> Result<Option<RecordBatch>> {
        while self.group < self.groups {
            let turn = self.group % self.threads.len().max(1);
            let received = self.threads.get(turn).and_then(|thread| thread.recv().ok());
            let lost = || {
                Error::new(ErrorKind::Broken("a reading thread stopped unexpectedly".to_owned()))
            };
            match received.ok_or_else(lost)?? {
                Some(batch) => return Ok(Some(batch)),
                None => self.group += 1,
            }
        }
        Ok(None)
    }
}

impl Iterator for SavedEvents {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let found = self.step();
        if found.is_err() {
            // Nothing follows an error; threads end when the channel is closed.
            self.group = self.groups;
            self.threads.clear();
        }
        found.map_err(|error| error.at_path(&self.path)).transpose()
    }
}

/// Reads plain words as the dictionary that their pages have: folds look at each of them once only.
fn with_words(metadata: ArrowReaderMetadata) -> Result<ArrowReaderMetadata> {
    let found = metadata.schema();
    let is_plain = |field: &FieldRef| {
        PLAIN.iter().any(|column| column.name() == field.name()) && field.data_type().is_string()
    };
    if !found.fields().iter().any(is_plain) {
        return Ok(metadata);
    }
    let fields = found.fields().iter().map(|field| {
        let dictionary = Kind::Dictionary.data_type();
        if is_plain(field) {
            Arc::new(field.as_ref().clone().with_data_type(dictionary))
        } else {
            Arc::clone(field)
        }
    });
    let words = Arc::new(Schema::new(fields.collect::<Fields>()));
    let options = ArrowReaderOptions::new().with_schema(words);
    Ok(ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options)?)
}

/// What a thread reads.
struct Job {
    file: SharedFile,
    metadata: ArrowReaderMetadata,
    /// The columns that are wanted, in the order of the file, and where they are in it.
    columns: Arc<[(usize, FieldRef)]>,
}

impl Job {
    fn run(&self, groups: impl Iterator<Item = usize>, to: &SyncSender<BatchOrEnd>) {
        for group in groups {
            let done = self.group(group, to);
            let failed = done.is_err();
            // A closed channel means that the reader is gone: there is nothing left to do.
            if to.send(done.map(|()| None)).is_err() || failed {
                return;
            }
        }
    }

    fn group(&self, group: usize, to: &SyncSender<BatchOrEnd>) -> Result<()> {
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(
            self.file.clone(),
            self.metadata.clone(),
        );
        // Of words that are all null there is no dictionary, and to make one takes longer than all
        // else: such columns are not read.
        let of = self.metadata.metadata().row_group(group);
        let null = |leaf: usize| {
            let known = of.columns().get(leaf).and_then(|column| column.statistics());
            let nulls = known.and_then(Statistics::null_count_opt);
            nulls.is_some_and(|nulls| i64::try_from(nulls) == Ok(of.num_rows()))
        };
        let (empty, read): (Vec<_>, Vec<_>) =
            self.columns.iter().map(|(leaf, _)| *leaf).partition(|&leaf| null(leaf));
        let reader = reader
            .with_projection(ProjectionMask::leaves(self.metadata.parquet_schema(), read))
            .with_row_groups(vec![group])
            .with_batch_size(ROWS)
            .build()?;
        for batch in reader {
            let batch = batch?;
            let batch = if empty.is_empty() { batch } else { self.filled(&batch, &empty)? };
            if to.send(Ok(Some(batch))).is_err() {
                break;
            }
        }
        Ok(())
    }

    /// The rows of a batch with the columns, all null, that were not read.
    fn filled(&self, batch: &RecordBatch, empty: &[usize]) -> Result<RecordBatch> {
        let mut found = batch.columns().iter();
        let columns = self.columns.iter().filter_map(|(leaf, field)| {
            if empty.contains(leaf) {
                Some(new_null_array(field.data_type(), batch.num_rows()))
            } else {
                found.next().cloned()
            }
        });
        let columns = columns.collect();
        let fields: Fields = self.columns.iter().map(|(_, field)| field.clone()).collect();
        let rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        Ok(RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &rows)?)
    }
}

/// A file that several threads read at different places.
#[derive(Debug, Clone)]
struct SharedFile {
    file: Arc<File>,
    length: u64,
}

impl SharedFile {
    fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        Ok(Self { file: Arc::new(file), length })
    }
}

impl Length for SharedFile {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for SharedFile {
    type T = FileReader;

    fn get_read(&self, start: u64) -> parquet::errors::Result<FileReader> {
        Ok(FileReader { file: Arc::clone(&self.file), at: start })
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        if start.checked_add(length as u64).is_none_or(|end| end > self.length) {
            // Check this before memory is allocated by the word of a damaged file.
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, start)?;
        Ok(bytes.into())
    }
}

/// Reads from its own position.
#[derive(Debug)]
struct FileReader {
    file: Arc<File>,
    at: u64,
}

impl Read for FileReader {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(bytes, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}
