//! Columns that earlier records had as well: those of a task on a processor, within one second.

use crate::ftrace::header::layouts::default::at_dash;
use crate::ftrace::header::{COMM, Clock, Header, Layout};
use crate::text::block::PAD;

/// Few tasks take turns, and most records of a task have the same flags.
const SLOTS: usize = 32;

/// Digits of the fraction of a second, followed by `: `.
const FRACTION: usize = 8;

/// Bytes of columns that are kept, up to the fraction.
const KEPT: usize = 64;

/// Columns by their text up to the fraction of the time.
pub(crate) struct HeaderCache {
    slots: [Slot; SLOTS],
}

#[derive(Clone, Copy)]
struct Slot {
    /// The text in words of 16 bytes, padded with zeros.
    text: [u128; 4],
    /// The bytes of the last two that count.
    masks: [u128; 2],
    /// Where the fraction starts; 0: the slot is empty.
    fraction: usize,
    /// The second, in nanoseconds.
    second: i64,
    header: Header,
    known: KnownColumns,
}

/// What is known of columns that were seen before.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KnownColumns {
    /// Key of the command's name.
    pub(crate) comm: u32,
    /// The flags are all dots.
    pub(crate) quiet: bool,
}

impl Default for HeaderCache {
    fn default() -> Self {
        let slot = Slot {
            text: [0; 4],
            masks: [0; 2],
            fraction: 0,
            second: 0,
            header: Header::EMPTY,
            known: KnownColumns { comm: 0, quiet: false },
        };
        Self { slots: [slot; SLOTS] }
    }
}

impl HeaderCache {
    /// The header of the line of `len` bytes at `start` of the text in `padded`, if columns like
    /// its own are in the cache.
    #[inline(always)]
    pub(crate) fn get(
        &mut self,
        padded: &[u8],
        start: usize,
        len: usize,
    ) -> Option<(&Header, KnownColumns)> {
        let line = padded.get(PAD + start..)?.first_chunk::<{ KEPT + FRACTION }>()?;
        let text = words(line);
        let slot = &mut self.slots[slot(&text)];
        // All four at once: most lines are the same in all, and branches would only cost.
        let differ = (slot.text[0] ^ text[0])
            | (slot.text[1] ^ text[1])
            | (slot.text[2] ^ text[2] & slot.masks[0])
            | (slot.text[3] ^ text[3] & slot.masks[1]);
        if differ != 0 || slot.fraction == 0 || slot.fraction + FRACTION > len {
            return None;
        }
        let micros = fraction(*line.get(slot.fraction..)?.first_chunk()?)?;
        // All else is the same.
        slot.header.time = Some(slot.second + micros * 1_000);
        Some((&slot.header, slot.known))
    }

    /// Keeps the columns of a line, if it has the usual ones; `known` says what is known of them.
    /// Everything but the fraction, which is added, depends on the text before it only.
    #[inline(never)]
    pub(crate) fn put(
        &mut self,
        padded: &[u8],
        start: usize,
        header: &Header,
        known: impl FnOnce() -> Option<KnownColumns>,
    ) {
        let Some(line) = padded.get(PAD + start..).and_then(|line| line.first_chunk()) else {
            return;
        };
        let text: [u128; 4] = words(line);
        let Some(at) = header.payload.checked_sub(FRACTION).filter(|&at| at <= KEPT) else {
            return;
        };
        // Only columns with the name aligned to its column.
        if at < KEPT / 2
            || line[at - 1] != b'.'
            || header.layout != Layout::Default
            || header.clock != Clock::Uptime
            || at_dash(&line[..header.payload], COMM) != Some(*header)
        {
            return;
        }
        let micros = line[at..].first_chunk().and_then(|eight| fraction(*eight));
        let second = header.time.zip(micros).map(|(time, micros)| time - micros * 1_000);
        let Some(second) = second.filter(|&second| second < i64::MAX - 1_000_000_000) else {
            return;
        };
        let Some(known) = known() else { return };
        let masks = [32, 48].map(|from| mask(at.saturating_sub(from)));
        self.slots[slot(&text)] = Slot {
            text: [text[0], text[1], text[2] & masks[0], text[3] & masks[1]],
            masks,
            fraction: at,
            second,
            header: *header,
            known,
        };
    }
}

/// The first bytes of a line.
#[inline(always)]
fn words(line: &[u8; KEPT + FRACTION]) -> [u128; 4] {
    let word =
        |i: usize| line[16 * i..].first_chunk().map_or(0, |bytes| u128::from_le_bytes(*bytes));
    // Not by `array::from_fn`, which is a call for each word.
    [word(0), word(1), word(2), word(3)]
}

/// The first `n` bytes of 16.
fn mask(n: usize) -> u128 {
    if n < 16 { (1 << (8 * n)) - 1 } else { u128::MAX }
}

/// Where columns are kept: by pid, processor and flags, which follow the name.
#[inline(always)]
fn slot(text: &[u128; 4]) -> usize {
    let (pid, cpu, flags) = (text[1] as u64, (text[1] >> 64) as u64, text[2] as u32);
    let mixed = (pid ^ cpu.rotate_left(20) ^ u64::from(flags).rotate_left(40))
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 59) as usize % SLOTS
}

/// The microseconds of six digits followed by `: `.
#[inline(always)]
fn fraction(eight: [u8; 8]) -> Option<i64> {
    let digits = u64::from_le_bytes(eight) ^ u64::from_le_bytes(*b"000000: ");
    // The high bit of every byte that is not a digit. Only such a byte carries into the next.
    let others = (digits.wrapping_add(0x7676_7676_7676) | digits) & 0xffff_8080_8080_8080;
    if others != 0 {
        return None;
    }
    Some(crate::text::number::combine(digits << 16) as i64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ftrace::header::layouts::default::parse;

    fn padded(line: &str) -> Vec<u8> {
        let mut padded = vec![b'7'; PAD];
        padded.extend_from_slice(line.as_bytes());
        padded.extend([b' '; PAD]);
        padded
    }

    fn put(columns: &mut HeaderCache, line: &str) {
        if let Some(header) = parse(line.as_bytes()) {
            let known = KnownColumns { comm: 7, quiet: true };
            columns.put(&padded(line), 0, &header, || Some(known));
        }
    }

    proptest! {
        /// Whatever is in the cache, what is found is what a full parse finds.
        #[test]
        fn columns_that_were_there_are_the_same(
            lines in prop::collection::vec(
                (
                    "( {10}[a-c-]{6}|[ -~]{16})",
                    "(-[0-9]{1,2}( {1,5}|   \\([ 0-9-]{3}\\) )\\[00[01]\\] [.d]{4,6} |[ -~]{8,20})",
                    "( {0,9}[12]{1,7}|[ -~]{0,10})",
                    "[.][0-9]{5,7}|[ -~]{0,8}",
                    "(: x|:|:x|[ -~]{0,4})",
                ),
                1..20,
            ),
        ) {
            let mut columns = HeaderCache::default();
            for (name, middle, second, fraction, rest) in &lines {
                let line = format!("{name}{middle}{second}{fraction}{rest}");
                if let Some((header, _)) = columns.get(&padded(&line), 0, line.len()) {
                    prop_assert_eq!(Some(*header), parse(line.as_bytes()), "{}", line);
                }
                put(&mut columns, &line);
            }
        }
    }

    #[test]
    fn the_usual_columns_are_found_again() {
        for (first, second) in [
            (
                "            bash-2101    [001] d..2.  2881.878957: sys_write -> 0x2",
                "            bash-2101    [001] d..2.  2881.000001: x",
            ),
            (
                "            bash-2101    (   2101) [001] .....  2882.097484: x: y",
                "            bash-2101    (   2101) [001] .....  2882.999999: ",
            ),
            (
                "            bash-2101    [001]   2881.878957: sys_write -> 0x2",
                "            bash-2101    [001]   2881.878958: sys_write -> 0x2",
            ),
        ] {
            let mut columns = HeaderCache::default();
            put(&mut columns, first);
            let found = columns.get(&padded(second), 0, second.len());
            assert_eq!(found.map(|found| *found.0), parse(second.as_bytes()), "{second}");
            assert!(found.is_some_and(|(_, known)| known.comm == 7 && known.quiet));
        }
    }

    #[test]
    fn other_columns_are_not_found() {
        let first = "            bash-2101    [001] d..2.  2881.878957: x";
        for other in [
            "            bash-2102    [001] d..2.  2881.878957: x",
            "            bash-2101    [001] d..3.  2881.878957: x",
            "            bash-2101    [001] d..2.  2882.878957: x",
            "            bash-2101    [001] d..2.  2881.8789571: x",
            "            bash-2101    [001] d..2.  2881.87895a: x",
            "            bash-2101    [001] d..2.  2881.878957:x",
            "            bash-2101    [001] d..2.  2881.878957:",
            "            bash-2101    [001] d..2.  2881.878957",
            "            basb-2101    [001] d..2.  2881.878957: x",
        ] {
            let mut columns = HeaderCache::default();
            put(&mut columns, first);
            assert!(columns.get(&padded(other), 0, other.len()).is_none(), "{other}");
        }
    }
}
