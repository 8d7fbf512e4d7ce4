//! Compressed logs give the same text, or if they are damaged the same error, whether they are
//! unpacked in pieces or from start to end.

use std::io::{self, Cursor, Read, Write};

use proptest::prelude::*;
use tracefast_core::format::{Format, Wanted};
use tracefast_io::input::compressed::{MOST_TEXT, Packing, Piece, Pieces, text};
use tracefast_io::input::joined_pieces::{PieceBlocks, PieceJoiner};

const PACKINGS: [Packing; 4] = [Packing::Gzip, Packing::Zstd, Packing::Xz, Packing::Bzip2];

/// One member, frame or stream.
fn member(packing: Packing, text: &[u8]) -> Vec<u8> {
    match packing {
        Packing::Gzip => {
            let level = flate2::Compression::new(1);
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), level);
            encoder.write_all(text).expect("memory");
            encoder.finish().expect("memory")
        }
        // Every second one has its size, the others have a checksum.
        Packing::Zstd if text.first().is_some_and(|byte| byte % 2 == 0) => {
            zstd::bulk::compress(text, 1).expect("memory")
        }
        Packing::Zstd => {
            let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).expect("memory");
            encoder.include_checksum(true).expect("an option");
            encoder.write_all(text).expect("memory");
            encoder.finish().expect("memory")
        }
        Packing::Xz => {
            let mut out = Vec::new();
            liblzma::read::XzEncoder::new(text, 0).read_to_end(&mut out).expect("memory");
            out
        }
        Packing::Bzip2 => {
            let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::new(1));
            encoder.write_all(text).expect("memory");
            encoder.finish().expect("memory")
        }
    }
}

/// Lines of `len` bytes in all, all different.
fn lines(from: usize, len: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(len + 40);
    for number in from.. {
        if out.len() >= len {
            break;
        }
        writeln!(out, "{number} close({}) = 0", number % 7).expect("memory");
    }
    out.truncate(len);
    out
}

type Text = Result<Vec<u8>, String>;

fn read(mut text: impl Read) -> Text {
    let mut out = Vec::new();
    text.read_to_end(&mut out).map_err(|error| error.to_string())?;
    Ok(out)
}

/// Gives few bytes at a time, as a pipe may, and then perhaps an error.
struct Slow {
    bytes: Cursor<Vec<u8>>,
    most: usize,
    fails: bool,
}

impl Read for Slow {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let most = buf.len().min(self.most);
        match self.bytes.read(&mut buf[..most])? {
            // Reported once, as by a pipe, which is at its end afterwards.
            0 if std::mem::take(&mut self.fails) => Err(io::Error::other("the tape is torn")),
            n => Ok(n),
        }
    }
}

fn slow(bytes: &[u8], most: usize, fails: bool) -> Box<dyn Read + Send> {
    Box::new(Slow { bytes: Cursor::new(bytes.to_vec()), most, fails })
}

fn in_order(packing: Packing, compressed: &[u8], fails: bool) -> Text {
    read(text(packing, slow(compressed, 1 << 16, fails)).expect("a decoder"))
}

/// Unpacks piece by piece, and in order from the first piece that fails. Also returns how many
/// pieces were unpacked.
fn in_pieces(packing: Packing, compressed: &[u8], most: usize, fails: bool) -> (Text, usize) {
    let (magic, rest) = compressed.split_at(compressed.len().min(6));
    let mut pieces = Pieces::new(packing, magic.to_vec(), slow(rest, most, fails));
    let mut ahead: Vec<Piece> = Vec::new();
    let mut out = Vec::new();
    let mut count = 0;
    loop {
        // Several are under way at a time.
        while ahead.len() < 3
            && let Some(piece) = pieces.next()
        {
            ahead.push(piece);
        }
        match ahead.first().map(|piece| piece.append_to(&mut out)) {
            Some(Ok(())) => {
                ahead.remove(0);
                count += 1;
            }
            Some(Err(_)) | None => break,
        }
    }
    let text_read = match pieces.rest(&ahead).expect("a decoder") {
        Some(rest) => read(rest).map(|rest| [out, rest].concat()),
        None => Ok(out),
    };
    (text_read, count)
}

#[test]
fn members_are_unpacked_in_pieces() {
    let text = lines(0, 6_000_000);
    for packing in PACKINGS {
        let compressed: Vec<u8> =
            text.chunks(65_280).flat_map(|chunk| member(packing, chunk)).collect();
        for most in [usize::MAX, 1000] {
            let (text_read, count) = in_pieces(packing, &compressed, most, false);
            assert!(text_read.as_ref() == Ok(&text), "{packing:?}");
            // What xz does not store is guessed, and then pieces are longer.
            let least = if packing == Packing::Xz { 3 } else { 5 };
            assert!(count >= least, "{packing:?}: {count}");
        }
    }
}

#[test]
fn what_is_too_long_for_a_piece_is_read_in_order() {
    for packing in PACKINGS {
        let long = member(packing, &lines(0, MOST_TEXT + 1));
        let short = member(packing, &lines(7, 1_500_000));
        let compressed = [&short[..], &short, &long, &short].concat();
        let (text_read, count) = in_pieces(packing, &compressed, usize::MAX, false);
        assert!(text_read == in_order(packing, &compressed, false), "{packing:?}");
        assert_eq!(
            text_read.map(|text| text.len()),
            Ok(MOST_TEXT + 1 + 3 * 1_500_000),
            "{packing:?}"
        );
        // How long the text of a stream of xz or bzip2 is, is only guessed.
        let text_read = matches!(packing, Packing::Gzip | Packing::Zstd);
        assert!(count >= 1 || !text_read, "{packing:?}");
    }
}

#[test]
fn what_looks_like_a_member_and_is_none_is_read_in_order() {
    // Stored text of gzip that contains a whole member, after what looks like the length of a text.
    let inner = member(Packing::Gzip, b"inner\n");
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    let parts = [&lines(0, 1_000_000)[..], &[0, 0, 0x20, 0], &inner, b"\nend\n"];
    encoder.write_all(&parts.concat()).expect("memory");
    let compressed = [encoder.finish().expect("memory"), member(Packing::Gzip, b"more\n")].concat();
    let (text_read, count) = in_pieces(Packing::Gzip, &compressed, usize::MAX, false);
    assert!(text_read == in_order(Packing::Gzip, &compressed, false));
    assert_eq!(count, 0);
    assert!(text_read.is_ok_and(|text| text.ends_with(b"\nend\nmore\n")));
}

#[test]
fn frames_that_hold_nothing_of_the_log_are_left_out() {
    let skippable = [&0x184d_2a53_u32.to_le_bytes()[..], &[3, 0, 0, 0, 1, 2, 3]].concat();
    let text = lines(0, 1_500_000);
    let frame = member(Packing::Zstd, &text);
    let empty = member(Packing::Zstd, b"");
    let compressed = [&skippable[..], &frame, &skippable, &empty, &skippable, &frame, &skippable];
    let (text_read, count) = in_pieces(Packing::Zstd, &compressed.concat(), 99, false);
    assert!(text_read == Ok(text.repeat(2)));
    assert_eq!(count, 3);
    assert_eq!(Packing::from_magic(&skippable), Some(Packing::Zstd));
}

#[test]
fn a_failure_to_read_is_told_where_it_happens() {
    for packing in PACKINGS {
        let compressed = member(packing, &lines(0, 1_500_000)).repeat(3);
        for end in [0, 5, 12, compressed.len() / 2, compressed.len()] {
            let (text_read, _) = in_pieces(packing, &compressed[..end], usize::MAX, true);
            let expected = in_order(packing, &compressed[..end], true);
            assert_eq!(text_read.map(|text| text.len()), expected.map(|text| text.len()));
        }
    }
}

/// How a file may be damaged.
#[derive(Debug, Clone)]
enum Harm {
    None,
    Cut(prop::sample::Index),
    Flip(prop::sample::Index, u8),
    Insert(prop::sample::Index, Vec<u8>),
    Trailing(Vec<u8>),
    Zeros(usize),
}

fn harm() -> impl Strategy<Value = Harm> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        Just(Harm::None),
        index().prop_map(Harm::Cut),
        (index(), 1..=255_u8).prop_map(|(at, bits)| Harm::Flip(at, bits)),
        (index(), proptest::collection::vec(any::<u8>(), 1..20))
            .prop_map(|(at, bytes)| Harm::Insert(at, bytes)),
        proptest::collection::vec(any::<u8>(), 1..20).prop_map(Harm::Trailing),
        (1..600_usize).prop_map(Harm::Zeros),
    ]
}

fn harmed(mut members: Vec<Vec<u8>>, harm: Harm) -> Vec<u8> {
    if let Harm::Zeros(count) = harm {
        let middle = members.len() / 2;
        members.insert(middle, vec![0; count]);
    }
    let mut compressed = members.concat();
    match harm {
        Harm::None | Harm::Zeros(_) => {}
        // Without the magic it is not a compressed log.
        Harm::Cut(at) => compressed.truncate(6 + at.index(compressed.len() - 6)),
        Harm::Flip(at, bits) => {
            let at = at.index(compressed.len());
            compressed[at] ^= bits;
        }
        Harm::Insert(at, bytes) => {
            let at = at.index(compressed.len());
            compressed.splice(at..at, bytes);
        }
        Harm::Trailing(bytes) => compressed.extend(bytes),
    }
    compressed
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn both_ways_tell_the_same(
        kind in 0..4_usize,
        sizes in proptest::collection::vec(
            prop_oneof![Just(0_usize), 1..2000_usize, 100_000..700_000_usize], 1..8),
        harm in harm(),
        most in prop_oneof![Just(usize::MAX), 1000..200_000_usize],
    ) {
        let packing = PACKINGS[kind];
        let members = sizes.iter().map(|&size| member(packing, &lines(size, size))).collect();
        let compressed = harmed(members, harm);
        let (text_read, _) = in_pieces(packing, &compressed, most, false);
        let expected = in_order(packing, &compressed, false);
        prop_assert_eq!(text_read.is_ok(), expected.is_ok());
        prop_assert!(text_read == expected, "{:?}", expected.map(|text| text.len()));
    }

    #[test]
    fn pieces_cut_apart_join_to_the_log(
        lines in proptest::collection::vec("( [|>] )?[a-z]{0,40}", 0..60),
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..6),
        go_on in 0..7_usize,
        size in 1_usize..200,
        feed in any::<bool>(),
    ) {
        let mut text = lines.join("\n").into_bytes();
        if feed {
            text.push(b'\n');
        }
        let format = Format::from_wanted(Wanted::Strace);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let mut joiner = PieceJoiner::default();
        let mut blocks = Vec::new();
        let mut rest = None;
        for (i, pair) in cuts.windows(2).enumerate() {
            if i == go_on {
                rest = Some(text[pair[0]..].to_vec());
                break;
            }
            let piece = Box::new(Cursor::new(text[pair[0]..pair[1]].to_vec()));
            let cut = PieceBlocks::new(piece, text.len(), size, &format, Vec::new).expect("short lines");
            blocks.extend(joiner.join(cut).expect("short lines"));
        }
        prop_assert!(blocks.iter().all(|block| !block.last));
        match rest {
            None => blocks.extend(joiner.end().expect("short lines")),
            Some(rest) => {
                let mut cutter = joiner.go_on(Box::new(Cursor::new(rest)));
                let mut block = tracefast_core::text::block::Block::default();
                while cutter.next(size, &format, &mut block).expect("short lines") {
                    blocks.push(std::mem::take(&mut block));
                }
            }
        }
        prop_assert_eq!(blocks.last().map(|block| block.last), blocks.last().map(|_| true));
        let mut joined = Vec::new();
        for (i, block) in blocks.iter().enumerate() {
            let first = block.text().split(|&b| b == b'\n').next().unwrap_or_default();
            prop_assert!(i == 0 || format.stands_alone(first));
            prop_assert!(!block.is_empty());
            joined.extend_from_slice(block.text());
        }
        prop_assert_eq!(joined, text);
    }
}

#[test]
fn a_piece_is_given_up_when_its_text_grows_too_long() {
    let format = Format::from_wanted(Wanted::Strace);
    let cut =
        |most| PieceBlocks::new(slow(&lines(0, 5000), 100, false), most, 700, &format, Vec::new);
    assert!(cut(5000).is_ok());
    assert!(cut(4999).is_err());
}
