//! Timelines and flame graphs: events in the formats that other tools draw.
//!
//! An export reads the events twice. [`Survey`] finds what is only known at the end: which tasks are
//! one process and what it is called, when the log begins and ends, which fork made which task, and
//! who woke whom. [`Export`] then writes each call as it comes by. Memory grows with tasks, with the
//! waits that have a proved waker, and with one bit for each line; the flame graphs keep distinct
//! stacks.
//!
//! | module | what it does |
//! |---|---|
//! | [`rows`] | what a row is: a call, a signal, the end of a task |
//! | [`survey`], [`plan`], [`tracks`] | the first pass, and what is known after it |
//! | [`timeline`], [`lanes`], [`counters`], [`descriptors`] | the second pass of a timeline |
//! | [`perfetto`], [`chrome`] | the formats of timelines |
//! | [`flame`], [`stacks`] | the second pass of a flame graph, and its formats |

pub(crate) mod chrome;
pub(crate) mod counters;
pub(crate) mod descriptors;
pub(crate) mod flame;
pub(crate) mod json;
pub(crate) mod lanes;
pub(crate) mod lines;
pub(crate) mod perfetto;
pub(crate) mod plan;
pub(crate) mod rows;
pub(crate) mod stacks;
pub(crate) mod survey;
pub(crate) mod timeline;
pub(crate) mod tracks;

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, Schema, SchemaRef};

use crate::events::schema;
use crate::export::flame::Flame;
use crate::export::timeline::Timeline;
use crate::tables::event_columns::EventColumns;
use crate::tables::fold::Dictionaries;

pub use crate::export::plan::Plan;
pub use crate::export::survey::Survey;

/// A format of another tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// The protobuf of Perfetto.
    Perfetto,
    /// Trace events of Chrome, as JSON.
    Chrome,
    /// One stack a line, as `flamegraph.pl` reads them.
    Folded,
    /// The JSON of speedscope.
    Speedscope,
}

impl Format {
    /// It shows when each call was made.
    pub fn is_timeline(self) -> bool {
        matches!(self, Self::Perfetto | Self::Chrome)
    }
}

/// What the width of a flame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// Nanoseconds in calls.
    Time,
    /// Calls.
    Calls,
    /// Bytes moved.
    Bytes,
}

/// What was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Calls: slices of a timeline, what a flame graph adds up.
    pub calls: u64,
    /// Signals and ends of tasks.
    pub instants: u64,
    /// Arrows from a fork to its child, and from a waker to the woken.
    pub flows: u64,
    /// Values of counters.
    pub samples: u64,
    /// Slices on a further track, because they overlap with another call of their task.
    pub moved: u64,
    /// Slices that start later than their call, because all tracks of their task were taken.
    pub clipped: u64,
    /// Calls that have no place in a timeline, because the log has no time for them.
    pub timeless: u64,
    /// Calls without a duration, which have no width.
    pub untimed: u64,
}

/// Events on their way into another format: the second pass.
///
/// # Examples
/// A log without events:
/// ```
/// use tracefast_core::export::{Export, Format, Survey, Weight};
/// let mut export = Export::new(Format::Folded, Survey::new(None).plan(), Weight::Time);
/// export.finish();
/// assert!(export.out().is_empty());
/// ```
pub struct Export {
    work: Work,
    out: Vec<u8>,
}

enum Work {
    Timeline(Box<Timeline>),
    Flame(Box<Flame>),
}

impl std::fmt::Debug for Export {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Export").field("counts", &self.counts()).finish_non_exhaustive()
    }
}

impl Export {
    /// An export of the events that a survey has seen. `weight` is for flame graphs.
    pub fn new(format: Format, plan: impl Into<Arc<Plan>>, weight: Weight) -> Self {
        let plan = plan.into();
        let mut out = Vec::new();
        let timeline =
            |form, out: &mut Vec<u8>| Work::Timeline(Timeline::new(plan.clone(), form, out).into());
        let work = match format {
            Format::Perfetto => timeline(Box::<perfetto::Perfetto>::default(), &mut out),
            Format::Chrome => timeline(Box::<chrome::Chrome>::default(), &mut out),
            Format::Folded => Work::Flame(Flame::new(plan, weight, false).into()),
            Format::Speedscope => Work::Flame(Flame::new(plan, weight, true).into()),
        };
        Self { work, out }
    }

    /// The columns of the events that it reads, with their types in the event schema.
    pub fn needed(&self) -> SchemaRef {
        let names = match self.work {
            Work::Timeline(_) => timeline::Columns::names(),
            Work::Flame(_) => flame::Columns::names(),
        };
        let events = schema::schema();
        let fields = events.fields().iter().filter(|field| names.contains(&field.name().as_str()));
        Arc::new(Schema::new(fields.cloned().collect::<Vec<_>>()))
    }

    /// Takes in events, in the order in which the survey saw them.
    ///
    /// # Errors
    /// A column is missing or has another type than in the event schema.
    pub fn push(&mut self, batch: &RecordBatch, words: &Dictionaries) -> Result<(), ArrowError> {
        match &mut self.work {
            Work::Timeline(timeline) => timeline.push(batch, words, &mut self.out),
            Work::Flame(flame) => flame.push(batch, words),
        }
    }

    /// What is left to write after all events.
    pub fn finish(&mut self) {
        match &mut self.work {
            Work::Timeline(timeline) => timeline.finish(&mut self.out),
            Work::Flame(flame) => flame.finish(&mut self.out),
        }
    }

    /// The bytes so far: whoever writes them clears them.
    pub fn out(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    /// What was written so far.
    pub fn counts(&self) -> Counts {
        match &self.work {
            Work::Timeline(timeline) => timeline.counts(),
            Work::Flame(flame) => flame.counts(),
        }
    }
}
