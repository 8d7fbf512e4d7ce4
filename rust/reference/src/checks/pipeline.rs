//! A log through the whole pipeline: rows and counts depend on nothing but its bytes.

use std::io::Write;
use std::sync::Arc;

use arrow_array::RecordBatch;
use flate2::Compression;
use flate2::write::GzEncoder;
use tracefast_core::format::{Format, Wanted};
use tracefast_io::pipeline::Options;
use tracefast_io::read::BatchStream;
use tracefast_io::report::Report;

/// Reads the text after the first three bytes as a log, once in one piece and once as they say.
///
/// # Panics
/// If the rows differ, or a line or byte is not accounted for.
pub fn pipeline(data: &[u8]) {
    let [size, threads, flags, text @ ..] = data else { return };
    let Some(format) = Format::detect(text, None) else { return };
    // Read from a file, that would be unpacked.
    if PACKED.iter().any(|magic| text.starts_with(magic)) {
        return;
    }
    let wanted = match format {
        Format::Strace(_) => Wanted::Strace,
        Format::Ftrace(_) => Wanted::Ftrace,
    };
    let (rows, report) = run(text, wanted, 1 << 18, 1, false);
    assert_eq!(report.lines(), text.split_inclusive(|&b| b == b'\n').count() as u64, "lines");
    assert_eq!(report.counts.total.bytes, text.len() as u64, "bytes");
    let block = 1 + usize::from(*size) * if flags & 2 == 0 { 1 } else { 16 };
    let (other, again) = run(text, wanted, block, 1 + usize::from(threads % 4), flags & 1 == 1);
    let shown = text.escape_ascii().to_string().replace("\\n", "\n");
    assert_eq!(
        again.counts.total.lines, report.counts.total.lines,
        "lines by use, blocks of {block}:\n{shown}"
    );
    assert_eq!(again.kinds(), report.kinds(), "rows by kind, blocks of {block}:\n{shown}");
    assert_eq!(other.len(), rows.len(), "batches, blocks of {block}:\n{shown}");
    for (one, other) in rows.iter().zip(&other) {
        for (index, field) in one.schema().fields().iter().enumerate() {
            // The two files have different names.
            if field.name() != "source" {
                let what = format!("{}, blocks of {block}:\n{shown}", field.name());
                assert_eq!(other.column(index), one.column(index), "{what}");
            }
        }
    }
}

/// How files start that are unpacked.
const PACKED: [&[u8]; 4] = [b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ", b"BZh"];

/// Rows and report of a file, which is compressed if `stream`, so that one thread cuts it.
fn run(
    text: &[u8],
    wanted: Wanted,
    block_bytes: usize,
    threads: usize,
    stream: bool,
) -> (Vec<RecordBatch>, Report) {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    if stream {
        let mut packed = GzEncoder::new(&mut file, Compression::fast());
        packed.write_all(text).and_then(|()| packed.finish().map(drop)).expect("room for it");
    } else {
        file.write_all(text).expect("room for it");
    }
    let format = Some(wanted);
    let options = Options { threads, block_bytes, group_rows: 16, format, ..Options::default() };
    let name = file.path().display().to_string();
    let mut stream = BatchStream::open(&[name], options, &Arc::default()).expect("a log");
    let batches = stream.by_ref().collect::<Result<_, _>>().expect("readable");
    (batches, stream.report().expect("it is at its end").clone())
}
