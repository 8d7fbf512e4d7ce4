//! One record batch out of parts of resolved blocks.
//!
//! A column of numbers is copied row by row. Texts are not copied: their views point into the
//! buffers of the blocks, which the batch keeps alive.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, Int32Array, Int64Array, RecordBatch, RecordBatchOptions, StringArray,
    StringViewArray, TimestampNanosecondArray, UInt16Array, UInt32Array, UInt64Array,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};
use multiversion::multiversion;

use crate::batch::part::Part;
use crate::batch::projection::Projection;
use crate::batch::shared_arrays::{dictionary, no_keys, nulls, view_of, views_over, vocabulary};
use crate::batch::validity::planes;
use crate::events::rows::Rows;
use crate::events::schema::{Column as C, Kind};
use crate::events::vocabulary::{Access, EventKind, FileType, OffsetKnown, Status};
use crate::serial::resolved_block::{DictionaryValues, ResolvedBlock};
use crate::text::string_view::{INLINE, Place, pack, unpack};

/// Text is copied out of its blocks where fewer than one of this many rows is selected.
const KEPT: usize = 4;

/// Makes one batch of `parts`.
///
/// # Panics
/// Never: the arrays have the schema's types and one length.
pub fn assemble(parts: &[Part], projection: &Projection, values: &DictionaryValues) -> RecordBatch {
    make(parts, projection, values, false)
}

/// As [`assemble`], for rows that a predicate selected. If they are few, their text is copied, so
/// that the batch does not keep the text of whole blocks alive.
///
/// # Panics
/// Never, as [`assemble`].
pub fn assemble_selected(
    parts: &[Part],
    projection: &Projection,
    values: &DictionaryValues,
) -> RecordBatch {
    let len: usize = parts.iter().map(Part::len).sum();
    let kept: usize = blocks(parts).map(|block| block.len()).sum();
    make(parts, projection, values, len < kept / KEPT)
}

/// The blocks of all parts, in order.
fn blocks(parts: &[Part]) -> impl Iterator<Item = &Arc<ResolvedBlock>> {
    let mut last: Option<&Arc<ResolvedBlock>> = None;
    parts.iter().map(|part| &part.block).filter(move |block| {
        let other = last.is_none_or(|last| !Arc::ptr_eq(last, block));
        last = Some(block);
        other
    })
}

fn make(
    parts: &[Part],
    projection: &Projection,
    values: &DictionaryValues,
    copied: bool,
) -> RecordBatch {
    let len = parts.iter().map(Part::len).sum();
    let valid: Vec<Cow<'_, [u64]>> = parts.iter().map(Part::valid).collect();
    let (mut any, mut all) = (0, u64::MAX);
    let mut any_of = Vec::with_capacity(parts.len());
    for part in &valid {
        let mut some = 0;
        for &valid in &**part {
            some |= valid;
            all &= valid;
        }
        any |= some;
        any_of.push(some);
    }
    let planes = planes(&valid, len);
    let buffers = buffers(parts);
    let batch = Batch { parts, len, copied, valid, any, all, any_of, planes, buffers };
    let arrays = projection
        .columns
        .iter()
        .map(|&column| {
            let [names, .., sources] = &values.open;
            match column {
                C::Name if projection.plain_words => batch.plain_names(names),
                C::Source if projection.plain_words => batch.plain_sources(sources),
                _ => batch.column(column, values),
            }
        })
        .collect();
    let options = RecordBatchOptions::new().with_row_count(Some(len));
    RecordBatch::try_new_with_options(projection.schema(), arrays, &options)
        .expect("arrays of the schema's types and one length")
}

/// The texts of all parts: two for each block, in order.
fn buffers(parts: &[Part]) -> Arc<[Buffer]> {
    let mut out: Vec<Buffer> = Vec::with_capacity(2 * parts.len());
    for block in blocks(parts) {
        out.extend_from_slice(&block.buffers);
    }
    out.into()
}

/// Appends values of rows that have one, and the default for others. The bits of the rows are those
/// of `plane` from bit `at` on.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2"))]
fn put_valid<T: Copy, U: Copy + Default>(
    out: &mut Vec<U>,
    values: &[T],
    plane: &[u64],
    at: usize,
    map: impl Fn(T) -> U,
) {
    let mut at = at;
    for values in values.chunks(64) {
        let bits = bits(plane, at);
        at += values.len();
        let all = u64::MAX >> (64 - values.len());
        // Of most words all rows or none have a value.
        if bits & all == all {
            out.extend(values.iter().map(|&value| map(value)));
        } else if bits & all == 0 {
            out.resize(out.len() + values.len(), U::default());
        } else {
            out.extend(values.iter().zip(0..).map(|(&value, row): (_, u32)| {
                if bits >> row & 1 != 0 { map(value) } else { U::default() }
            }));
        }
    }
}

/// The 64 bits of a plane from bit `at` on; those behind its end are 0.
fn bits(plane: &[u64], at: usize) -> u64 {
    let word = |at: usize| plane.get(at).copied().unwrap_or(0);
    let (first, shift) = (at / 64, at % 64);
    // In two steps: no shift by 64.
    word(first) >> shift | word(first + 1) << 1 << (63 - shift)
}

struct Batch<'a> {
    parts: &'a [Part],
    len: usize,
    /// Text is copied out of its blocks.
    copied: bool,
    /// The validity masks of each part.
    valid: Vec<Cow<'a, [u64]>>,
    any: u64,
    all: u64,
    /// Columns of which each part has values: the slots of others need not be read.
    any_of: Vec<u64>,
    /// See [`planes`].
    planes: Vec<u64>,
    buffers: Arc<[Buffer]>,
}

impl Batch<'_> {
    fn column(&self, column: C, values: &DictionaryValues) -> ArrayRef {
        if column == C::Source {
            return self.source(&values.open[3]);
        }
        // Dictionaries keep their values in every batch, so that later ones extend earlier ones.
        if self.any & column.bit() == 0 && column.kind() != Kind::Dictionary {
            return nulls(column, self.len);
        }
        match column {
            C::Ts => {
                let values = self.values(column, |rows| &rows.ts);
                Arc::new(TimestampNanosecondArray::new(values, self.validity(column)))
            }
            C::DurNs => self.int64(column, |rows| &rows.dur),
            C::Ret => self.int64(column, |rows| &rows.ret),
            C::Size => self.int64(column, |rows| &rows.size),
            C::Offset => self.int64(column, |rows| &rows.offset),
            C::Offset2 => self.int64(column, |rows| &rows.offset2),
            C::Requested => self.int64(column, |rows| &rows.requested),
            C::Bytes => self.int64(column, |rows| &rows.bytes),
            C::AnonBytes => self.int64(column, |rows| &rows.anon_bytes),
            C::Task => self.uint32(column, |rows| &rows.task),
            C::Ofd => self.uint32(column, |rows| &rows.ofd),
            C::Ofd2 => self.uint32(column, |rows| &rows.ofd2),
            C::Child => self.uint32(column, |rows| &rows.child),
            C::Pid => self.int32(column, |rows| &rows.pid),
            C::Tid => self.int32(column, |rows| &rows.tid),
            C::Fd => self.int32(column, |rows| &rows.fd),
            C::Fd2 => self.int32(column, |rows| &rows.fd2),
            C::File => self.uint64(column, |rows| &rows.file),
            C::File2 => self.uint64(column, |rows| &rows.file2),
            C::Cpu => {
                let values = self.values(column, |rows| &rows.cpu);
                Arc::new(UInt16Array::new(values, self.validity(column)))
            }
            C::Name => self.open(column, |rows| &rows.name, 0, values),
            C::Errno => self.open(column, |rows| &rows.errno, 1, values),
            C::Comm => self.open(column, |rows| &rows.comm, 2, values),
            C::Kind => self.closed(column, |rows| &rows.kind, EventKind::TEXTS),
            C::Status => self.closed(column, |rows| &rows.status, Status::TEXTS),
            C::FileType => self.closed(column, |rows| &rows.file_type, FileType::TEXTS),
            C::OffsetKnown => self.closed(column, |rows| &rows.offset_known, OffsetKnown::TEXTS),
            C::Access => self.closed(column, |rows| &rows.access, Access::TEXTS),
            C::Access2 => self.closed(column, |rows| &rows.access2, Access::TEXTS),
            C::Args => self.views(column, |rows| &rows.args),
            C::Result => self.views(column, |rows| &rows.result),
            C::Path => self.views(column, |rows| &rows.path),
            C::Path2 => self.views(column, |rows| &rows.path2),
            C::Extra => self.views(column, |rows| &rows.extra),
            C::Line => self.line(),
            C::Source => unreachable!("handled above"),
        }
    }

    /// Values of a column; slots of nulls have the default, not what a block left there.
    fn values<T: Copy + Default + arrow_buffer::ArrowNativeType>(
        &self,
        column: C,
        get: impl Fn(&Rows) -> &Vec<T>,
    ) -> ScalarBuffer<T> {
        self.mapped(column, get, |_, value| value)
    }

    #[inline]
    fn mapped<T: Copy, U: Copy + Default + arrow_buffer::ArrowNativeType>(
        &self,
        column: C,
        get: impl Fn(&Rows) -> &Vec<T>,
        map: impl Fn(&ResolvedBlock, T) -> U,
    ) -> ScalarBuffer<U> {
        let mut out: Vec<U> = Vec::with_capacity(self.len);
        let full = self.all & column.bit() != 0;
        let plane = self.plane(column);
        for ((part, valid), any) in self.parts.iter().zip(&self.valid).zip(&self.any_of) {
            if any & column.bit() == 0 {
                out.resize(out.len() + valid.len(), U::default());
                continue;
            }
            let block = &*part.block;
            let values = get(block.rows());
            if let Some(picked) = &part.picked {
                out.extend(picked.iter().zip(&**valid).map(|(&row, &valid)| {
                    let known = valid & column.bit() != 0;
                    if known { map(block, values[row as usize]) } else { U::default() }
                }));
                continue;
            }
            let values = &values[part.rows.clone()];
            if full {
                out.extend(values.iter().map(|&value| map(block, value)));
            } else {
                let at = out.len();
                put_valid(&mut out, values, plane, at, |value| map(block, value));
            }
        }
        ScalarBuffer::from(out)
    }

    fn validity(&self, column: C) -> Option<NullBuffer> {
        if self.all & column.bit() != 0 {
            return None;
        }
        if self.any & column.bit() == 0 {
            return Some(NullBuffer::new_null(self.len));
        }
        let bits = self.plane(column).to_vec();
        Some(NullBuffer::new(BooleanBuffer::new(Buffer::from_vec(bits), 0, self.len)))
    }

    /// The bitmap of a column.
    fn plane(&self, column: C) -> &[u64] {
        let words = self.len.div_ceil(64);
        &self.planes[column as usize * words..][..words]
    }

    fn int64(&self, column: C, get: impl Fn(&Rows) -> &Vec<i64>) -> ArrayRef {
        Arc::new(Int64Array::new(self.values(column, get), self.validity(column)))
    }

    fn uint64(&self, column: C, get: impl Fn(&Rows) -> &Vec<u64>) -> ArrayRef {
        Arc::new(UInt64Array::new(self.values(column, get), self.validity(column)))
    }

    fn int32(&self, column: C, get: impl Fn(&Rows) -> &Vec<i32>) -> ArrayRef {
        Arc::new(Int32Array::new(self.values(column, get), self.validity(column)))
    }

    fn uint32(&self, column: C, get: impl Fn(&Rows) -> &Vec<u32>) -> ArrayRef {
        Arc::new(UInt32Array::new(self.values(column, get), self.validity(column)))
    }

    fn line(&self) -> ArrayRef {
        let values: ScalarBuffer<u64> =
            self.mapped(C::Line, |rows| &rows.line, |block, line| (block.line + line) as u64);
        Arc::new(UInt64Array::new(values, self.validity(C::Line)))
    }

    fn source(&self, values: &Arc<StringArray>) -> ArrayRef {
        // There is usually one log, which is the first.
        if self.parts.iter().all(|part| part.block.source == 0) {
            return dictionary(no_keys(self.len), None, values);
        }
        let mut keys: Vec<u32> = Vec::with_capacity(self.len);
        for part in self.parts {
            keys.resize(keys.len() + part.len(), part.block.source);
        }
        dictionary(keys.into(), None, values)
    }

    fn open(
        &self,
        column: C,
        get: impl Fn(&Rows) -> &Vec<u32>,
        which: usize,
        values: &DictionaryValues,
    ) -> ArrayRef {
        let keys = if self.any & column.bit() == 0 {
            no_keys(self.len)
        } else {
            self.mapped(column, get, |block, local| block.maps[which][local as usize])
        };
        dictionary(keys, self.validity(column), &values.open[which])
    }

    /// The names as views over the texts of their dictionary.
    fn plain_names(&self, texts: &StringArray) -> ArrayRef {
        let column = C::Name;
        if self.any & column.bit() == 0 {
            return nulls(C::Args, self.len);
        }
        let views: Vec<u128> = (0..texts.len()).map(|key| view_of(texts, key)).collect();
        let place =
            |block: &ResolvedBlock, local: u32| views[block.maps[0][local as usize] as usize];
        let views = self.mapped(column, |rows| &rows.name, place);
        #[allow(unsafe_code)]
        // SAFETY: every view is that of a text, or of no text.
        unsafe {
            views_over(texts, views, self.validity(column))
        }
    }

    /// The sources as such views: every row has the source of its block.
    fn plain_sources(&self, texts: &StringArray) -> ArrayRef {
        let mut views: Vec<u128> = Vec::with_capacity(self.len);
        for part in self.parts {
            // There may be thousands of sources, but few in a batch.
            let view = view_of(texts, part.block.source as usize);
            views.resize(views.len() + part.len(), view);
        }
        #[allow(unsafe_code)]
        // SAFETY: every view is that of a text.
        unsafe {
            views_over(texts, views.into(), None)
        }
    }

    fn closed(
        &self,
        column: C,
        get: impl Fn(&Rows) -> &Vec<u8>,
        texts: &'static [&'static str],
    ) -> ArrayRef {
        let keys = if self.any & column.bit() == 0 {
            no_keys(self.len)
        } else {
            self.mapped(column, get, |_, key| u32::from(key))
        };
        dictionary(keys, self.validity(column), &vocabulary(texts))
    }

    /// Views of several blocks: the number of a buffer becomes that among the buffers of all of
    /// them.
    fn views(&self, column: C, get: impl Fn(&Rows) -> &Vec<u128>) -> ArrayRef {
        if self.copied {
            return self.copied(column, get);
        }
        let mut out: Vec<u128> = Vec::with_capacity(self.len);
        let full = self.all & column.bit() != 0;
        let plane = self.plane(column);
        let mut base: u128 = 0;
        let mut last: Option<&Arc<ResolvedBlock>> = None;
        for ((part, valid), any) in self.parts.iter().zip(&self.valid).zip(&self.any_of) {
            if let Some(last) = last
                && !Arc::ptr_eq(last, &part.block)
            {
                base += 2;
            }
            last = Some(&part.block);
            if any & column.bit() == 0 {
                out.resize(out.len() + valid.len(), 0);
                continue;
            }
            let views = get(part.block.rows());
            let moved = base << 64;
            let place = |view: u128| {
                if view as u32 as usize <= INLINE { view } else { view + moved }
            };
            if let Some(picked) = &part.picked {
                out.extend(picked.iter().zip(&**valid).map(|(&row, &valid)| {
                    if valid & column.bit() != 0 { place(views[row as usize]) } else { 0 }
                }));
                continue;
            }
            let views = &views[part.rows.clone()];
            if full {
                out.extend(views.iter().map(|&view| place(view)));
            } else {
                let at = out.len();
                put_valid(&mut out, views, plane, at, place);
            }
        }
        let buffers = Arc::clone(&self.buffers);
        #[allow(unsafe_code)]
        // SAFETY: every view was packed over UTF-8 text of its own block (`string_view::pack`),
        // whose two buffers are at `base` of `buffers`; blocks are not written to after they are
        // resolved.
        let array =
            unsafe { StringViewArray::new_unchecked(out.into(), buffers, self.validity(column)) };
        Arc::new(array)
    }
}

impl Batch<'_> {
    /// As [`Batch::views`], with the text copied, so that the blocks can be freed.
    fn copied(&self, column: C, get: impl Fn(&Rows) -> &Vec<u128>) -> ArrayRef {
        let mut out: Vec<u128> = Vec::with_capacity(self.len);
        let mut texts: Vec<Buffer> = Vec::new();
        let mut copy: Vec<u8> = Vec::new();
        for (part, valid) in self.parts.iter().zip(&self.valid) {
            let views = get(part.block.rows());
            let [text, side] = &part.block.buffers;
            let mut one = |row: usize, valid: u64| {
                if valid & column.bit() == 0 {
                    return 0;
                }
                let view = &views[row];
                if *view as u32 as usize <= INLINE {
                    return *view;
                }
                let bytes = unpack(view, text, side);
                // Offsets in a buffer have 31 bits; a line is shorter (`text/block.rs`).
                if copy.len() + bytes.len() > i32::MAX as usize {
                    texts.push(std::mem::take(&mut copy).into());
                }
                let place = pack(bytes, Place::Text, copy.len()) + ((texts.len() as u128) << 64);
                copy.extend_from_slice(bytes);
                place
            };
            match &part.picked {
                Some(picked) => {
                    let rows = picked.iter().zip(&**valid);
                    out.extend(rows.map(|(&row, &valid)| one(row as usize, valid)));
                }
                None => out.extend(part.rows.clone().zip(&**valid).map(|(r, &v)| one(r, v))),
            }
        }
        texts.push(copy.into());
        let (texts, validity): (Arc<[Buffer]>, _) = (texts.into(), self.validity(column));
        #[allow(unsafe_code)]
        // SAFETY: a long view was packed over the UTF-8 text that was appended to the buffer whose
        // number it got, at the place that it got; the others hold their text themselves.
        let array = unsafe { StringViewArray::new_unchecked(out.into(), texts, validity) };
        Arc::new(array)
    }
}
