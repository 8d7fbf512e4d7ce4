//! Finds where members of compressed files end without unpacking them, as far as possible.

use memchr::memmem;

use crate::input::compressed::Packing;

/// What the first bytes of a member show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// Its compressed bytes, and about how many its text has. (What is wrong about them shows when
    /// it is unpacked.)
    Member {
        /// Packed bytes.
        compressed: usize,
        /// Bytes of text.
        text: usize,
    },
    /// The end is not in sight.
    More,
    /// Its end cannot be found.
    Unknown,
}

/// Finds the end of the member at the start of `bytes`. `ends`: nothing follows `bytes`.
/// `seen` is 0 at first and keeps how far the end was looked for.
pub(crate) fn find(packing: Packing, bytes: &[u8], ends: bool, seen: &mut usize) -> Found {
    match packing {
        Packing::Gzip => by_next_header(bytes, ends, seen, &GZIP),
        Packing::Bzip2 => by_next_header(bytes, ends, seen, &BZIP2),
        Packing::Zstd => zstd_frame(bytes, ends),
        Packing::Xz => by_next_header(bytes, ends, seen, &XZ),
    }
}

/// Members without a length: one ends where the next one seems to start.
struct MemberHeader {
    /// The bytes to look for.
    magic: &'static [u8],
    /// How many bytes it takes to recognise one.
    look: usize,
    /// The shortest member.
    least: usize,
    /// Whether these bytes are the start of a member.
    is: fn(&[u8]) -> bool,
    /// Bytes of text of a member.
    text: fn(&[u8]) -> usize,
}

fn by_next_header(bytes: &[u8], ends: bool, seen: &mut usize, header: &MemberHeader) -> Found {
    if !bytes.get(..header.look).is_some_and(header.is) {
        return if bytes.len() < header.look && !ends { Found::More } else { Found::Unknown };
    }
    let mut from = header.least.max(*seen);
    while let Some(at) = bytes.get(from..).and_then(|rest| memmem::find(rest, header.magic)) {
        let at = from + at;
        match bytes.get(at..at + header.look) {
            Some(look) if (header.is)(look) => {
                return Found::Member { compressed: at, text: (header.text)(&bytes[..at]) };
            }
            None if !ends => {
                *seen = at;
                return Found::More;
            }
            _ => from = at + 1,
        }
    }
    if !ends {
        *seen = (bytes.len() + 1).saturating_sub(header.magic.len());
        return Found::More;
    }
    match bytes.len() {
        compressed if compressed >= header.least => {
            Found::Member { compressed, text: (header.text)(bytes) }
        }
        _ => Found::Unknown,
    }
}

/// Magic, method, flags, time, extra flags, system. Three bytes of any data look like a start once
/// in 16 MiB; all that is fixed in a header, once in 200 GB.
const GZIP: MemberHeader = MemberHeader {
    magic: b"\x1f\x8b\x08",
    look: 10,
    least: 20,
    is: |head| {
        head.starts_with(b"\x1f\x8b\x08")
            && head[3] & 0xe0 == 0
            && matches!(head[8], 0 | 2 | 4)
            && matches!(head[9], 0..=13 | 255)
    },
    text: |member| {
        member.last_chunk::<4>().map_or(usize::MAX, |size| u32::from_le_bytes(*size) as usize)
    },
};

/// Magic, block size, and the magic of a block, or that of the end if there is no block.
const BZIP2: MemberHeader = MemberHeader {
    magic: b"BZh",
    look: 10,
    least: 14,
    is: |head| {
        head.starts_with(b"BZh")
            && matches!(head[3], b'1'..=b'9')
            && matches!(&head[4..], b"1AY&SY" | b"\x17\x72\x45\x38\x50\x90")
    },
    // Programs that write many streams write one block in each.
    text: |member| match member {
        [_, _, _, size, b'1', ..] => usize::from(size - b'0') * 100_000,
        _ => 0,
    },
};

/// Magic and flags of a stream.
const XZ: MemberHeader = MemberHeader {
    magic: b"\xfd7zXZ\0",
    look: 8,
    least: 32,
    is: |head| head.starts_with(b"\xfd7zXZ\0\0") && head[7] <= 15,
    // The index at the end has the size, but is not read. Logs shrink to a tenth.
    text: |member| 10 * member.len(),
};

/// Frames of zstd: each block starts with its length.
fn zstd_frame(bytes: &[u8], ends: bool) -> Found {
    zstd_walk(bytes).unwrap_or(if ends { Found::Unknown } else { Found::More })
}

/// `None`: `bytes` end within the frame.
fn zstd_walk(bytes: &[u8]) -> Option<Found> {
    let little = |at: usize, n: usize| {
        let bytes = bytes.get(at..at + n)?;
        Some(bytes.iter().rev().fold(0, |sum: u64, &byte| sum << 8 | u64::from(byte)))
    };
    let magic = little(0, 4)?;
    if magic & !0xf == 0x184d_2a50 {
        let compressed = 8 + little(4, 4)? as usize;
        return (bytes.len() >= compressed).then_some(Found::Member { compressed, text: 0 });
    }
    if magic != 0xfd2f_b528 {
        return Some(Found::Unknown);
    }
    let descriptor = little(4, 1)? as usize;
    let single = descriptor >> 5 & 1 == 1;
    let mut at = 5;
    let mut window = u64::MAX;
    if !single {
        let byte = little(at, 1)?;
        window = (8 + (byte & 7)) << (7 + (byte >> 3));
        at += 1;
    }
    at += [0, 1, 2, 4][descriptor & 3];
    let width = [usize::from(single), 2, 4, 8][descriptor >> 6];
    let size = little(at, width)? + if width == 2 { 256 } else { 0 };
    let declared = if width > 0 { usize::try_from(size).unwrap_or(usize::MAX) } else { usize::MAX };
    if width > 0 && declared > crate::input::compressed::MOST_TEXT {
        return Some(Found::Unknown);
    }
    at += width;
    let block = window.min(128 << 10) as usize;
    let mut text = 0_usize;
    loop {
        let head = little(at, 3)? as usize;
        let size = head >> 3;
        let (compressed, plain) = match head >> 1 & 3 {
            0 => (size, size),
            1 => (1, size),
            2 => (size, block),
            _ => return Some(Found::Unknown),
        };
        at += 3 + compressed;
        text = text.saturating_add(plain);
        if head & 1 == 1 {
            break;
        }
    }
    at += 4 * (descriptor >> 2 & 1);
    // Without a declared size only an upper bound is known, from the blocks.
    let text = text.min(declared).min(crate::input::compressed::MOST_TEXT);
    (bytes.len() >= at).then_some(Found::Member { compressed: at, text })
}
