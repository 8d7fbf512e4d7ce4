//! Integer columns: differences for what grows, a dictionary for what repeats.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Int32Type, Int64Type, TimestampNanosecondType, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use parquet::basic::Encoding;

use crate::error::Result;
use crate::sink::non_null::walk;
use crate::sink::parquet::chunk::{Chunk, EncodedColumn, PageInfo};
use crate::sink::parquet::encoding::delta::{self, Width};
use crate::sink::parquet::encoding::rle_bit_packed::{key_width, put_keys, put_levels};
use crate::sink::parquet::pages::{self, Page};
use crate::sink::parquet::scratch::Buffers;
use crate::sink::parquet::statistics::{Order, Range, bounds};

/// Entries a dictionary of integers may have.
const MOST_ENTRIES: usize = 1 << 16;

/// How the integers of a column are ordered and stored, `None` for other types.
pub(crate) fn order(data_type: &DataType) -> Option<Order> {
    Some(match data_type {
        DataType::Int32 => Order::Signed(Width::W32),
        DataType::Int64 | DataType::Timestamp(..) => Order::Signed(Width::W64),
        DataType::UInt16 | DataType::UInt32 => Order::Unsigned(Width::W32),
        DataType::UInt64 => Order::Unsigned(Width::W64),
        _ => return None,
    })
}

/// Encodes a column as differences.
pub(crate) fn encode_deltas(
    mut chunk: Chunk<'_>,
    buffers: &mut Buffers,
    order: Order,
    arrays: &[ArrayRef],
) -> Result<EncodedColumn> {
    for page in pages::split(arrays) {
        let values = gather_page(&page, &mut buffers.values);
        let nulls = pages::validity(&page, &mut buffers.words);
        let rows = pages::rows(&page);
        buffers.page.clear();
        put_levels(&buffers.words, rows, &mut buffers.page);
        delta::put_integers(values, width(order), &mut buffers.page);
        let range = order.range(values);
        let encoding = Encoding::DELTA_BINARY_PACKED;
        chunk.page(&buffers.page, PageInfo { rows, nulls, encoding, range })?;
    }
    chunk.finish(true)
}

/// Encodes a column with a dictionary, or as differences when it would have too many entries.
pub(crate) fn encode_dictionary(
    mut chunk: Chunk<'_>,
    buffers: &mut Buffers,
    order: Order,
    arrays: &[ArrayRef],
) -> Result<EncodedColumn> {
    let pages = pages::split(arrays);
    let Some(ranges) = find_keys(&pages, order, buffers) else {
        return encode_deltas(chunk, buffers, order, arrays);
    };
    let entries = buffers.integers.entries.len();
    buffers.page.clear();
    for entry in &buffers.integers.entries {
        buffers.page.extend_from_slice(&entry.to_le_bytes()[..width(order).bytes()]);
    }
    chunk.dictionary(&buffers.page, entries)?;

    let mut keys = &buffers.keys[..];
    for (page, range) in pages.iter().zip(ranges) {
        let rows = pages::rows(page);
        let nulls = pages::validity(page, &mut buffers.words);
        let (here, rest) = keys.split_at(rows - nulls);
        keys = rest;
        buffers.page.clear();
        put_levels(&buffers.words, rows, &mut buffers.page);
        put_keys(here, key_width(entries), &mut buffers.page);
        let encoding = Encoding::RLE_DICTIONARY;
        chunk.page(&buffers.page, PageInfo { rows, nulls, encoding, range })?;
    }
    chunk.finish(true)
}

/// Fills `buffers.keys` with the keys of all values and returns the range of each page.
fn find_keys(pages: &[Page], order: Order, buffers: &mut Buffers) -> Option<Vec<Option<Range>>> {
    let present: usize = pages.iter().flatten().map(|array| array.len() - array.null_count()).sum();
    let mut filled = pages.iter().flatten().filter(|array| array.null_count() < array.len());
    let near = filled.try_fold((i64::MAX, i64::MIN), |(min, max), array| {
        let (low, high) = small_bounds(array)?;
        Some((min.min(low), max.max(high)))
    });
    let Buffers { integers, keys, values, .. } = buffers;
    integers.clear((present / 2 + 16).min(MOST_ENTRIES), near);
    keys.clear();
    let mut ranges = Vec::with_capacity(pages.len());
    for page in pages {
        let start = keys.len();
        if integers.near.is_empty() {
            integers.push_hashed(gather_page(page, values), keys)?;
        } else {
            page.iter().try_for_each(|array| integers.push_near(array, keys))?;
        }
        if pages.len() > 1 {
            values.clear();
            values.extend(keys[start..].iter().map(|&key| integers.entries[key as usize]));
            ranges.push(order.range(values));
        } else {
            // The only page holds nothing but what the dictionary holds.
            ranges.push(order.range(&integers.entries));
        }
    }
    Some(ranges)
}

/// Smallest and largest value of a column of small integers; slots under nulls count, too.
fn small_bounds(array: &ArrayRef) -> Option<(i64, i64)> {
    let (min, max) = match array.data_type() {
        DataType::Int32 => bounds(array.as_primitive::<Int32Type>().values(), |v| v)?,
        // As they are gathered: those above the largest signed one are far from the others.
        DataType::UInt32 => bounds(array.as_primitive::<UInt32Type>().values(), |v| v as i32)
            .filter(|&(min, _)| min >= 0)?,
        DataType::UInt16 => bounds(array.as_primitive::<UInt16Type>().values(), i32::from)?,
        _ => return None,
    };
    Some((min.into(), max.into()))
}

fn width(order: Order) -> Width {
    match order {
        Order::Signed(width) | Order::Unsigned(width) => width,
        Order::Text => Width::W64,
    }
}

/// Gathers the values of a page that are not null, in memory that only grows: what an earlier page
/// has left in it is not cleared first.
fn gather_page<'a>(page: &Page, memory: &'a mut Vec<i64>) -> &'a [i64] {
    let present = page.iter().map(|array| array.len() - array.null_count()).sum();
    if memory.len() < present {
        memory.resize(present, 0);
    }
    let values = &mut memory[..present];
    let mut places = values.iter_mut();
    for array in page {
        gather(array, &mut places);
    }
    values
}

type Places<'a> = std::slice::IterMut<'a, i64>;

/// Writes the values that are not null, sign-extended from their width in the file.
fn gather(array: &ArrayRef, out: &mut Places<'_>) {
    match array.data_type() {
        DataType::Int64 => gather_as::<Int64Type>(array, |v| v, out),
        DataType::Timestamp(..) => gather_as::<TimestampNanosecondType>(array, |v| v, out),
        DataType::UInt64 => gather_as::<UInt64Type>(array, |v| v as i64, out),
        DataType::Int32 => gather_as::<Int32Type>(array, i64::from, out),
        DataType::UInt32 => gather_as::<UInt32Type>(array, |v| i64::from(v as i32), out),
        DataType::UInt16 => gather_as::<UInt16Type>(array, i64::from, out),
        // `order` has no answer for other types, so that none comes here.
        _ => {}
    }
}

#[inline]
fn gather_as<T: ArrowPrimitiveType>(
    array: &ArrayRef,
    convert: impl Fn(T::Native) -> i64,
    out: &mut Places<'_>,
) {
    let Some(array) = array.as_primitive_opt::<T>() else { return };
    let values = &array.values()[..];
    let many = |out: &mut Places<'_>, range: std::ops::Range<usize>| {
        let places = out.by_ref().take(range.len());
        places.zip(&values[range]).for_each(|(place, &value)| *place = convert(value));
    };
    let one = |out: &mut Places<'_>, i: usize| {
        if let Some(place) = out.next() {
            *place = convert(values[i]);
        }
    };
    walk(array.nulls(), array.len(), out, many, one);
}

/// Numbers distinct integers in the order in which they appear.
#[derive(Debug, Default)]
pub(crate) struct Integers {
    entries: Vec<i64>,
    /// Open addressing, at most half full; the length is a power of two.
    slots: Vec<(i64, u32)>,
    /// Keys of values that are near one another, by their distance from `base`.
    near: Vec<u32>,
    base: i64,
    most: usize,
    /// Steps over occupied slots that are still allowed. A log can be made so that its numbers
    /// collide; it then loses its dictionary, not our time.
    patience: usize,
}

const EMPTY: (i64, u32) = (0, u32::MAX);

/// Most values from the smallest to the largest that count as near: their table stays in the cache.
const NEAR: i64 = 1 << 16;

impl Integers {
    /// Forgets all, keeps the memory. More than `most` distinct values will be too many; none will
    /// be below or above `bounds`, if these are known.
    fn clear(&mut self, most: usize, bounds: Option<(i64, i64)>) {
        self.entries.clear();
        self.slots.clear();
        self.near.clear();
        match bounds {
            Some((min, max)) if min <= max && max - min < NEAR => {
                self.base = min;
                self.near.resize((max - min) as usize + 1, EMPTY.1);
            }
            _ => self.slots.resize(256, EMPTY),
        }
        self.most = most;
        self.patience = 1 << 20;
    }

    /// Appends the key of each value of a column of small integers; `None` when there are too many.
    fn push_near(&mut self, array: &ArrayRef, keys: &mut Vec<u32>) -> Option<()> {
        match array.data_type() {
            DataType::Int32 => self.push_near_as::<Int32Type>(array, i64::from, keys),
            DataType::UInt32 => self.push_near_as::<UInt32Type>(array, |v| (v as i32).into(), keys),
            DataType::UInt16 => self.push_near_as::<UInt16Type>(array, i64::from, keys),
            // `small_bounds` has none for other types, so that none comes here.
            _ => None,
        }
    }

    #[inline]
    fn push_near_as<T: ArrowPrimitiveType>(
        &mut self,
        array: &ArrayRef,
        convert: impl Fn(T::Native) -> i64,
        keys: &mut Vec<u32>,
    ) -> Option<()> {
        let array = array.as_primitive_opt::<T>()?;
        let values = &array.values()[..];
        let Self { entries, near, base, most, .. } = self;
        let mut fit = true;
        let mut key = |value: T::Native| {
            let value = convert(value);
            let Some(slot) = near.get_mut(value.wrapping_sub(*base) as usize) else {
                fit = false;
                return 0;
            };
            if *slot == EMPTY.1 {
                if entries.len() == *most {
                    fit = false;
                    return 0;
                }
                *slot = entries.len() as u32;
                entries.push(value);
            }
            *slot
        };
        keys.reserve(array.len() - array.null_count());
        // An iterator of known length is appended without a look at the capacity for each key.
        let mut to = (&mut key, keys);
        walk(
            array.nulls(),
            array.len(),
            &mut to,
            |(key, keys), range| keys.extend(values[range].iter().map(|&value| key(value))),
            |(key, keys), i| keys.push(key(values[i])),
        );
        fit.then_some(())
    }

    /// Appends the key of each value; `None` when there are too many.
    fn push_hashed(&mut self, values: &[i64], keys: &mut Vec<u32>) -> Option<()> {
        keys.reserve(values.len());
        // The value before is the likeliest one.
        let (mut previous, mut known) = (0, EMPTY.1);
        for &value in values {
            if value == previous && known != EMPTY.1 {
                keys.push(known);
                continue;
            }
            let mut at = self.slot(value);
            let key = loop {
                let (found, key) = self.slots[at];
                if key == EMPTY.1 {
                    break self.insert(value, at)?;
                }
                if found == value {
                    break key;
                }
                at = (at + 1) & (self.slots.len() - 1);
                self.patience = self.patience.checked_sub(1)?;
            };
            keys.push(key);
            (previous, known) = (value, key);
        }
        Some(())
    }

    /// Where a value belongs: the upper bits of a product, which depend on all of its bits.
    #[inline]
    fn slot(&self, value: i64) -> usize {
        let hash = (value as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (hash >> (64 - self.slots.len().trailing_zeros())) as usize
    }

    #[cold]
    fn insert(&mut self, value: i64, at: usize) -> Option<u32> {
        if self.entries.len() == self.most {
            return None;
        }
        let key = self.entries.len() as u32;
        self.entries.push(value);
        self.slots[at] = (value, key);
        if self.entries.len() * 2 > self.slots.len() {
            let length = self.slots.len() * 4;
            self.slots.clear();
            self.slots.resize(length, EMPTY);
            for key in 0..self.entries.len() {
                let value = self.entries[key];
                let mut at = self.slot(value);
                while self.slots[at].1 != EMPTY.1 {
                    at = (at + 1) & (length - 1);
                    self.patience = self.patience.checked_sub(1)?;
                }
                self.slots[at] = (value, key as u32);
            }
        }
        Some(key)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::Int32Array;

    use super::*;

    #[test]
    fn keys_count_up_in_order_of_appearance() {
        let mut integers = Integers::default();
        integers.clear(10_000, None);
        let values: Vec<i64> = (0..20_000).map(|i| (i % 7_000) * -37).collect();
        let mut keys = Vec::new();
        integers.push_hashed(&values, &mut keys).unwrap();
        let expected: Vec<u32> = (0..20_000).map(|i| i % 7_000).collect();
        assert_eq!(keys, expected);
        assert_eq!(integers.entries.len(), 7_000);
    }

    fn push(integers: &mut Integers, values: &[i64], keys: &mut Vec<u32>) -> Option<()> {
        if integers.near.is_empty() {
            return integers.push_hashed(values, keys);
        }
        let array = Int32Array::from_iter_values(values.iter().map(|&value| value as i32));
        integers.push_near(&(Arc::new(array) as ArrayRef), keys)
    }

    #[test]
    fn too_many_values_are_refused() {
        let mut integers = Integers::default();
        for bounds in [None, Some((0, 10))] {
            integers.clear(10, bounds);
            let mut keys = Vec::new();
            assert!(push(&mut integers, &(0..10).collect::<Vec<_>>(), &mut keys).is_some());
            assert!(push(&mut integers, &[3, 10], &mut keys).is_none());
        }
    }

    #[test]
    fn near_values_get_the_same_keys() {
        let values: Vec<i64> = (0..9_000).map(|i: i64| i * i % 5_003 - 17).collect();
        let mut found = [Vec::new(), Vec::new()];
        let mut entries = Vec::new();
        for (keys, bounds) in found.iter_mut().zip([None, Some((-17, 4_985))]) {
            let mut integers = Integers::default();
            integers.clear(MOST_ENTRIES, bounds);
            assert_eq!(integers.near.is_empty(), bounds.is_none());
            push(&mut integers, &values, keys).unwrap();
            entries.push(integers.entries);
        }
        assert_eq!((&found[0], &entries[0]), (&found[1], &entries[1]));
    }

    #[test]
    fn values_made_to_collide_cost_no_time() {
        // The inverse of the multiplier turns neighbouring products into values.
        let mut inverse = 1_u64;
        for _ in 0..6 {
            let product = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(inverse);
            inverse = inverse.wrapping_mul(2_u64.wrapping_sub(product));
        }
        let values: Vec<i64> = (0..60_000).map(|i: u64| i.wrapping_mul(inverse) as i64).collect();
        let mut integers = Integers::default();
        integers.clear(MOST_ENTRIES, None);
        assert!(integers.push_hashed(&values, &mut Vec::new()).is_none());
    }
}
