//! Writes single columns of a row: descriptors and numbers.

use crate::events::rows::{AT_FDCWD, Rows, Side, ViewSource};
use crate::events::schema::Column as C;
use crate::events::vocabulary::Op;
use crate::linux::syscalls::Shape;
use crate::strace::arguments::{self, MAX_ARGS, Split};
use crate::text::number;

/// The row that is filled, and the text that it is filled from.
pub(crate) struct FieldWriter<'a> {
    pub(crate) rows: &'a mut Rows,
    pub(crate) side: &'a mut Side,
    pub(crate) row: usize,
    pub(crate) source: &'a ViewSource<'a>,
    pub(crate) shape: &'static Shape,
}

impl FieldWriter<'_> {
    #[inline]
    pub(crate) fn set(&mut self, column: C) {
        self.rows.valid[self.row] |= column.bit();
    }

    #[inline]
    pub(crate) fn has(&self, column: C) -> bool {
        self.rows.has(self.row, column)
    }

    #[inline]
    pub(crate) fn put_fd(&mut self, fd: i32, second: bool) {
        if second {
            self.rows.fd2[self.row] = fd;
            self.set(C::Fd2);
        } else {
            self.rows.fd[self.row] = fd;
            self.set(C::Fd);
        }
    }

    /// Writes the descriptor at `start` of the source, and its annotation if it has one.
    #[inline]
    pub(crate) fn descriptor(&mut self, start: usize, second: bool) {
        let text = self.source.bytes;
        let Some(arg) = text.get(start..) else { return };
        // Most descriptors have one digit.
        let (fd, n) = match *arg {
            [digit @ b'0'..=b'9', b'<' | b',' | b')', ..] => (i32::from(digit - b'0'), 1),
            _ => fd_number(arg),
        };
        if n == 0 {
            return;
        }
        self.put_fd(fd, second);
        if arg.get(n) == Some(&b'<')
            && let Some((end, plain)) = arguments::annotation(text, start + n)
        {
            self.annotation(start + n + 1, end - 1, plain, second);
        }
    }

    /// Writes the last argument of `args` into `column` if it is an integer. Returns the position
    /// of the comma before it.
    #[inline(always)]
    pub(crate) fn last_integer(&mut self, args: &[u8], column: C) -> Option<usize> {
        // No number is longer than 24 bytes; with its name it is shorter than 40.
        let low = args.len().saturating_sub(40);
        let comma = low + args[low..].iter().rposition(|&b| b == b',')?;
        let arg = args.get(comma + 2..)?;
        let value = number::whole_integer(&arg[arguments::name_len(arg)..])?;
        self.integer(value, column);
        Some(comma)
    }

    /// Writes the last two arguments: count and offset.
    #[inline]
    pub(crate) fn last_integers(&mut self, text: &[u8]) {
        if text.starts_with(b"0x") {
            // Raw registers: on 32-bit architectures an offset takes two.
            self.registers(text);
        } else if let Some(comma) = self.last_integer(text, C::Offset) {
            self.last_integer(&text[..comma], C::Requested);
        }
    }

    #[cold]
    fn registers(&mut self, text: &[u8]) {
        let split = Split::new(text, MAX_ARGS);
        let value = |at| split.get(text, at).and_then(number::whole_integer);
        if let Some(count) = value(2) {
            self.integer(count, C::Requested);
        }
        let pair = |low, high| Some(value(high)? << 32 | value(low)?);
        let wide = (1..split.len() as u8)
            .any(|at| value(at).is_some_and(|register| u32::try_from(register).is_err()));
        let offset = match split.len() {
            // Old versions print a fifth register on 64-bit architectures too; its value is
            // meaningless.
            4 => value(3),
            5 if wide || value(4) == Some(0) => value(3),
            // Some architectures require a pair to start with an even register (syscall(2)).
            6 if !wide => pair(4, 5),
            _ => None,
        };
        if let Some(offset) = offset {
            self.integer(offset, C::Offset);
        }
    }

    /// Writes a number of bytes. Negative ones, and those that do not fit, are left out.
    #[inline]
    pub(crate) fn integer(&mut self, value: i64, column: C) {
        if value < 0 {
            return;
        }
        match column {
            C::Requested => self.rows.requested[self.row] = value,
            C::Offset => self.rows.offset[self.row] = value,
            C::Offset2 => self.rows.offset2[self.row] = value,
            C::Size => self.rows.size[self.row] = value,
            C::Bytes => self.rows.bytes[self.row] = value,
            _ => return,
        }
        self.set(column);
    }

    /// Writes the descriptor that the call returns.
    #[inline]
    pub(crate) fn returned_descriptor(&mut self, ret: Option<i64>) {
        if let Some(fd) = ret.and_then(|fd| i32::try_from(fd).ok()).filter(|&fd| fd >= 0) {
            self.put_fd(fd, self.shape.op == Op::Dup);
        }
    }
}

/// The number of a descriptor, and the length of its text.
#[inline]
pub(crate) fn fd_number(arg: &[u8]) -> (i32, usize) {
    if let [b'A', ..] = arg {
        return if arg.starts_with(b"AT_FDCWD") { (AT_FDCWD, 8) } else { (0, 0) };
    }
    // `-e raw` prints -1 and AT_FDCWD as unsigned 32-bit or 64-bit numbers.
    let (value, n) = number::c_integer(arg);
    (value as i32, n)
}
