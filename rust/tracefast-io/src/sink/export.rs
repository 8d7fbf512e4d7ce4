//! Files of other tools: timelines and flame graphs.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use flate2::Compression;
use flate2::write::GzEncoder;
use tracefast_core::export::{Counts, Export, Format, Plan, Weight};
use tracefast_core::tables::fold::Dictionaries;

use crate::error::{Error, Result};
use crate::sink::atomic::{AtomicFile, about_output};

/// An export on its way into a file that appears when it is complete.
///
/// # Examples
/// ```
/// use tracefast_core::export::{Format, Survey, Weight};
/// use tracefast_io::sink::ExportFile;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("run.pftrace");
/// let plan = Survey::new(None).plan();
/// let file = ExportFile::create(&path, true, Format::Perfetto, plan, Weight::Time)?;
/// assert!(!path.exists());
/// file.finish()?;
/// assert!(path.exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ExportFile {
    export: Export,
    target: Target,
}

#[derive(Debug)]
enum Target {
    Plain(AtomicFile),
    Gzip(Box<GzEncoder<AtomicFile>>),
}

impl ExportFile {
    /// Starts to write `path`, packed by gzip if its name ends with `.gz`. It may replace a file if
    /// `clobber` is true.
    ///
    /// # Errors
    /// When nothing can be written there, as [`AtomicFile::create`] says.
    pub fn create(
        path: &Path,
        clobber: bool,
        format: Format,
        plan: impl Into<Arc<Plan>>,
        weight: Weight,
    ) -> Result<Self> {
        let file = AtomicFile::create(path, clobber)?;
        let packed = path.extension().is_some_and(|suffix| suffix.eq_ignore_ascii_case("gz"));
        let target = if packed {
            Target::Gzip(Box::new(GzEncoder::new(file, Compression::fast())))
        } else {
            Target::Plain(file)
        };
        Ok(Self { export: Export::new(format, plan, weight), target })
    }

    /// The columns of the events that it reads.
    pub fn needed(&self) -> SchemaRef {
        self.export.needed()
    }

    /// Takes in events, in the order in which the survey saw them.
    ///
    /// # Errors
    /// A column is missing or has another type than in the event schema; or the file cannot be
    /// written.
    pub fn push(&mut self, batch: &RecordBatch, words: &Dictionaries) -> Result<()> {
        self.export.push(batch, words)?;
        self.write()
    }

    fn write(&mut self) -> Result<()> {
        let (out, target) = (self.export.out(), &mut self.target);
        let written = match target {
            Target::Plain(file) => file.write_all(out),
            Target::Gzip(file) => file.write_all(out),
        };
        out.clear();
        written.map_err(|error| about_output(Error::from(error), self.target.file().path()))
    }

    /// Writes the rest, and puts the file in its place. Says what it holds.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(mut self) -> Result<Counts> {
        self.export.finish();
        self.write()?;
        let counts = self.export.counts();
        let file = match self.target {
            Target::Plain(file) => file,
            Target::Gzip(file) => {
                let path = file.get_ref().path().to_owned();
                file.finish().map_err(|error| about_output(Error::from(error), &path))?
            }
        };
        file.commit()?;
        Ok(counts)
    }
}

impl Target {
    fn file(&self) -> &AtomicFile {
        match self {
            Self::Plain(file) => file,
            Self::Gzip(file) => file.get_ref(),
        }
    }
}
