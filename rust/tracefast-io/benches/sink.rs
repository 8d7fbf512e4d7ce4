//! What writing costs: the parquet crate's own writer, our encoders, and Arrow IPC, on batches that
//! look like those of an strace log.
//!
//! `cargo bench -p tracefast-io --bench sink [-- FOLDER]` prints nanoseconds a row on one thread; with
//! a folder, the files stay there. With `TRACEFAST_LOG=FILE` the argument texts are those of a real
//! log.

#![allow(missing_docs)]
#![allow(clippy::print_stdout, clippy::cast_precision_loss)]
#![allow(clippy::from_iter_instead_of_collect)] // The array's type is what matters.

#[path = "../tests/support/mod.rs"]
mod support;

use std::sync::Arc;
use std::time::Instant;

use arrow_array::builder::StringViewBuilder;
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Int32Array, Int64Array, RecordBatch, StringArray,
    TimestampNanosecondArray, UInt32Array, UInt64Array, new_null_array,
};
use support::{Numbers, own, stock};
use tracefast_core::schema::{COLUMNS, Column as C, schema};
use tracefast_io::sink::{IpcAppender, IpcEncoder, ParquetEncoder, ParquetOptions};

const ROWS: usize = 131_072;
const BATCH: usize = 65_536;

fn main() {
    // `cargo test --all-targets` builds and starts this too.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let folder = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let groups: Vec<Vec<RecordBatch>> =
        rows(4 * ROWS).chunks(ROWS / BATCH).map(<[RecordBatch]>::to_vec).collect();
    let all: Vec<RecordBatch> = groups.concat();
    let groups: Vec<&[RecordBatch]> = groups.iter().map(Vec::as_slice).collect();
    let count = all.iter().map(RecordBatch::num_rows).sum::<usize>();
    let mut keep = |name: &str, bytes: &[u8]| {
        if let Some(folder) = &folder {
            std::fs::write(std::path::Path::new(folder).join(name), bytes).unwrap();
        }
    };

    let time = |name: &str, keep: &mut dyn FnMut(&str, &[u8]), f: &dyn Fn() -> Vec<u8>| {
        let mut best = f64::INFINITY;
        let mut file = Vec::new();
        for _ in 0..5 {
            let start = Instant::now();
            file = f();
            best = best.min(start.elapsed().as_secs_f64());
        }
        let bytes = file.len();
        println!(
            "{name:20} {:7.1} ns/row {:6.2} bytes/row",
            best * 1e9 / count as f64,
            bytes as f64 / count as f64
        );
        keep(name, &file);
    };
    time("stock.parquet", &mut keep, &|| stock(&all, ROWS));
    time("own.parquet", &mut keep, &|| own(&groups));
    time("own.arrow", &mut keep, &|| {
        let encoder = IpcEncoder::new();
        let mut appender = IpcAppender::try_new(Vec::new()).unwrap();
        for group in &groups {
            appender.append(encoder.encode(group).unwrap()).unwrap();
        }
        appender.finish(vec![("tracefast.clock".into(), "epoch".into())]).unwrap()
    });

    if std::env::var_os("TRACEFAST_COLUMNS").is_some() {
        by_column(&all[..ROWS / BATCH]);
    }
}

/// What each column adds, by leaving out its values.
fn by_column(group: &[RecordBatch]) {
    let encoder = ParquetEncoder::try_new(ParquetOptions::default()).unwrap();
    let time = |group: &[RecordBatch]| {
        let mut best = f64::INFINITY;
        let mut bytes = 0;
        for _ in 0..15 {
            let start = Instant::now();
            bytes = encoder.encode(group).unwrap().bytes();
            best = best.min(start.elapsed().as_secs_f64());
        }
        (best * 1e9 / ROWS as f64, bytes)
    };
    let nulls = |column: usize, batch: &RecordBatch| {
        new_null_array(&COLUMNS[column].2.data_type(), batch.num_rows())
    };
    let empty: Vec<RecordBatch> = group
        .iter()
        .map(|batch| {
            let columns = (0..COLUMNS.len()).map(|i| nulls(i, batch)).collect();
            RecordBatch::try_new(schema(), columns).unwrap()
        })
        .collect();
    let (base, base_bytes) = time(&empty);
    println!("{:20} {base:7.1} ns/row", "nothing");
    for (i, &(_, name, _)) in COLUMNS.iter().enumerate() {
        if group[0].column(i).null_count() == group[0].num_rows() {
            continue;
        }
        let one: Vec<RecordBatch> = group
            .iter()
            .map(|batch| {
                let columns = (0..COLUMNS.len())
                    .map(|j| if i == j { Arc::clone(batch.column(i)) } else { nulls(j, batch) })
                    .collect();
                RecordBatch::try_new(schema(), columns).unwrap()
            })
            .collect();
        let (time, bytes) = time(&one);
        let bytes = (bytes - base_bytes.min(bytes)) as f64 / ROWS as f64;
        println!("  {name:18} {:7.1} ns/row {bytes:6.2} bytes/row", time - base);
    }
}

/// Argument texts of a real log, or made-up ones.
fn arguments(numbers: &mut Numbers) -> Vec<String> {
    let log = std::env::var_os("TRACEFAST_LOG").and_then(|path| std::fs::read(path).ok());
    if let Some(log) = log {
        return String::from_utf8_lossy(&log)
            .lines()
            .filter_map(|line| {
                let start = line.find('(')? + 1;
                let end = line.rfind(") = ")?;
                line.get(start..end).map(str::to_owned)
            })
            .collect();
    }
    (0..50_000)
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
        .collect()
}

/// Rows like those of `strace -f -ttt -T -yy`.
fn rows(count: usize) -> Vec<RecordBatch> {
    let mut numbers = Numbers(42);
    let arguments = arguments(&mut numbers);
    let names: Vec<String> = (0..40).map(|i| format!("syscall{i}")).collect();
    let paths: Vec<String> = (0..300).map(|i| format!("/usr/lib/python3/part{i}.so")).collect();
    let mut ts = 1_700_000_000_000_000_000_i64;
    let mut line = 0_u64;
    let mut at = 0;
    (0..count / BATCH)
        .map(|i| {
            // The vocabulary grows as the log goes on.
            let names = &names[..(33 + i).min(names.len())];
            batch(&mut numbers, &arguments, names, &paths, (&mut ts, &mut line, &mut at))
        })
        .collect()
}

fn batch(
    numbers: &mut Numbers,
    arguments: &[String],
    names: &[String],
    paths: &[String],
    (ts, line, at): (&mut i64, &mut u64, &mut usize),
) -> RecordBatch {
    let n = BATCH;
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
