//! What finding the lines of an ftrace log and the columns of each costs, on one thread:
//! `cargo bench -p tracefast-benches --bench headers`, on the log that ships with the project, or on
//! that of `TRACEFAST_BENCH_LOG=FILE`.
//!
//! With `TRACEFAST_BENCH_STAGE=headers` the file is read once, in pieces, as `wc` reads it, and
//! what was measured is one line of JSON: see `benches/cases.py`.

#![allow(clippy::print_stdout)]

mod support;

use std::fs::File;
use std::io::{self, Read};
use std::time::Instant;

use tracefast_benches::logs::{logs, named};
use tracefast_core::ftrace::header::{Layout, layouts::parse};
use tracefast_core::ftrace::{self, header::Header};
use tracefast_core::text::block::PAD;
use tracefast_core::text::scan::{Marks, structure};

const PIECE: usize = 256 << 10;

/// Lines that decide the usual layout.
const LOOK: usize = 1 << 20;

fn main() -> io::Result<()> {
    if std::env::var_os("TRACEFAST_BENCH_STAGE").is_some() {
        let file = named();
        return once(&file.ok_or_else(|| io::Error::other("TRACEFAST_BENCH_LOG names no log"))?);
    }
    let mut criterion = support::criterion();
    for (name, text) in logs(&["ftrace"])? {
        let layout = usual(&text[..text.len().min(LOOK)]);
        let mut group = criterion.benchmark_group(&name);
        let lines = memchr::memchr_iter(b'\n', &text).count();
        group.throughput(support::throughput(lines as u64, text.len()));
        group.bench_function("lines", |bench| {
            bench.iter(|| scan(&text[..], |line| _ = std::hint::black_box(line)));
        });
        group.bench_function("headers", |bench| {
            bench.iter(|| {
                let mut seen = Seen::default();
                scan(&text[..], |line| seen.see(parse(line, layout)))
            });
        });
        group.finish();
    }
    criterion.final_summary();
    Ok(())
}

/// Reads a file once, and prints what that took.
fn once(file: &str) -> io::Result<()> {
    let start = Instant::now();
    let mut head = Vec::new();
    File::open(file)?.take(LOOK as u64).read_to_end(&mut head)?;
    let layout = usual(&head);
    let mut seen = Seen::default();
    scan(File::open(file)?, |line| seen.see(parse(line, layout)))?;
    let seconds = start.elapsed().as_secs_f64();
    let Seen { lines, records, time, .. } = seen;
    println!(
        r#"{{"seconds": {seconds}, "rows": {records}, "lines": {lines}, "peak": {}, "time": {time}}}"#,
        peak()?
    );
    Ok(())
}

/// The layout of most lines.
fn usual(head: &[u8]) -> Layout {
    ftrace::detect(head).map_or(Layout::Default, |format| format.layout)
}

/// A sum over all columns, so that none goes unread.
#[derive(Default)]
struct Seen {
    lines: u64,
    records: u64,
    time: i64,
    others: u64,
}

impl Seen {
    fn see(&mut self, header: Option<Header>) {
        self.lines += 1;
        let Some(header) = header else { return };
        self.records += 1;
        self.time = self.time.max(header.time.unwrap_or(0));
        let comm = header.comm.map_or(0, |(start, end)| end - start);
        let flags = header.flags.1 - header.flags.0;
        let numbers = header.pid.unwrap_or(0) as u64 + u64::from(header.cpu.unwrap_or(0));
        self.others += numbers + (comm + flags + header.payload) as u64;
        std::hint::black_box(self.others);
    }
}

/// Calls `see` with each line.
fn scan(mut log: impl Read, mut see: impl FnMut(&[u8])) -> io::Result<()> {
    let mut buffer = vec![0; PIECE + 2 * PAD];
    let mut marks = Marks::default();
    let mut len = 0;
    loop {
        if len == buffer.len() - 2 * PAD {
            buffer.resize(2 * buffer.len(), 0);
        }
        let end = buffer.len() - PAD;
        let more = log.read(&mut buffer[PAD + len..end])?;
        len += more;
        if more == 0 {
            if len > 0 {
                see(&buffer[PAD..PAD + len]);
            }
            return Ok(());
        }
        structure(&buffer, len, &mut marks);
        let text = &buffer[PAD..PAD + len];
        let mut start = 0;
        // The structure pass also marks the results of strace's lines.
        for at in marks.positions().iter().map(|&at| at as usize).filter(|&at| text[at] == b'\n') {
            see(&text[start..at]);
            start = at + 1;
        }
        buffer.copy_within(PAD + start..PAD + len, PAD);
        len -= start;
    }
}

/// Largest resident memory of this process so far, bytes.
fn peak() -> io::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    Ok(kib.unwrap_or(0) * 1024)
}
