//! What writing costs, on one thread: the parquet crate's own writer, our encoders, and Arrow IPC,
//! on batches that look like those of an strace log, and the Parquet encoder of each column alone.
//!
//! `cargo bench -p tracefast-benches --bench sink [-- PART OF A NAME]`. The bytes a second of `files`
//! are those of the file. With `TRACEFAST_BENCH_LOG=FILE` the argument texts are those of a log of
//! strace.

#![allow(missing_docs)]
#![allow(clippy::from_iter_instead_of_collect)] // The array's type is what matters.

#[path = "../../tracefast-io/tests/support/mod.rs"]
mod sinks;
mod support;

use std::io;
use std::sync::Arc;

use arrow_array::builder::StringViewBuilder;
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Int32Array, Int64Array, RecordBatch, StringArray,
    TimestampNanosecondArray, UInt16Array, UInt32Array, UInt64Array, new_null_array,
};
use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput};
use sinks::{Numbers, own, stock};
use tracefast_benches::logs::{in_earnest, logs, named};
use tracefast_core::events::schema::{COLUMNS, Column as C, schema};
use tracefast_io::sink::{IpcAppender, IpcEncoder, ParquetEncoder, ParquetOptions};

/// Batches of a row group.
const BATCHES: usize = 2;

fn main() -> io::Result<()> {
    let (groups, rows) = if in_earnest() { (4, 65_536) } else { (2, 500) };
    let batches = batches(groups * BATCHES, rows)?;
    let mut criterion = support::criterion();
    files(&mut criterion, &batches);
    let group: Vec<RecordBatch> = batches[..BATCHES].iter().map(with_processors).collect();
    columns(&mut criterion, &group);
    criterion.final_summary();
    Ok(())
}

/// Whole files.
fn files(criterion: &mut Criterion, batches: &[RecordBatch]) {
    let groups: Vec<&[RecordBatch]> = batches.chunks(BATCHES).collect();
    let rows = batches.iter().map(RecordBatch::num_rows).sum::<usize>();
    let ipc = || {
        let encoder = IpcEncoder::new();
        let mut appender = IpcAppender::try_new(Vec::new()).unwrap();
        for group in &groups {
            appender.append(encoder.encode(group).unwrap()).unwrap();
        }
        appender.finish(vec![("tracefast.clock".into(), "epoch".into())]).unwrap()
    };
    let mut group = criterion.benchmark_group("files");
    group.sampling_mode(SamplingMode::Flat);
    let writers: [(&str, &dyn Fn() -> Vec<u8>); 3] = [
        ("stock.parquet", &|| stock(batches, rows / groups.len())),
        ("own.parquet", &|| own(&groups)),
        ("own.arrow", &ipc),
    ];
    for (name, write) in writers {
        group.throughput(support::throughput(rows as u64, write().len()));
        group.bench_function(name, |bench| bench.iter(write));
    }
    group.finish();
}

/// The batch with processors, which logs of strace do not have: no other column is of that kind.
fn with_processors(batch: &RecordBatch) -> RecordBatch {
    let mut numbers = Numbers(7);
    let mut columns = batch.columns().to_vec();
    columns[C::Cpu as usize] = Arc::new(UInt16Array::from_iter_values(
        (0..batch.num_rows()).map(|_| numbers.below(16) as u16),
    ));
    RecordBatch::try_new(schema(), columns).unwrap()
}

/// A row group in which one column has values, for each column that can have any: the cost of
/// encoding it on top of `columns/nothing`, a row group of nulls.
fn columns(criterion: &mut Criterion, batches: &[RecordBatch]) {
    let encoder = ParquetEncoder::try_new(ParquetOptions::default()).unwrap();
    let rows = batches.iter().map(RecordBatch::num_rows).sum::<usize>();
    let only = |wanted: Option<usize>| -> Vec<RecordBatch> {
        let nulls = |i: usize, rows| new_null_array(&COLUMNS[i].2.data_type(), rows);
        let batch = |batch: &RecordBatch| {
            let column = |i| match wanted {
                Some(wanted) if wanted == i => Arc::clone(batch.column(i)),
                _ => nulls(i, batch.num_rows()),
            };
            RecordBatch::try_new(schema(), (0..COLUMNS.len()).map(column).collect()).unwrap()
        };
        batches.iter().map(batch).collect()
    };
    let mut group = criterion.benchmark_group("columns");
    group.throughput(Throughput::Elements(rows as u64));
    let empty = only(None);
    group.bench_function("nothing", |bench| {
        bench.iter(|| encoder.encode(empty.as_slice()).unwrap());
    });
    for (i, (_, name, kind)) in COLUMNS.iter().enumerate() {
        if batches[0].column(i).null_count() == batches[0].num_rows() {
            continue;
        }
        let one = only(Some(i));
        group.bench_function(BenchmarkId::new(format!("{kind:?}"), name), |bench| {
            bench.iter(|| encoder.encode(one.as_slice()).unwrap());
        });
    }
    group.finish();
}

/// Argument texts of a real log, or made-up ones.
fn arguments(numbers: &mut Numbers) -> io::Result<Vec<String>> {
    if named().is_some() {
        let (_, log) = logs(&[])?.remove(0);
        return Ok(String::from_utf8_lossy(&log)
            .lines()
            .filter_map(|line| {
                let start = line.find('(')? + 1;
                let end = line.rfind(") = ")?;
                line.get(start..end).map(str::to_owned)
            })
            .collect());
    }
    let made = (0..50_000)
        .map(|_| {
            let fd = numbers.below(20) + 3;
            let file = numbers.below(300);
            match numbers.below(5) {
                0 => format!("AT_FDCWD</srv/work>, \"/usr/lib/part{file}.so\", O_RDONLY|O_CLOEXEC"),
                1 => format!("{fd}</usr/lib/part{file}.so>, \"{:x}\"..., 832", numbers.next()),
                2 => format!("NULL, {}, PROT_READ, MAP_PRIVATE, {fd}, 0", numbers.below(1 << 20)),
                3 => format!("{fd}</usr/lib/part{file}.so>"),
                _ => format!("0x7f{:010x}, FUTEX_WAKE_PRIVATE, 1", numbers.below(1 << 40)),
            }
        })
        .collect();
    Ok(made)
}

/// Rows like those of `strace -f -ttt -T -yy`.
fn batches(count: usize, rows: usize) -> io::Result<Vec<RecordBatch>> {
    let mut numbers = Numbers(42);
    let arguments = arguments(&mut numbers)?;
    let names: Vec<String> = (0..40).map(|i| format!("syscall{i}")).collect();
    let paths: Vec<String> = (0..300).map(|i| format!("/usr/lib/python3/part{i}.so")).collect();
    let mut ts = 1_700_000_000_000_000_000_i64;
    let mut line = 0_u64;
    let mut at = 0;
    let made = (0..count)
        .map(|i| {
            // The vocabulary grows as the log goes on.
            let names = &names[..(33 + i).min(names.len())];
            batch(rows, &mut numbers, &arguments, names, &paths, (&mut ts, &mut line, &mut at))
        })
        .collect();
    Ok(made)
}

fn batch(
    n: usize,
    numbers: &mut Numbers,
    arguments: &[String],
    names: &[String],
    paths: &[String],
    (ts, line, at): (&mut i64, &mut u64, &mut usize),
) -> RecordBatch {
    // Rows that have to do with a file; the others have fewer columns.
    let with_file: Vec<bool> = (0..n).map(|_| numbers.below(10) < 6).collect();
    let transfer: Vec<bool> = with_file.iter().map(|&f| f && numbers.below(10) < 5).collect();
    let file: Vec<u64> = (0..n).map(|_| numbers.below(300) * numbers.below(300) / 300).collect();
    let tid: Vec<u64> = {
        let mut tid = 0;
        (0..n)
            .map(|_| {
                if numbers.below(4) == 0 {
                    tid = numbers.below(24);
                }
                tid
            })
            .collect()
    };
    let size = |numbers: &mut Numbers| [832, 4096, 4096, 65_536, 17][numbers.below(5) as usize];
    let dictionary = |keys: Vec<Option<u32>>, words: Vec<&str>| -> ArrayRef {
        Arc::new(DictionaryArray::new(UInt32Array::from(keys), Arc::new(StringArray::from(words))))
    };
    let constant = |word: &str| dictionary(vec![Some(0); n], vec![word]);
    let when = |mask: &[bool], f: &mut dyn FnMut(usize) -> i64| -> ArrayRef {
        Arc::new(Int64Array::from_iter((0..n).map(|i| mask[i].then(|| f(i)))))
    };
    let columns = COLUMNS
        .iter()
        .map(|&(column, _, kind)| -> ArrayRef {
            match column {
                C::Ts => Arc::new(TimestampNanosecondArray::from_iter_values((0..n).map(|_| {
                    *ts += numbers.below(400) as i64 * 1000;
                    *ts
                }))),
                C::DurNs => when(&vec![true; n], &mut |_| {
                    (numbers.below(60) * numbers.below(30)) as i64 * 1000
                }),
                C::Task => Arc::new(UInt32Array::from_iter_values(tid.iter().map(|&t| t as u32))),
                C::Pid => Arc::new(Int32Array::from_iter_values(
                    tid.iter().map(|&t| 4000 + t as i32 / 6 * 6),
                )),
                C::Tid => {
                    Arc::new(Int32Array::from_iter_values(tid.iter().map(|&t| 4000 + t as i32)))
                }
                C::Kind => dictionary(
                    (0..n).map(|_| Some(u32::from(numbers.below(200) == 0))).collect(),
                    vec!["syscall", "signal"],
                ),
                C::Name => dictionary(
                    (0..n)
                        .map(|_| {
                            Some(
                                (numbers.below(names.len() as u64) * numbers.below(40) / 40) as u32,
                            )
                        })
                        .collect(),
                    names.iter().map(String::as_str).collect(),
                ),
                C::Args => {
                    let mut builder = StringViewBuilder::new().with_fixed_block_size(256 << 10);
                    for _ in 0..n {
                        builder.append_value(&arguments[*at % arguments.len()]);
                        *at += 1;
                    }
                    Arc::new(builder.finish())
                }
                C::Ret => when(&vec![true; n], &mut |i| match numbers.below(12) {
                    0 => -1,
                    1 => 0x7f00_0000_0000 + numbers.below(1 << 12) as i64 * 4096,
                    _ if transfer[i] => size(numbers),
                    _ => numbers.below(30) as i64,
                }),
                C::Errno => dictionary(
                    (0..n)
                        .map(|_| (numbers.below(12) == 0).then(|| numbers.below(3) as u32))
                        .collect(),
                    vec!["ENOENT", "EAGAIN", "ENOTTY"],
                ),
                C::Status => constant("complete"),
                C::Source => constant("app.strace"),
                C::Fd => Arc::new(Int32Array::from_iter(
                    (0..n).map(|i| with_file[i].then(|| numbers.below(20) as i32 + 3)),
                )),
                C::Ofd => Arc::new(UInt32Array::from_iter(
                    (0..n).map(|i| with_file[i].then(|| file[i] as u32 * 7)),
                )),
                C::Path => {
                    let mut builder = StringViewBuilder::new().with_fixed_block_size(256 << 10);
                    for i in 0..n {
                        builder.append_option(with_file[i].then(|| &paths[file[i] as usize]));
                    }
                    Arc::new(builder.finish())
                }
                C::File => Arc::new(UInt64Array::from_iter(
                    (0..n).map(|i| with_file[i].then(|| Numbers(file[i]).next())),
                )),
                C::FileType => dictionary(
                    (0..n).map(|i| with_file[i].then_some((file[i] % 9 / 7) as u32)).collect(),
                    vec!["regular", "pipe"],
                ),
                C::Offset => {
                    let mut ends = vec![0; paths.len()];
                    when(&transfer, &mut |i| {
                        ends[file[i] as usize] += size(numbers);
                        ends[file[i] as usize]
                    })
                }
                C::OffsetKnown => dictionary(
                    (0..n).map(|i| transfer[i].then_some(0)).collect(),
                    vec!["exact", "relative"],
                ),
                C::Requested | C::Bytes => when(&transfer, &mut |_| size(numbers)),
                C::Access => dictionary(
                    (0..n).map(|i| transfer[i].then(|| (numbers.below(9) / 4) as u32)).collect(),
                    vec!["consecutive", "forward", "first"],
                ),
                C::Size => when(
                    &with_file.iter().map(|&f| f && numbers.below(20) == 0).collect::<Vec<_>>(),
                    &mut |i| file[i] as i64 * 1000,
                ),
                C::Line => Arc::new(UInt64Array::from_iter_values((0..n).map(|_| {
                    *line += 1 + numbers.below(20) / 19;
                    *line
                }))),
                _ => new_null_array(&kind.data_type(), n),
            }
        })
        .collect();
    RecordBatch::try_new(schema(), columns).unwrap()
}
