//! For any bytes: every line counts once, and the rows do not depend on the blocks.

use arrow_array::{Array, RecordBatch};
use tracefast_core::format::{Format, Wanted};

use crate::compare::parse;

/// Blocks of these lengths, from one line each to everything at once.
const BLOCKS: [usize; 4] = [1, 50, 700, usize::MAX];

/// Parses `data` as one log with blocks of several lengths.
///
/// # Panics
/// If a line or byte is not accounted for, or if the rows depend on the blocks.
pub fn accounting(data: &[u8]) {
    accounted(data, &BLOCKS);
}

/// The same, and what holds for the rows and tables of any log.
///
/// # Panics
/// If something of this does not hold.
pub fn invariants(data: &[u8]) {
    // A length that the log chooses.
    let (lines, rows) = accounted(data, &[usize::MAX, 1 + data.len() * 7 % 900]);
    super::rows::rows(&rows, lines);
    super::tables::tables(&rows);
}

/// The number of lines, and the rows.
fn accounted(data: &[u8], blocks: &[usize]) -> (u64, RecordBatch) {
    let format = match Format::detect(data, None) {
        Some(format) => format,
        None if data.first() == Some(&b'#') => Format::from_wanted(Wanted::Ftrace),
        None => Format::from_wanted(Wanted::Strace),
    };
    let lines = data.split_inclusive(|&b| b == b'\n').count() as u64;
    let (counts, rows) = parse(format, data, blocks[0]);
    assert_eq!(counts.total(), lines, "lines of {format:?}: {counts:?}");
    for &size in &blocks[1..] {
        let (other_counts, other_rows) = parse(format, data, size);
        assert_eq!(other_counts, counts, "counts depend on the blocks of {format:?}");
        same(&other_rows, &rows, format);
    }
    (lines, rows)
}

/// Batches are equal, or the first value that is not is named.
fn same(left: &RecordBatch, right: &RecordBatch, format: Format) {
    assert_eq!(left.num_rows(), right.num_rows(), "rows depend on the blocks of {format:?}");
    for (index, field) in left.schema().fields().iter().enumerate() {
        for row in 0..left.num_rows() {
            let [a, b] = [left, right].map(|batch| batch.column(index).slice(row, 1));
            assert_eq!(&a, &b, "{} of row {row} depends on the blocks of {format:?}", field.name());
        }
    }
}
