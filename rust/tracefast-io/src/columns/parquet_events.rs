//! Events read back from Parquet, in order, by several threads.
//!
//! This is for folds over all rows of a file that [`sink`](crate::sink) wrote: few columns, every
//! row once. To filter rows, read the file with polars or another engine instead.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, SyncSender, TryRecvError, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

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

/// Batches of a row group that may wait to be taken: all of a usual one, so that the threads whose
/// turn comes later go on reading.
const WAITING: usize = 8;

/// The most threads: they read faster than any consumer.
const THREADS: usize = 4;

/// A thread is added when this part of a row group's time was spent waiting for its rows. With less
/// than that, another thread on two processors takes more time from a fold than it saves.
const STARVING: f64 = 0.35;

/// What a thread hands over: rows, or None at the end of a row group.
type BatchOrEnd = Result<Option<RecordBatch>>;

/// A row group to read, and where its batches go.
type Order = (usize, SyncSender<BatchOrEnd>);

/// The rows of a Parquet file of events, batch by batch, in order.
///
/// One thread reads ahead, and as many more as it takes for the rows not to be waited for: a fold
/// that takes longer than reading is slowed down by threads that take its processor and its cache.
/// A batch holds rows of one row group, at most 8,192: as many as a cache holds until they are used.
/// Memory is that of a few batches for each thread, for any file.
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
    readers: Readers,
    /// The row groups that are being read, in order, and those that are left.
    groups: VecDeque<Receiver<BatchOrEnd>>,
    left: Range<usize>,
    /// When the first rows of the current one came, or the one before it ended; and how long it was
    /// waited for since.
    since: Option<Instant>,
    waited: Duration,
}

impl SavedEvents {
    /// Opens a file, and starts to read the columns of these names on at most so many threads.
    ///
    /// # Errors
    /// The file cannot be read; it is not Parquet; a column is missing, or is of another type than
    /// in the event schema.
    pub fn open(path: impl Into<PathBuf>, columns: &[String], threads: usize) -> Result<Self> {
        let path = path.into();
        let readers = Job::open(&path, columns).map(|job| Readers::new(job, threads));
        let readers = readers.map_err(|error| error.at_path(&path))?;
        let left = 0..readers.job.groups();
        let groups = VecDeque::new();
        let mut new = Self { path, readers, groups, left, since: None, waited: Duration::ZERO };
        new.read_ahead(1).map_err(|error| error.at_path(&new.path))?;
        Ok(new)
    }

    /// Has so many threads read the row groups that come next, one of them ahead.
    fn read_ahead(&mut self, threads: usize) -> Result<()> {
        self.readers.start(threads.min(self.left.len()))?;
        while self.groups.len() <= self.readers.started {
            let Some(group) = self.left.next() else { break };
            self.groups.push_back(self.readers.read(group));
        }
        Ok(())
    }

    fn step(&mut self) -> Result<Option<RecordBatch>> {
        while let Some(group) = self.groups.front() {
            let received = group.try_recv().or_else(|error| match error {
                TryRecvError::Disconnected => Err(error),
                TryRecvError::Empty => {
                    let from = Instant::now();
                    let received = group.recv();
                    self.waited += from.elapsed();
                    received.map_err(|_| TryRecvError::Disconnected)
                }
            });
            let lost = || {
                Error::new(ErrorKind::Broken("a reading thread stopped unexpectedly".to_owned()))
            };
            let received = received.map_err(|_| lost())??;
            let since = *self.since.get_or_insert_with(|| {
                self.waited = Duration::ZERO;
                Instant::now()
            });
            if let Some(batch) = received {
                return Ok(Some(batch));
            }
            self.groups.pop_front();
            let starving = self.waited > since.elapsed().mul_f64(STARVING);
            (self.since, self.waited) = (Some(Instant::now()), Duration::ZERO);
            self.read_ahead(self.readers.started + usize::from(starving))?;
        }
        Ok(None)
    }
}

impl Iterator for SavedEvents {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let found = self.step();
        if found.is_err() {
            // Nothing follows an error; threads end when their channels are closed.
            self.left = 0..0;
            self.groups.clear();
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

/// The threads that read row groups, each the next one that was asked for.
#[derive(Debug)]
struct Readers {
    job: Arc<Job>,
    /// The most threads, and how many there are.
    most: usize,
    started: usize,
    orders: Sender<Order>,
    /// The end of `orders` that the threads share.
    taken: Arc<Mutex<Receiver<Order>>>,
}

impl Readers {
    fn new(job: Job, most: usize) -> Self {
        let (orders, taken) = channel();
        let most = most.clamp(1, THREADS);
        Self { job: Arc::new(job), most, started: 0, orders, taken: Arc::new(Mutex::new(taken)) }
    }

    /// Starts threads until there are so many.
    fn start(&mut self, threads: usize) -> Result<()> {
        while self.started < threads.min(self.most) {
            let (job, orders) = (Arc::clone(&self.job), Arc::clone(&self.taken));
            thread::Builder::new()
                .name(format!("tracefast-read-{}", self.started))
                .spawn(move || job.run(&orders))
                .map_err(Error::from)?;
            self.started += 1;
        }
        Ok(())
    }

    /// Asks for a row group.
    fn read(&self, group: usize) -> Receiver<BatchOrEnd> {
        let (sender, receiver) = sync_channel(WAITING);
        // Without a thread that takes it the sender is dropped: the receiver says so.
        let _ = self.orders.send((group, sender));
        receiver
    }
}

/// What threads read.
#[derive(Debug)]
struct Job {
    file: SharedFile,
    metadata: ArrowReaderMetadata,
    /// The columns that are wanted, in the order of the file, and where they are in it.
    columns: Vec<(usize, FieldRef)>,
}

impl Job {
    fn open(path: &Path, columns: &[String]) -> Result<Self> {
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
        Ok(Self { file, columns: leaves.collect(), metadata })
    }

    fn groups(&self) -> usize {
        self.metadata.metadata().num_row_groups()
    }

    /// Reads row groups until nobody orders any.
    fn run(&self, orders: &Mutex<Receiver<Order>>) {
        loop {
            let order = orders.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok((group, to)) = order else { return };
            // A closed channel means that the reader is gone: the next order says so.
            let _ = to.send(self.group(group, &to).map(|()| None));
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
