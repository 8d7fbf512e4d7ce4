//! Predicates on columns, so that rows that do not match are never built.
//!
//! A predicate is evaluated on resolved rows, a part of a block at a time, before Arrow arrays are
//! made of them. Its logic has three values, as in SQL and polars: a comparison with null is
//! unknown, and a row is selected only if the whole predicate is true. Texts of a dictionary column
//! are compared once for each text of the block, not for each row.

use std::ops::Range;

use arrow_array::Array;
use memchr::memmem::Finder;

use crate::batch::{ColumnError, Part};
use crate::events::schema::{Column as C, Kind};
use crate::events::vocabulary::{Access, EventKind, FileType, OffsetKnown, Status};
use crate::serial::resolved_block::{DictionaryValues, ResolvedBlock};
use crate::text::string_view::{INLINE, Place, pack, unpack};

/// What rows must satisfy.
///
/// # Examples
/// ```
/// use tracefast_core::batch::predicate::{Predicate, TextTest};
/// use tracefast_core::events::schema::Column;
/// let opens = Predicate::text(Column::Name, TextTest::among(["open", "openat"]))?;
/// let slow = Predicate::between(Column::DurNs, 1_000_000, i128::MAX)?;
/// let both = Predicate::all(vec![opens, slow]);
/// assert!(Predicate::between(Column::Name, 1, 2).is_err());
/// # Ok::<(), tracefast_core::batch::ColumnError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Predicate(Node);

#[derive(Debug, Clone)]
enum Node {
    All(Vec<Predicate>),
    Any(Vec<Predicate>),
    Not(Box<Predicate>),
    Null(C),
    Between(C, i128, i128),
    /// The numbers are sorted.
    Among(C, Vec<i128>),
    Text(C, TextTest),
}

/// What a text must satisfy.
#[derive(Debug, Clone)]
pub struct TextTest(Test);

#[derive(Debug, Clone)]
enum Test {
    /// Sorted texts, and the sorted heads of their views.
    Among(Vec<Box<[u8]>>, Vec<u64>),
    StartsWith(Box<[u8]>),
    EndsWith(Box<[u8]>),
    Contains(Box<Finder<'static>>),
}

/// Length and first four bytes: the half of a view that needs no access to the text.
fn head(text: &[u8]) -> u64 {
    pack(text, Place::Text, 0) as u64
}

impl TextTest {
    /// It is one of these.
    pub fn among<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Self {
        let mut texts: Vec<Box<[u8]>> =
            texts.into_iter().map(|text| text.as_ref().as_bytes().into()).collect();
        texts.sort_unstable();
        let mut heads: Vec<u64> = texts.iter().map(|text| head(text)).collect();
        heads.sort_unstable();
        Self(Test::Among(texts, heads))
    }

    /// It starts with `prefix`.
    pub fn starts_with(prefix: &str) -> Self {
        Self(Test::StartsWith(prefix.as_bytes().into()))
    }

    /// It ends with `suffix`.
    pub fn ends_with(suffix: &str) -> Self {
        Self(Test::EndsWith(suffix.as_bytes().into()))
    }

    /// It contains `part`.
    pub fn contains(part: &str) -> Self {
        Self(Test::Contains(Box::new(Finder::new(part.as_bytes()).into_owned())))
    }

    fn holds(&self, text: &[u8]) -> bool {
        match &self.0 {
            Test::Among(texts, _) => texts.binary_search_by(|known| (**known).cmp(text)).is_ok(),
            Test::StartsWith(prefix) => text.starts_with(prefix),
            Test::EndsWith(suffix) => text.ends_with(suffix),
            Test::Contains(finder) => finder.find(text).is_some(),
        }
    }

    /// As [`Self::holds`], for a view over the buffers of a block: most texts fail by their length
    /// and first four bytes, and are not read.
    fn holds_view(&self, view: u128, text: &[u8], side: &[u8]) -> bool {
        let maybe = match &self.0 {
            Test::Among(_, heads) => heads.binary_search(&(view as u64)).is_ok(),
            Test::StartsWith(prefix) => {
                let known = 8 * prefix.len().min(4) as u32;
                let wanted = (head(prefix) >> 32) as u32;
                let found = (view >> 32) as u32;
                view as u32 as usize >= prefix.len()
                    && (known == 0 || (wanted ^ found) << (32 - known) == 0)
            }
            Test::EndsWith(suffix) => view as u32 as usize >= suffix.len(),
            Test::Contains(finder) => view as u32 as usize >= finder.needle().len(),
        };
        maybe && self.holds(unpack(&view, text, side))
    }
}

impl Predicate {
    /// All of these; true if there are none.
    pub fn all(of: Vec<Self>) -> Self {
        Self(Node::All(of))
    }

    /// At least one of these; false if there are none.
    pub fn any(of: Vec<Self>) -> Self {
        Self(Node::Any(of))
    }

    /// The opposite; unknown stays unknown.
    #[allow(clippy::should_implement_trait)] // A constructor, like `all` and `any`.
    pub fn not(of: Self) -> Self {
        Self(Node::Not(Box::new(of)))
    }

    /// The column has no value.
    pub fn null(column: C) -> Self {
        Self(Node::Null(column))
    }

    /// A number from `low` to `high`, both included; no number if `low` is above `high`.
    ///
    /// # Errors
    /// The column holds text.
    pub fn between(column: C, low: i128, high: i128) -> Result<Self, ColumnError> {
        check_number(column)?;
        Ok(Self(Node::Between(column, low, high)))
    }

    /// One of these numbers.
    ///
    /// # Errors
    /// The column holds text.
    pub fn among(column: C, mut numbers: Vec<i128>) -> Result<Self, ColumnError> {
        check_number(column)?;
        numbers.sort_unstable();
        Ok(Self(Node::Among(column, numbers)))
    }

    /// A text that passes this test.
    ///
    /// # Errors
    /// The column holds numbers.
    pub fn text(column: C, test: TextTest) -> Result<Self, ColumnError> {
        match column.kind() {
            Kind::Dictionary | Kind::View => Ok(Self(Node::Text(column, test))),
            _ => Err(ColumnError::HoldsNumbers(column)),
        }
    }

    /// The rows of `parts` that satisfy it.
    pub fn select(&self, parts: Vec<Part>, values: &DictionaryValues) -> Vec<Part> {
        let mut out = Vec::with_capacity(parts.len());
        for part in parts {
            let rows = Rows { block: &part.block, range: part.rows.clone(), values };
            let Truth { yes, .. } = self.truth(&rows);
            let count: usize = yes.iter().map(|word| word.count_ones() as usize).sum();
            if count == part.rows.len() {
                out.push(part);
            } else if count > 0 {
                let mut picked = Vec::with_capacity(count);
                for (i, &word) in yes.iter().enumerate() {
                    let mut left = word;
                    while left != 0 {
                        let row = part.rows.start + 64 * i + left.trailing_zeros() as usize;
                        picked.push(row as u32);
                        left &= left - 1;
                    }
                }
                out.push(Part { picked: Some(picked), ..part });
            }
        }
        out
    }

    fn truth(&self, rows: &Rows<'_>) -> Truth {
        match &self.0 {
            Node::All(of) => {
                let mut all = rows.constant(true);
                for one in of {
                    // Here false and unknown have the same effect: the row is not selected.
                    if all.yes.iter().all(|&word| word == 0) && all.no_null(rows) {
                        break;
                    }
                    let one = one.truth(rows);
                    zip(&mut all.yes, &one.yes, |a, b| a & b);
                    zip(&mut all.no, &one.no, |a, b| a | b);
                }
                all
            }
            Node::Any(of) => {
                let mut any = rows.constant(false);
                for one in of {
                    let one = one.truth(rows);
                    zip(&mut any.yes, &one.yes, |a, b| a | b);
                    zip(&mut any.no, &one.no, |a, b| a & b);
                }
                any
            }
            Node::Not(of) => {
                let Truth { yes, no } = of.truth(rows);
                Truth { yes: no, no: yes }
            }
            // Every row has a source, whatever its mask says.
            Node::Null(C::Source) => rows.constant(false),
            Node::Null(column) => {
                let Truth { yes, no } = rows.fill(*column, |_, known| known);
                debug_assert!(no.iter().all(|&word| word == 0));
                let mut null = rows.constant(true).yes;
                zip(&mut null, &yes, |all, known| all & !known);
                Truth { yes: null, no: yes }
            }
            &Node::Between(column, low, high) => rows.number(column, low, high, &[]),
            Node::Among(column, numbers) => rows.number(*column, 1, 0, numbers),
            Node::Text(column, test) => rows.text(*column, test),
        }
    }
}

fn check_number(column: C) -> Result<(), ColumnError> {
    match column.kind() {
        Kind::Dictionary | Kind::View => Err(ColumnError::HoldsText(column)),
        _ => Ok(()),
    }
}

/// Two bits for each of some rows: the predicate is true, it is false. Neither: it is unknown.
struct Truth {
    yes: Vec<u64>,
    no: Vec<u64>,
}

impl Truth {
    /// No row is unknown.
    fn no_null(&self, rows: &Rows<'_>) -> bool {
        let known = self.yes.iter().zip(&self.no).map(|(yes, no)| (yes | no).count_ones() as usize);
        known.sum::<usize>() == rows.range.len()
    }
}

fn zip(into: &mut [u64], other: &[u64], op: impl Fn(u64, u64) -> u64) {
    for (into, &other) in into.iter_mut().zip(other) {
        *into = op(*into, other);
    }
}

/// Some rows of a block.
struct Rows<'a> {
    block: &'a ResolvedBlock,
    range: Range<usize>,
    values: &'a DictionaryValues,
}

/// A number of a column, as it is held.
trait Number: Copy + Ord + Into<i128> + TryFrom<i128> {
    const LEAST: Self;
    const MOST: Self;
}

macro_rules! numbers {
    ($($ty:ident)+) => {
        $(impl Number for $ty {
            const LEAST: Self = Self::MIN;
            const MOST: Self = Self::MAX;
        })+
    };
}

numbers!(i64 u64 i32 u32 u16);

impl Rows<'_> {
    fn constant(&self, truth: bool) -> Truth {
        let len = self.range.len();
        let mut all = vec![u64::MAX; len.div_ceil(64)];
        if let Some(last) = all.last_mut().filter(|_| !len.is_multiple_of(64)) {
            *last = (1 << (len % 64)) - 1;
        }
        let none = vec![0; all.len()];
        if truth { Truth { yes: all, no: none } } else { Truth { yes: none, no: all } }
    }

    /// Evaluates `holds` on every row, which also gets whether `column` has a value there. Without
    /// one the result does not count, and the slot may hold anything.
    #[inline(always)]
    fn fill(&self, column: C, holds: impl Fn(usize, bool) -> bool) -> Truth {
        let valid = &self.block.rows().valid[self.range.clone()];
        let words = valid.len().div_ceil(64);
        let mut out = Truth { yes: Vec::with_capacity(words), no: Vec::with_capacity(words) };
        for (chunk, start) in valid.chunks(64).zip(self.range.clone().step_by(64)) {
            let (mut all, mut some) = (0, 0);
            for (i, &valid) in chunk.iter().enumerate() {
                let known = valid & column.bit() != 0;
                all |= u64::from(known) << i;
                some |= u64::from(holds(start + i, known)) << i;
            }
            out.yes.push(all & some);
            out.no.push(all & !some);
        }
        out
    }

    fn number(&self, column: C, low: i128, high: i128, among: &[i128]) -> Truth {
        let rows = self.block.rows();
        macro_rules! test {
            ($field:ident) => {
                self.compare(column, &rows.$field, low, high, among, |number| number)
            };
        }
        match column {
            C::Ts => test!(ts),
            C::DurNs => test!(dur),
            C::Ret => test!(ret),
            C::Size => test!(size),
            C::Offset => test!(offset),
            C::Offset2 => test!(offset2),
            C::Requested => test!(requested),
            C::Bytes => test!(bytes),
            C::AnonBytes => test!(anon_bytes),
            C::Task => test!(task),
            C::Ofd => test!(ofd),
            C::Ofd2 => test!(ofd2),
            C::Child => test!(child),
            C::Pid => test!(pid),
            C::Tid => test!(tid),
            C::Fd => test!(fd),
            C::Fd2 => test!(fd2),
            C::File => test!(file),
            C::File2 => test!(file2),
            C::Cpu => test!(cpu),
            C::Line => {
                let first = self.block.line;
                self.compare(column, &rows.line, low, high, among, |line| {
                    first.wrapping_add(line) as u64
                })
            }
            _ => unreachable!("`Predicate::between` and `among` take columns of numbers only"),
        }
    }

    #[inline(always)]
    fn compare<T: Copy, U: Number>(
        &self,
        column: C,
        numbers: &[T],
        low: i128,
        high: i128,
        among: &[i128],
        map: impl Fn(T) -> U,
    ) -> Truth {
        if !among.is_empty() {
            return self.fill(column, |row, known| {
                known && among.binary_search(&map(numbers[row]).into()).is_ok()
            });
        }
        let low = if low <= U::LEAST.into() { Some(U::LEAST) } else { U::try_from(low).ok() };
        let high = if high >= U::MOST.into() { Some(U::MOST) } else { U::try_from(high).ok() };
        match (low, high) {
            (Some(low), Some(high)) if low <= high => self.fill(column, |row, _| {
                let number = map(numbers[row]);
                low <= number && number <= high
            }),
            _ => self.fill(column, |_, _| false),
        }
    }

    fn text(&self, column: C, test: &TextTest) -> Truth {
        let rows = self.block.rows();
        match column {
            C::Source => {
                let sources = &self.values.open[3];
                let key = self.block.source as usize;
                let holds = key < sources.len() && test.holds(sources.value(key).as_bytes());
                self.constant(holds)
            }
            C::Name => self.open(column, &rows.name, 0, test),
            C::Errno => self.open(column, &rows.errno, 1, test),
            C::Comm => self.open(column, &rows.comm, 2, test),
            C::Kind => self.closed(column, &rows.kind, EventKind::TEXTS, test),
            C::Status => self.closed(column, &rows.status, Status::TEXTS, test),
            C::FileType => self.closed(column, &rows.file_type, FileType::TEXTS, test),
            C::OffsetKnown => self.closed(column, &rows.offset_known, OffsetKnown::TEXTS, test),
            C::Access => self.closed(column, &rows.access, Access::TEXTS, test),
            C::Access2 => self.closed(column, &rows.access2, Access::TEXTS, test),
            C::Args => self.views(column, &rows.args, test),
            C::Result => self.views(column, &rows.result, test),
            C::Path => self.views(column, &rows.path, test),
            C::Path2 => self.views(column, &rows.path2, test),
            C::Extra => self.views(column, &rows.extra, test),
            _ => unreachable!("`Predicate::text` takes columns of text only"),
        }
    }

    fn open(&self, column: C, keys: &[u32], which: usize, test: &TextTest) -> Truth {
        let words = self.block.texts(which);
        let holds: Vec<bool> = words.iter().map(|word| test.holds(word.as_bytes())).collect();
        self.fill(column, |row, _| holds.get(keys[row] as usize).copied().unwrap_or(false))
    }

    fn closed(&self, column: C, keys: &[u8], texts: &[&str], test: &TextTest) -> Truth {
        let mut holds = [false; 256];
        for (holds, text) in holds.iter_mut().zip(texts) {
            *holds = test.holds(text.as_bytes());
        }
        self.fill(column, |row, _| holds[usize::from(keys[row])])
    }

    fn views(&self, column: C, views: &[u128], test: &TextTest) -> Truth {
        let [text, side] = &self.block.buffers;
        // Slots without a value may point anywhere.
        self.fill(column, |row, known| known && test.holds_view(views[row], text, side))
    }
}

const _: () = assert!(INLINE >= 4, "the first four bytes are in every view");

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::batch::{Projection, assemble_selected};
    use crate::format::{Format, Grammar};
    use crate::serial::pool::Pool;
    use crate::serial::stream::Stream;
    use crate::text::block::Block;

    const LOG: &str = "\
7 1700000000.000001 openat(AT_FDCWD, \"/etc/a/long/path\", O_RDONLY) = 3 <0.000100>
7 1700000000.000002 read(3, \"x\", 10) = 1 <0.000200>
7 1700000000.000003 read(4, 0x1, 10) = -1 EBADF (Bad file descriptor) <0.000300>
8 1700000000.000004 openat(AT_FDCWD, \"/etc\", O_RDONLY) = 4 <0.000400>
7 1700000000.000005 exit_group(0) = ?
7 1700000000.000006 +++ exited with 0 +++
";

    /// The lines, from 1 on, of the rows that a predicate selects.
    fn lines(predicate: Result<Predicate, ColumnError>) -> Vec<u64> {
        use arrow_array::cast::AsArray;
        use arrow_array::types::UInt64Type;
        let pool = Arc::new(Pool::default());
        let mut stream = Stream::new(Arc::clone(&pool));
        let format = Format::detect(LOG.as_bytes(), None).expect("a log");
        stream.begin("log", format);
        let mut block = Block::from_text(LOG.as_bytes());
        let mut parsed = pool.parsed();
        Grammar::default().parse(&format, &mut block, &mut parsed);
        let block = Arc::new(stream.resolve(block, parsed));
        let run = |rows: &Range<usize>| Part::new(Arc::clone(&block), rows.clone());
        let parts = block.runs.iter().map(run).collect();
        let values = stream.values();
        let parts = predicate.expect("a predicate").select(parts, &values);
        let batch = assemble_selected(&parts, &Projection::default(), &values);
        let lines = batch["line"].as_primitive::<UInt64Type>();
        lines.values().to_vec()
    }

    fn names(texts: &[&str]) -> Result<Predicate, ColumnError> {
        Predicate::text(C::Name, TextTest::among(texts))
    }

    #[test]
    fn rows_are_chosen_by_each_kind_of_column() {
        assert_eq!(lines(names(&["read", "write"])), [2, 3]);
        assert_eq!(lines(Predicate::between(C::Ret, 0, 3)), [1, 2, 6]);
        assert_eq!(lines(Predicate::between(C::Ret, i128::MIN, -1)), [3]);
        assert_eq!(lines(Predicate::between(C::Ret, 1, 0)), [0; 0]);
        assert_eq!(lines(Predicate::between(C::Ret, 1 << 70, 1 << 80)), [0; 0]);
        assert_eq!(lines(Predicate::among(C::Fd, vec![4, -7, 1 << 70])), [3, 4]);
        assert_eq!(lines(Predicate::among(C::Line, vec![2, 4])), [2, 4]);
        let after = 1_700_000_000_000_004_000;
        assert_eq!(lines(Predicate::between(C::Ts, after, i128::MAX)), [4, 5, 6]);
        let text = |column, test| lines(Predicate::text(column, test));
        assert_eq!(text(C::Path, TextTest::starts_with("/etc/")), [1, 2]);
        assert_eq!(text(C::Path, TextTest::among(["/etc", "/etc/a/long/path"])), [1, 2, 4]);
        assert_eq!(text(C::Path, TextTest::contains("long")), [1, 2]);
        assert_eq!(text(C::Kind, TextTest::ends_with("it")), [6]);
        assert_eq!(text(C::Source, TextTest::starts_with("lo")), [1, 2, 3, 4, 5, 6]);
        assert_eq!(text(C::Source, TextTest::starts_with("no")), [0; 0]);
        assert_eq!(lines(Ok(Predicate::null(C::Source))), [0; 0]);
    }

    #[test]
    fn of_a_null_nothing_is_known_but_that() {
        let failed = || Predicate::text(C::Errno, TextTest::among(["EBADF"])).expect("text");
        let reads = || names(&["read"]).expect("text");
        assert_eq!(lines(Ok(failed())), [3]);
        assert_eq!(lines(Ok(Predicate::not(failed()))), [0; 0]);
        assert_eq!(lines(Ok(Predicate::not(Predicate::null(C::Errno)))), [3]);
        assert_eq!(lines(Ok(Predicate::any(vec![failed(), reads()]))), [2, 3]);
        assert_eq!(lines(Ok(Predicate::all(vec![Predicate::not(failed()), reads()]))), [0; 0]);
        let neither = Predicate::not(Predicate::all(vec![failed(), reads()]));
        assert_eq!(lines(Ok(neither)), [1, 4, 5, 6]);
        assert_eq!(lines(Ok(Predicate::all(vec![]))), [1, 2, 3, 4, 5, 6]);
        assert_eq!(lines(Ok(Predicate::any(vec![]))), [0; 0]);
    }

    #[test]
    fn a_column_of_the_wrong_kind_is_refused() {
        let error = Predicate::among(C::Path, vec![1]).unwrap_err();
        assert_eq!(error.to_string(), "'path' holds text");
        let error = Predicate::text(C::Ts, TextTest::contains("1")).unwrap_err();
        assert_eq!(error.to_string(), "'ts' holds numbers");
    }

    proptest! {
        #[test]
        fn a_view_is_judged_as_its_text(text in "[ab]{0,16}", of in "[ab]{0,6}", all in "[ab]{0,14}") {
            let view = pack(text.as_bytes(), Place::Text, 0);
            let tests = [
                TextTest::among([&of, &all, &text[..text.len() / 2]]),
                TextTest::among([&text]),
                TextTest::starts_with(&of),
                TextTest::starts_with(&text[..text.len() / 2]),
                TextTest::ends_with(&of),
                TextTest::contains(&of),
            ];
            for test in tests {
                let holds = test.holds(text.as_bytes());
                prop_assert_eq!(test.holds_view(view, text.as_bytes(), b""), holds, "{:?}", test);
            }
        }
    }
}
