//! Compressed logs through the whole pipeline: the rows are those of the log as it is, whatever the
//! compression, the blocks and the number of threads, and a damaged one is refused.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use tracefast_io::Error;
use tracefast_io::pipeline::Options;
use tracefast_io::read::BatchStream;

fn demo() -> Vec<u8> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/demo.strace.zst");
    let compressed = fs::read(data).expect("the log of the demonstration");
    zstd::stream::decode_all(&compressed[..]).expect("a frame")
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).expect("memory");
    encoder.finish().expect("memory")
}

/// A member as bgzip makes them: its length is in the header.
fn bgzip(text: &[u8]) -> Vec<u8> {
    let mut compressed = gzip(text);
    compressed[3] = 4;
    compressed[9] = 255;
    let len = (compressed.len() + 8 - 1) as u16;
    let extra = [&[6, 0, b'B', b'C', 2, 0][..], &len.to_le_bytes()].concat();
    compressed.splice(10..10, extra);
    compressed
}

fn zstd_frame(text: &[u8]) -> Vec<u8> {
    let mut packer = zstd::bulk::Compressor::new(1).expect("memory");
    packer.include_checksum(true).expect("an option");
    packer.compress(text).expect("memory")
}

fn skippable() -> Vec<u8> {
    [&0x184d_2a5e_u32.to_le_bytes()[..], &[4, 0, 0, 0], b"seek"].concat()
}

fn xz(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    liblzma::read::XzEncoder::new(text, 0).read_to_end(&mut out).expect("memory");
    out
}

fn bzip2(text: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::new(1));
    encoder.write_all(text).expect("memory");
    encoder.finish().expect("memory")
}

fn each(text: &[u8], size: usize, pack: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    text.chunks(size).flat_map(pack).collect()
}

fn forms(text: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let blocks = each(text, 65_280, bgzip);
    let seekable = each(text, 400_000, |part| [zstd_frame(part), skippable()].concat());
    vec![
        ("gzip", gzip(text)),
        ("gzip, members", each(text, 300_001, gzip)),
        ("bgzip without end", blocks.clone()),
        ("bgzip", [blocks, bgzip(b"")].concat()),
        ("zstd", zstd_frame(text)),
        ("zstd, frames", each(text, 500_003, zstd_frame)),
        ("zstd, frames between others", [skippable(), seekable].concat()),
        ("xz", xz(text)),
        ("xz, streams", each(text, 700_001, xz)),
        ("bzip2", bzip2(text)),
        ("bzip2, streams", each(text, 100_000, bzip2)),
    ]
}

/// The batches of a file that always has the same name.
fn rows(
    folder: &Path,
    bytes: &[u8],
    block_bytes: usize,
    threads: usize,
) -> Result<Vec<RecordBatch>, Error> {
    let log = folder.join("log");
    fs::write(&log, bytes).expect("room for it");
    let options = Options { block_bytes, threads, ..Options::default() };
    BatchStream::open(&[log.display().to_string()], options, &Arc::default())?.collect()
}

#[test]
fn a_compressed_log_has_the_rows_of_the_log() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = demo();
    let expected = rows(folder.path(), &text, 256 << 10, 1).expect("a log");
    for (name, compressed) in forms(&text) {
        for (block_bytes, threads) in [(256 << 10, 1), (10_000, 2), (256 << 10, 3), (5 << 20, 7)] {
            let found = rows(folder.path(), &compressed, block_bytes, threads).expect(name);
            assert!(found == expected, "{name}, {block_bytes}, {threads}");
        }
    }
}

#[test]
fn blocks_of_one_byte_change_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = &demo()[..1_600_000];
    let expected = rows(folder.path(), text, 256 << 10, 1).expect("a log");
    // Members end within lines, at their ends, and hold no text.
    let compressed = each(text, 65_280, |part| [bgzip(part), bgzip(b"")].concat());
    for threads in [1, 2, 3, 7] {
        let found = rows(folder.path(), &compressed, 1, threads).expect("a log");
        assert!(found == expected, "{threads}");
    }
}

#[test]
fn a_damaged_log_is_refused_in_the_same_words_by_any_number_of_threads() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = demo();
    for (name, compressed) in forms(&text) {
        let far = compressed.len() * 9 / 10;
        let mut flipped = compressed.clone();
        flipped[far] ^= 0x55;
        let trailing = [&compressed[..], b"no member"].concat();
        for (harm, compressed) in
            [("cut", &compressed[..far]), ("flipped", &flipped), ("trailing bytes", &trailing)]
        {
            let mut errors = Vec::new();
            for threads in [1, 3] {
                let error = rows(folder.path(), compressed, 100_000, threads);
                let error = error.expect_err(&format!("{name}, {harm}"));
                let hint = error.hint().unwrap_or_default();
                assert!(hint.contains("damaged or cut short"), "{name}, {harm}: {error}");
                assert!(error.path() == Some(&folder.path().join("log")), "{name}: {error}");
                // How much text a decoder gives before it fails depends on the room it is given.
                assert!(error.byte().is_some(), "{name}, {harm}: {error}");
                if harm == "trailing bytes" && !name.starts_with("xz") {
                    assert_eq!(error.byte(), Some(text.len() as u64), "{name}: {error}");
                }
                errors.push(error.kind().to_string());
            }
            assert!(errors.iter().all(|text| *text == errors[0]), "{name}, {harm}: {errors:?}");
        }
    }
}

#[test]
fn logs_one_after_another_are_unpacked_each_on_its_own() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = demo();
    let names: Vec<String> =
        (0..3).map(|i| folder.path().join(format!("log-{i}")).display().to_string()).collect();
    let run = |forms: [&[u8]; 3]| {
        for (name, bytes) in names.iter().zip(forms) {
            fs::write(name, bytes).expect("room for it");
        }
        let options = Options { threads: 2, ..Options::default() };
        let stream = BatchStream::open(&names, options, &Arc::default()).expect("logs");
        stream.collect::<Result<Vec<_>, _>>().expect("rows")
    };
    let bzip2 = each(&text, 100_000, bzip2);
    let mut odd = each(&text, 65_280, bgzip);
    // A member that contains what looks like another one, after what looks like the length of a
    // text of 2 MiB: a piece seems to end there. The log is then read in order, and the pieces are
    // dropped.
    let mut stored = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    let line = [b"1 close(3) = 0 \0\0\x20\0", &bgzip(b"no")[..], b"\n"].concat();
    stored.write_all(&line).expect("memory");
    odd.extend(stored.finish().expect("memory"));
    odd.extend(each(&text, 65_280, bgzip));
    let plain = [&text[..], &line, &text].concat();
    let expected = run([&plain, &text, &text]);
    let found = run([&odd, &bzip2, &each(&text, 500_003, zstd_frame)]);
    assert!(found == expected);
}
