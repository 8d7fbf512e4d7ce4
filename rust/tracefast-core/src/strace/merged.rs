//! Lines of several logs, one a task (`-ff`), put into one text in the order of their effects. Each
//! line has a prefix of fixed width, which says whose it is:
//!
//! `PPPPPPPPLLLLLLLLLLL ` - the task and the number of the line in the task's own log, hexadecimal,
//! then a blank, or a `+` where the log's last line has no line feed of its own.

use std::borrow::Cow;

/// Bytes of a prefix.
pub const PREFIX: usize = 20;

const PID: usize = 8;
const FEED: u8 = b'+';

/// What stands before each line of a merged text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prefix {
    /// The task whose log it is.
    pub pid: i32,
    /// Number of the line in that log, 1-based.
    pub line: u64,
    /// The line's feed is not that of the log, which ends without one.
    pub fed: bool,
}

impl Prefix {
    /// The prefix as text.
    ///
    /// # Examples
    /// ```
    /// use tracefast_core::strace::merged::Prefix;
    /// let prefix = Prefix { pid: 4711, line: 12, fed: false };
    /// assert_eq!(&prefix.text(), b"000012670000000000c ");
    /// assert_eq!(Prefix::read(&prefix.text()), Some(prefix));
    /// ```
    pub fn text(&self) -> [u8; PREFIX] {
        let mut out = [if self.fed { FEED } else { b' ' }; PREFIX];
        hex(&mut out[..PID], u64::from(self.pid.cast_unsigned()));
        hex(&mut out[PID..PREFIX - 1], self.line);
        out
    }

    /// Reads the prefix of a line; `None`: it has none.
    pub fn read(line: &[u8]) -> Option<Self> {
        let head: &[u8; PREFIX] = line.first_chunk()?;
        let value = |digits: &[u8]| {
            digits.iter().try_fold(0, |sum, &digit| Some(sum << 4 | nibble(digit)?))
        };
        let fed = match head[PREFIX - 1] {
            b' ' => false,
            FEED => true,
            _ => return None,
        };
        let pid = u32::try_from(value(&head[..PID])?).ok()?.cast_signed();
        Some(Self { pid, line: value(&head[PID..PREFIX - 1])?, fed })
    }
}

fn hex(out: &mut [u8], mut value: u64) {
    for digit in out.iter_mut().rev() {
        *digit = b"0123456789abcdef"[(value & 15) as usize];
        value >>= 4;
    }
}

fn nibble(digit: u8) -> Option<u64> {
    match digit {
        b'0'..=b'9' => Some(u64::from(digit - b'0')),
        b'a'..=b'f' => Some(u64::from(digit - b'a' + 10)),
        _ => None,
    }
}

/// Several lines that belong together, without the prefixes of the second and later ones.
pub fn own_text(lines: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(b'\n', lines).is_none() {
        return Cow::Borrowed(lines);
    }
    let mut out = Vec::with_capacity(lines.len());
    for (i, line) in lines.split(|&b| b == b'\n').enumerate() {
        if i > 0 {
            out.push(b'\n');
        }
        let prefix = if i > 0 { PREFIX.min(line.len()) } else { 0 };
        out.extend_from_slice(&line[prefix..]);
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_says_whose_line_it_is() {
        for prefix in [
            Prefix { pid: 1, line: 1, fed: true },
            Prefix { pid: 9_999_999, line: (1 << 44) - 1, fed: false },
        ] {
            let text = [&prefix.text()[..], b"close(3) = 0"].concat();
            assert_eq!(Prefix::read(&text), Some(prefix));
        }
        assert_eq!(Prefix::read(b"short"), None);
        assert_eq!(Prefix::read(b"close(3</data/x>) = 0"), None);
    }

    #[test]
    fn lines_that_belong_together_lose_their_prefixes() {
        let prefix = Prefix { pid: 7, line: 3, fed: false }.text();
        let text = [b" > a(b)\n", &prefix[..], b" > c(d)"].concat();
        assert_eq!(*own_text(&text), *b" > a(b)\n > c(d)");
        assert_eq!(*own_text(b" > a(b)"), *b" > a(b)");
    }
}
