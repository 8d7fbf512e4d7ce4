//! Flags by name or, with `-X raw` and `-e raw`, by number.

use crate::linux::syscalls::flags;
use crate::strace::arguments::{self, Split};
use crate::text::number;
use crate::text::search;

/// The flags of a call, as printed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flags<'a>(&'a [u8]);

impl<'a> Flags<'a> {
    /// The flags at `position` of `text`. If `split` ends with the argument before them, they start
    /// after it; the arguments that follow the flags are then included.
    #[inline]
    pub(crate) fn at(text: &'a [u8], split: Option<&Split>, position: u8) -> Self {
        Self::new(Self::text(text, split, position))
    }

    /// The same, but `None` if the text holds only the address of a structure.
    pub(crate) fn within(text: &'a [u8], split: Option<&Split>, position: u8) -> Option<Self> {
        let text = Self::text(text, split, position);
        let shown = text.starts_with(b"{") && search::contains(text, b"flags=", 1);
        shown.then(|| Self::new(text))
    }

    #[inline]
    fn text(text: &'a [u8], split: Option<&Split>, position: u8) -> &'a [u8] {
        if let Some(split) = split
            && let Some(before) = position.checked_sub(1)
            && usize::from(before) + 1 == split.len()
            && let Some(rest) = text.get(split.end(before)..).and_then(|t| t.strip_prefix(b", "))
        {
            return &rest[arguments::name_len(rest)..];
        }
        let split = Split::new(text, usize::from(position));
        split.get(text, position).unwrap_or_default()
    }

    fn new(text: &'a [u8]) -> Self {
        // `{flags=O_RDONLY, resolve=0}` of openat2.
        match text
            .strip_prefix(b"{")
            .and_then(|text| Some((text, search::find(text, b"flags=", 1)?)))
        {
            Some((text, at)) => Self(&text[at + 6..]),
            None => Self(text),
        }
    }

    /// Whether the flags include one whose name contains `name`, or whose number is `bit`. `rare`
    /// is as in [`search::find`].
    #[inline]
    pub(crate) fn has(self, name: &[u8], rare: usize, bit: u32) -> bool {
        match self.0.first() {
            Some(b'0'..=b'9') => self.number() & u64::from(bit) != 0,
            _ => search::contains(self.0, name, rare),
        }
    }

    /// Whether the close-on-exec flag is set; all its names contain CLOEXEC. Old versions print new
    /// flags by number: `SOCK_STREAM|0x80000`.
    #[inline]
    pub(crate) fn cloexec(self, bit: u32) -> bool {
        self.has(b"CLOEXEC", 5, bit)
            || search::contains(self.0, b"|0x", 2) && self.number() & u64::from(bit) != 0
    }

    /// What they say about an opened file.
    #[inline]
    pub(crate) fn opened(self) -> u32 {
        flags::opened(self.0)
    }

    /// Whether they include `O_APPEND`.
    pub(crate) fn appends(self) -> bool {
        flags::appends(self.0)
    }

    /// What unshare stops sharing.
    pub(crate) fn unshared(self) -> u32 {
        flags::unshared(flags::mask(self.0, flags::clone_bit))
    }

    /// All numbers among the flags, or-ed: `0x241`, `0x1|0x80000`, `0x3 /* A|B */`.
    pub(crate) fn number(self) -> u64 {
        let end = self.0.iter().position(|b| matches!(b, b',' | b'}')).unwrap_or(self.0.len());
        let numbers =
            self.0[..end].split(|&b| b == b'|').map(|flag| number::c_integer(flag).0 as u64);
        numbers.fold(0, |all, flag| all | flag)
    }
}

/// Whether `arg` is the constant `name`, by name or by `number`: `F_DUPFD`, `0`, `0 /* F_DUPFD */`.
pub(crate) fn is_constant(arg: &[u8], name: &[u8], number: i64) -> bool {
    if arg == name {
        return true;
    }
    let (value, n) = number::c_integer(arg);
    n > 0 && value == number && (n == arg.len() || arg[n] == b' ')
}
