//! Seeks: the new position, and the size that a seek from the end shows.

use memchr::memrchr;

use crate::events::details::Detail;
use crate::events::schema::Column as C;
use crate::events::vocabulary::whence;
use crate::strace::arguments::{self, Split};
use crate::strace::fields::writer::FieldWriter;
use crate::text::number;

/// What a seek counts from: `SEEK_SET`, `0`, `0x1 /* SEEK_CUR */`.
fn base(arg: &[u8]) -> u32 {
    let (value, n) = number::c_integer(arg);
    if n > 0 {
        let known = matches!(arg.get(n), None | Some(b' '));
        return u32::try_from(value)
            .ok()
            .filter(|&n| known && n < whence::OTHER)
            .unwrap_or(whence::OTHER);
    }
    match arg {
        b"SEEK_SET" => whence::SEEK_SET,
        b"SEEK_CUR" => whence::SEEK_CUR,
        b"SEEK_END" => whence::SEEK_END,
        b"SEEK_DATA" => whence::SEEK_DATA,
        b"SEEK_HOLE" => whence::SEEK_HOLE,
        _ => whence::OTHER,
    }
}

/// The last argument of `text`, and the text before it.
#[inline]
fn last(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let comma = memrchr(b',', text)?;
    let arg = text.get(comma + 2..)?;
    Some((&text[..comma], &arg[arguments::name_len(arg)..]))
}

impl FieldWriter<'_> {
    /// `lseek(3, -60, SEEK_END) = 54`.
    pub(crate) fn lseek(&mut self, ret: Option<i64>) {
        let arguments = last(self.source.bytes).and_then(|(before, whence)| {
            let (_, argument) = last(before)?;
            Some((number::whole_integer(argument)?, base(whence)))
        });
        let Some((mut argument, whence)) = arguments else {
            self.seek(0, whence::OTHER, None);
            return;
        };
        // A raw 32-bit register: a negative offset shows as a large one, but no seek forward ends
        // before its own offset.
        if argument > i64::from(i32::MAX) && ret.is_some_and(|position| position < argument) {
            argument = u32::try_from(argument).map_or(argument, |low| i64::from(low as i32));
        }
        self.seek(argument, whence, ret);
    }

    /// `_llseek(3, -60, [54], SEEK_END) = 0`. As raw registers the offset takes two, and only the
    /// address of the position is printed.
    #[cold]
    pub(crate) fn llseek(&mut self, ret: Option<i64>) {
        let text = self.source.bytes;
        let split = Split::new(text, 4);
        let value = |at| split.get(text, at).and_then(number::whole_integer);
        let (argument, from, mut position) = if split.len() == 5 {
            let argument = value(1).and_then(|high| Some(high << 32 | value(2)?));
            (argument, split.get(text, 4), None)
        } else {
            let position = split.get(text, 2).and_then(|arg| arg.strip_prefix(b"["));
            let position = position.and_then(|arg| number::whole_integer(arg.strip_suffix(b"]")?));
            (value(1), split.get(text, 3), position)
        };
        let whence = from.map_or(whence::OTHER, base);
        if whence == whence::SEEK_SET {
            position = position.or(argument);
        }
        let position = position.filter(|_| ret == Some(0));
        let known = argument.map_or(whence::OTHER, |_| whence);
        self.seek(argument.unwrap_or(0), known, position);
        if ret == Some(0) {
            let detail = self.side.detail(Detail::Position(position));
            self.rows.effect[self.row].detail = detail;
        }
    }

    /// Records a seek by `argument` that ended at `position`. If it counts from the end, it shows
    /// the size.
    fn seek(&mut self, argument: i64, whence: u32, position: Option<i64>) {
        let effect = &mut self.rows.effect[self.row];
        (effect.flags, effect.number) = (whence, argument);
        if whence == whence::SEEK_END
            && let Some(size) = position.and_then(|position| position.checked_sub(argument))
        {
            self.integer(size, C::Size);
        }
    }
}
