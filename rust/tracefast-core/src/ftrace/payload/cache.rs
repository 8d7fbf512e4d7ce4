//! A cache of payload beginnings: `sys_read(`, `sys_read ->`, `sched_switch:`. A log has few of
//! them.

use std::ops::Range;

use crate::ftrace::call::callee::Callee;
use crate::ftrace::payload::is_function;
use crate::linux::task_events::TaskEvent;
use crate::text::block::PAD;
use crate::text::scan::name_end;

/// Longest one, with the byte after the name.
const LONGEST: usize = 24;

/// A power of two, well above the number of names that are common in a log.
const SLOTS: usize = 512;

/// Beginnings of payloads that were seen in the block at hand, and what they mean.
#[derive(Debug, Default)]
pub(crate) struct PayloadCache {
    slots: Vec<Slot>,
    /// Number of the block, so that nothing has to be cleared between blocks.
    block: u64,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    /// The text, padded with zeros.
    text: [u64; 3],
    /// The block in which it was seen; 0: none.
    block: u64,
    head: PayloadStart,
}

/// The beginning of a payload.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PayloadStart {
    /// Its kind.
    pub(crate) what: PayloadKind,
    /// The first argument's name and the colon after it, if they fit in eight bytes.
    first: u64,
    /// Its bytes among the eight, or 0.
    mask: u64,
}

/// What a payload is by its beginning.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PayloadKind {
    /// `sys_NAME(`, unless it is a function with arguments.
    Enter(Callee),
    /// `sys_NAME `, if `-> ` follows.
    Exit(Callee),
    /// `sys_enter_NAME:`
    EnterFields(Callee),
    /// `sys_exit_NAME:`
    ExitFields(Callee),
    /// `NAME:`, if nothing or a blank follows.
    Event {
        /// Key of the name.
        key: u32,
        /// Whether it names tasks.
        task_event: Option<TaskEvent>,
        /// It may name a file, whatever its text is.
        may_hint: bool,
    },
}

impl PayloadStart {
    /// The text at `args` of `padded`, in brackets and after them, is that of a
    /// function and not of a system call.
    #[inline]
    pub(crate) fn is_function(&self, padded: &[u8], args: Range<usize>) -> bool {
        let text = &padded[PAD + args.start..];
        // The name and the colon say so already, unless they are cut.
        let cut = 8 * args.len() < (u64::BITS - self.mask.leading_zeros()) as usize;
        let named = self.mask != 0
            && !cut
            && text
                .first_chunk()
                .is_some_and(|eight| u64::from_le_bytes(*eight) & self.mask == self.first);
        !named && is_function(&text[..args.len()])
    }
}

impl PayloadCache {
    /// Starts a block: nothing was seen yet.
    pub(crate) fn begin(&mut self) {
        self.block += 1;
        if self.slots.is_empty() {
            let callee = Callee { name: 0, sys: 0, returns: false };
            let head = PayloadStart { what: PayloadKind::Enter(callee), first: 0, mask: 0 };
            self.slots = vec![Slot { text: [0; 3], block: 0, head }; SLOTS];
        }
    }

    /// The beginning of the payload at `base` of the text in `padded`, and the length of its name.
    #[inline(always)]
    pub(crate) fn get(&self, padded: &[u8], base: usize) -> Option<(&PayloadStart, usize)> {
        let (text, n) = head(padded.get(PAD + base..)?.first_chunk()?)?;
        let slot = self.slots.get(slot(text))?;
        (slot.text == text && slot.block == self.block).then_some((&slot.head, n))
    }

    /// Keeps `what`, if the name ends at `end` of the text in `padded`.
    #[inline(never)]
    pub(crate) fn put(&mut self, padded: &[u8], base: usize, end: usize, what: PayloadKind) {
        let Some((text, n)) = padded.get(PAD + base..).and_then(|text| head(text.first_chunk()?))
        else {
            return;
        };
        if base + n != end {
            return;
        }
        let (mut first, mut mask) = (0, 0);
        if matches!(what, PayloadKind::Enter(_))
            && let Some(eight) =
                padded.get(PAD + end + 1..).and_then(|text| text.first_chunk::<8>())
            && let Some(colon) = eight.iter().position(|&b| b == b':')
            && eight[..colon].iter().all(|&b| b.is_ascii_alphanumeric() || b == b'_')
        {
            mask = upto(colon);
            first = u64::from_le_bytes(*eight) & mask;
        }
        let head = PayloadStart { what, first, mask };
        if let Some(slot) = self.slots.get_mut(slot(text)) {
            *slot = Slot { text, block: self.block, head };
        }
    }
}

#[inline(always)]
fn slot(text: [u64; 3]) -> usize {
    let mixed = (text[0] ^ text[1].rotate_left(29) ^ text[2].rotate_left(47))
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 55) as usize % SLOTS
}

/// The text up to the first byte that no name of a call or event has, and where that is.
#[inline(always)]
fn head(text: &[u8; LONGEST]) -> Option<([u64; 3], usize)> {
    /// As many bytes that are kept as a text is long, and as many that are not.
    static KEPT: [u8; 2 * LONGEST] = {
        let (mut kept, mut at) = ([0; 2 * LONGEST], 0);
        while at < LONGEST {
            kept[at] = 0xff;
            at += 1;
        }
        kept
    };
    let n = name_end(text);
    // The byte after the name is kept, too.
    let kept = KEPT.get(LONGEST.checked_sub(n + 1)?..)?.first_chunk::<LONGEST>()?;
    let word = |text: &[u8; LONGEST], i: usize| {
        text[8 * i..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
    };
    let kept = |i| word(text, i) & word(kept, i);
    Some(([kept(0), kept(1), kept(2)], n))
}

/// The first `n` bytes and one more.
fn upto(n: usize) -> u64 {
    u64::MAX >> (56 - 8 * n)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn names_end_where_a_slow_search_says(bytes in any::<[u8; LONGEST]>(), n in 0usize..30) {
            let mut text = [b'a'; LONGEST];
            let from = n.min(LONGEST);
            text[from..].copy_from_slice(&bytes[from..]);
            for text in [text, bytes] {
                let ends = |&b: &u8| b < b'0' || b == b':' || b > 0x7f;
                let expected = text.iter().position(ends);
                prop_assert_eq!(head(&text).map(|(_, n)| n), expected);
                if let (Some((words, n)), Some(_)) = (head(&text), expected) {
                    let found: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
                    prop_assert_eq!(&found[..=n], &text[..=n]);
                    prop_assert!(found[n + 1..].iter().all(|&b| b == 0));
                }
            }
        }
    }

    fn padded(text: &str) -> Vec<u8> {
        let mut padded = vec![b'x'; PAD];
        padded.extend_from_slice(text.as_bytes());
        padded.extend([0; PAD]);
        padded
    }

    #[test]
    fn heads_last_for_a_block() {
        let mut heads = PayloadCache::default();
        heads.begin();
        let text = padded("sys_read(fd: 3)");
        let callee = Callee { name: 5, sys: 0, returns: true };
        heads.put(&text, 0, 8, PayloadKind::Enter(callee));
        let (head, n) = heads.get(&text, 0).expect("kept");
        assert!(n == 8 && matches!(head.what, PayloadKind::Enter(Callee { name: 5, .. })));
        for (args, function) in [
            ("fd: 3) <-b", false),
            ("fd=3) <-b", true),
            ("fe: 3) <-b", false),
            ("fd: 3)", false),
            ("fd: ", false),
            (") <-b", true),
        ] {
            assert_eq!(head.is_function(&padded(args), 0..args.len()), function, "{args}");
        }
        // The line ends before the colon does.
        assert!(head.mask != 0 && !head.is_function(&padded("fd: 3"), 0..2));
        for other in ["sys_read -> 0x1", "sys_rea", "sys_read", "sys_pread(fd: 3)"] {
            assert!(heads.get(&padded(other), 0).is_none(), "{other}");
        }
        heads.begin();
        assert!(heads.get(&text, 0).is_none());
    }
}
