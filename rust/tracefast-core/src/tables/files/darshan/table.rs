//! The counters as a table, under Darshan's names and in its order.

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use std::cmp::Reverse;

use crate::hash::HashMap;
use crate::tables::files::darshan::record::{READ, Record, WRITE};
use crate::tables::names::Names;
use crate::tables::table_builder::TableBuilder;

type Row = (u32, Box<str>, Record);
type Origins = HashMap<u32, i64>;

const BUCKETS: [&str; 10] = [
    "0_100", "100_1K", "1K_10K", "10K_100K", "100K_1M", "1M_4M", "4M_10M", "10M_100M", "100M_1G",
    "1G_PLUS",
];

pub(crate) fn build(
    mut rows: Vec<Row>,
    sources: &Names,
    origins: &Origins,
) -> Result<RecordBatch, ArrowError> {
    rows.sort_by(|(a_source, a_path, a), (b_source, b_path, b)| {
        let bytes = |r: &Record| r.flows[READ].bytes.saturating_add(r.flows[WRITE].bytes);
        let order = |source, path, record| (Reverse(bytes(record)), path, sources.text(source));
        order(*a_source, a_path, a).cmp(&order(*b_source, b_path, b))
    });
    let mut table = TableBuilder::new(&rows);
    table.text("source", |(source, ..)| sources.text(*source));
    table.text("path", |(_, path, _)| Some(path));
    add_counters(&mut table);
    add_times(&mut table, origins);
    table.finish()
}

fn add_counters(table: &mut TableBuilder<'_, Row>) {
    let mut add = |name: String, counter: &dyn Fn(&Record) -> i64| {
        table.int64(format!("POSIX_{name}"), |(_, _, record)| Some(counter(record)));
    };
    let directions = [(READ, "READ"), (WRITE, "WRITE")];
    add("OPENS".into(), &|r| r.opens);
    add("DUPS".into(), &|r| r.dups);
    for (direction, name) in directions {
        add(format!("{name}S"), &|r| r.flows[direction].count);
    }
    add("SEEKS".into(), &|r| r.seeks);
    add("STATS".into(), &|r| r.stats);
    add("MMAPS".into(), &|r| r.mmaps);
    add("FSYNCS".into(), &|r| r.fsyncs);
    add("FDSYNCS".into(), &|r| r.fdatasyncs);
    add("RENAME_SOURCES".into(), &|r| r.rename_sources);
    add("RENAME_TARGETS".into(), &|r| r.rename_targets);
    let past = [(READ, "READ"), (WRITE, "WRITTEN")];
    for (direction, name) in past {
        add(format!("BYTES_{name}"), &|r| r.flows[direction].bytes);
    }
    for (direction, name) in past {
        add(format!("MAX_BYTE_{name}"), &|r| r.flows[direction].max_byte);
    }
    for (direction, name) in directions {
        add(format!("CONSEC_{name}S"), &|r| r.flows[direction].consecutive);
    }
    for (direction, name) in directions {
        add(format!("SEQ_{name}S"), &|r| r.flows[direction].sequential);
    }
    add("RW_SWITCHES".into(), &|r| r.switches);
    for (direction, name) in directions {
        add(format!("MAX_{name}_TIME_SIZE"), &|r| r.flows[direction].longest_size);
    }
    for (direction, name) in directions {
        for (at, bucket) in BUCKETS.iter().enumerate() {
            add(format!("SIZE_{name}_{bucket}"), &|r| r.flows[direction].buckets[at]);
        }
    }
    for at in 0..4 {
        add(format!("STRIDE{}_STRIDE", at + 1), &|r| r.strides.top()[at].0);
    }
    for at in 0..4 {
        add(format!("STRIDE{}_COUNT", at + 1), &|r| r.strides.top()[at].1);
    }
    for at in 0..4 {
        add(format!("ACCESS{}_ACCESS", at + 1), &|r| r.sizes.top()[at].0);
    }
    for at in 0..4 {
        add(format!("ACCESS{}_COUNT", at + 1), &|r| r.sizes.top()[at].1);
    }
}

/// Adds times in seconds. Timestamps count from the first event of the log. They are 0 if there was
/// no such call, as in Darshan's logs, and null if the log has no times.
fn add_times(table: &mut TableBuilder<'_, Row>, origins: &Origins) {
    #[allow(clippy::cast_precision_loss)] // Exact to the nanosecond for 104 days.
    let seconds = |ns: i64| ns as f64 / 1e9;
    let mut add = |name: &str, time: &dyn Fn(&Record, i64) -> Option<f64>| {
        table.float64(format!("POSIX_F_{name}"), |(source, _, record)| {
            time(record, origins.get(source).copied().unwrap_or(0))
        });
    };
    let since = |stamp: Option<i64>, origin: i64, timed: bool| match stamp {
        Some(ns) => Some(seconds(ns.saturating_sub(origin))),
        None => timed.then_some(0.0),
    };
    add("OPEN_START_TIMESTAMP", &|r, o| since(r.open.start, o, r.meta.ns().is_some()));
    for (direction, name) in [(READ, "READ_START_TIMESTAMP"), (WRITE, "WRITE_START_TIMESTAMP")] {
        add(name, &|r, o| {
            since(r.flows[direction].stamps.start, o, r.flows[direction].timer.ns().is_some())
        });
    }
    add("CLOSE_START_TIMESTAMP", &|r, o| since(r.close.start, o, r.meta.ns().is_some()));
    add("OPEN_END_TIMESTAMP", &|r, o| since(r.open.end, o, r.meta.ns().is_some()));
    for (direction, name) in [(READ, "READ_END_TIMESTAMP"), (WRITE, "WRITE_END_TIMESTAMP")] {
        add(name, &|r, o| {
            since(r.flows[direction].stamps.end, o, r.flows[direction].timer.ns().is_some())
        });
    }
    add("CLOSE_END_TIMESTAMP", &|r, o| since(r.close.end, o, r.meta.ns().is_some()));
    for (direction, name) in [(READ, "READ_TIME"), (WRITE, "WRITE_TIME")] {
        add(name, &|r, _| r.flows[direction].timer.ns().map(seconds));
    }
    add("META_TIME", &|r, _| r.meta.ns().map(seconds));
    for (direction, name) in [(READ, "MAX_READ_TIME"), (WRITE, "MAX_WRITE_TIME")] {
        add(name, &|r, _| {
            r.flows[direction].timer.ns().map(|_| seconds(r.flows[direction].longest))
        });
    }
}
