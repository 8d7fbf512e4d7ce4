//! What tests and benches of the sinks share: batches, the stock writer, and cells to compare.

#![allow(dead_code)] // Each user needs a part.
#![allow(clippy::from_iter_instead_of_collect)] // The array's type is what matters.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Int32Type, Int64Type, TimestampNanosecondType, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Int32Array, Int64Array, RecordBatch, StringArray,
    StringViewArray, TimestampNanosecondArray, UInt16Array, UInt32Array, UInt64Array,
};
use arrow_schema::DataType;
use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use proptest::prelude::*;
use tracefast_core::events::schema::{COLUMNS, Kind, schema, with_plain_words};
use tracefast_io::sink::{ParquetAppender, ParquetEncoder, ParquetOptions};

/// A value, whatever the array that holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Cell {
    Null,
    Int(i128),
    Text(String),
}

/// The cells of a column.
pub(crate) fn cells(array: &dyn Array) -> Vec<Cell> {
    fn ints<T: ArrowPrimitiveType>(array: &dyn Array) -> Vec<Cell>
    where
        T::Native: Into<i128>,
    {
        let cell = |v: Option<T::Native>| v.map_or(Cell::Null, |v| Cell::Int(v.into()));
        array.as_primitive::<T>().iter().map(cell).collect()
    }
    let text = |v: Option<&str>| v.map_or(Cell::Null, |v| Cell::Text(v.to_owned()));
    if let Some(names) = array.as_string_opt::<i32>() {
        return names.iter().map(text).collect();
    }
    match kind_of(array) {
        Kind::Timestamp => ints::<TimestampNanosecondType>(array),
        Kind::I64 => ints::<Int64Type>(array),
        Kind::U64 => ints::<UInt64Type>(array),
        Kind::I32 => ints::<Int32Type>(array),
        Kind::U32 => ints::<UInt32Type>(array),
        Kind::U16 => ints::<UInt16Type>(array),
        Kind::View => array.as_string_view().iter().map(text).collect(),
        Kind::Dictionary => {
            let array = array.as_dictionary::<UInt32Type>();
            array.downcast_dict::<StringArray>().unwrap().into_iter().map(text).collect()
        }
    }
}

fn kind_of(array: &dyn Array) -> Kind {
    let same = |kind: &Kind| kind.data_type() == *array.data_type();
    COLUMNS.iter().map(|column| column.2).find(same).unwrap()
}

/// All columns of all batches.
pub(crate) fn table(batches: &[RecordBatch]) -> Vec<Vec<Cell>> {
    (0..COLUMNS.len())
        .map(|i| batches.iter().flat_map(|batch| cells(batch.column(i))).collect())
        .collect()
}

/// The file as the parquet crate's own writer makes it, with the same encodings.
pub(crate) fn stock(batches: &[RecordBatch], rows: usize) -> Vec<u8> {
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1).unwrap()))
        .set_max_row_group_row_count(Some(rows))
        .set_data_page_row_count_limit(65_536)
        .set_statistics_enabled(EnabledStatistics::Page);
    for name in ["ts", "dur_ns", "line", "offset", "offset2", "ofd"] {
        let path = ColumnPath::from(name);
        properties = properties
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
    }
    let args = ColumnPath::from("args");
    let properties = properties
        .set_column_dictionary_enabled(args.clone(), false)
        .set_column_encoding(args, Encoding::DELTA_BYTE_ARRAY)
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), schema(), Some(properties)).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.into_inner().unwrap()
}

/// The file as this crate makes it, a row group for each of `groups`.
pub(crate) fn own(groups: &[&[RecordBatch]]) -> Vec<u8> {
    let encoder = ParquetEncoder::try_new(ParquetOptions::default()).unwrap();
    let mut appender = ParquetAppender::try_new(Vec::new(), &encoder).unwrap();
    for group in groups {
        appender.append(encoder.encode(*group).unwrap()).unwrap();
    }
    appender.finish(Vec::new()).unwrap()
}

/// Reads a Parquet file with the parquet crate. The types must be those of the event schema, but
/// for names in our own files.
pub(crate) fn read(file: Vec<u8>) -> Vec<RecordBatch> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(file)).unwrap();
    let own = with_plain_words(&schema(), &DataType::Utf8);
    let found = reader.schema().fields();
    assert!(found == own.fields() || found == schema().fields(), "{found:?}");
    reader.build().unwrap().map(Result::unwrap).collect()
}

/// A small generator of numbers: the same seed, the same numbers.
#[derive(Debug, Clone)]
pub(crate) struct Numbers(pub u64);

impl Numbers {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

/// What the values of a column look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    AllNull,
    Constant,
    Few,
    Growing,
    Random,
    Extreme,
}

/// Texts that a dictionary column draws from: short, long, empty, of more than one byte a letter.
pub(crate) fn vocabulary(n: usize) -> Vec<String> {
    (0..n)
        .map(|i| match i % 5 {
            0 if i == 0 => String::new(),
            1 => format!("n{i}"),
            2 => format!("/a/rather/long/path/{i}"),
            3 => format!("ünïcödé-{i}-").repeat(9),
            _ => format!("call{i}"),
        })
        .collect()
}

/// A column of `rows` values. `nulls` of 8 rows are null.
pub(crate) fn column(
    kind: Kind,
    shape: Shape,
    nulls: u64,
    rows: usize,
    numbers: &mut Numbers,
    words: &[String],
) -> ArrayRef {
    let mut n = 0_u64;
    let values: Vec<Option<u64>> = (0..rows)
        .map(|_| {
            n = match shape {
                Shape::AllNull => return None,
                Shape::Constant => 7,
                Shape::Few => numbers.below(5),
                Shape::Growing => n.wrapping_add(numbers.below(100)),
                Shape::Random => numbers.next(),
                Shape::Extreme => {
                    let all =
                        [0, 1, u64::MAX, 1 << 63, (1 << 63) - 1, 1 << 31, u64::from(u32::MAX)];
                    all[numbers.below(7) as usize]
                }
            };
            (numbers.below(8) >= nulls).then_some(n)
        })
        .collect();
    let values = values.iter().copied();
    match kind {
        Kind::Timestamp => {
            Arc::new(TimestampNanosecondArray::from_iter(values.map(|v| v.map(|v| v as i64))))
        }
        Kind::I64 => Arc::new(Int64Array::from_iter(values.map(|v| v.map(|v| v as i64)))),
        Kind::U64 => Arc::new(UInt64Array::from_iter(values)),
        Kind::I32 => Arc::new(Int32Array::from_iter(values.map(|v| v.map(|v| v as i32)))),
        Kind::U32 => Arc::new(UInt32Array::from_iter(values.map(|v| v.map(|v| v as u32)))),
        Kind::U16 => Arc::new(UInt16Array::from_iter(values.map(|v| v.map(|v| v as u16)))),
        Kind::Dictionary => {
            let words = if words.is_empty() { vocabulary(1) } else { words.to_vec() };
            let count = words.len() as u64;
            let keys = UInt32Array::from_iter(values.map(|v| v.map(|v| (v % count) as u32)));
            Arc::new(DictionaryArray::new(keys, Arc::new(StringArray::from(words))))
        }
        Kind::View => {
            let text = |v: u64| match v % 4 {
                0 => String::new(),
                1 => format!("{}", v % 1000),
                2 => format!("/usr/lib/{v}"),
                _ => format!("\u{10ffff}\u{d7ff}{v}").repeat(1 + v as usize % 7),
            };
            Arc::new(StringViewArray::from_iter(values.map(|v| v.map(text))))
        }
    }
}

/// Every shape.
pub(crate) const SHAPES: [Shape; 6] =
    [Shape::AllNull, Shape::Constant, Shape::Few, Shape::Growing, Shape::Random, Shape::Extreme];

/// Batches of the event schema in which every column looks different. The vocabulary of the
/// dictionaries grows from batch to batch, as it does in the pipeline.
pub(crate) fn batches() -> impl Strategy<Value = Vec<RecordBatch>> {
    let shapes = prop::collection::vec((0..SHAPES.len(), 0_u64..8), COLUMNS.len());
    let sizes = prop::collection::vec((0_usize..300, 0_usize..20), 0..4);
    (shapes, sizes, any::<u64>()).prop_map(|(shapes, sizes, seed)| {
        let mut numbers = Numbers(seed);
        let mut words = 1;
        sizes
            .iter()
            .map(|&(rows, skip)| {
                words += numbers.below(4) as usize;
                let words = vocabulary(words);
                let columns = shapes.iter().zip(COLUMNS).map(|(&(shape, nulls), (_, _, kind))| {
                    // Slices do not start at a byte boundary of the bitmap.
                    let shape = SHAPES[shape];
                    column(kind, shape, nulls, rows + skip, &mut numbers, &words).slice(skip, rows)
                });
                RecordBatch::try_new(schema(), columns.collect()).unwrap()
            })
            .collect()
    })
}
