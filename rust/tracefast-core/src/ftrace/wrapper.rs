//! What other programs put around the lines of a trace: the kernel's own log, a page of HTML, the
//! prefixes of pasted logs.

use crate::text::block::BOM;
use crate::text::number;
use crate::text::prefix::Prefix;
use crate::text::stamp;

/// What other programs put around the lines of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Wrap {
    /// Nothing.
    #[default]
    None,
    /// It is a part of a page of HTML.
    Page,
    /// Its lines went through the kernel's log.
    KernelLog,
    /// Other programs put this before each line.
    Prefix(Prefix),
}

/// How many bytes show what is at the ends of lines.
const SEARCHED: usize = 1 << 14;

/// Fewer lines show nothing.
const FEWEST: usize = 8;

/// What other programs put at the ends of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LineEnds {
    /// Nothing: blanks there are the trace's own, as `workqueue_activate_work` prints one.
    #[default]
    Own,
    /// Carriage returns.
    Return,
    /// Blanks, and carriage returns perhaps.
    Blanks,
}

impl LineEnds {
    /// What nearly all lines with any text have.
    pub(crate) fn of(text: &[u8]) -> Self {
        let text = &text[..text.len().min(SEARCHED)];
        let (mut all, mut returns, mut blanks) = (0, 0, 0);
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', text).chain([text.len()]) {
            let line = &text[start..end];
            start = end + 1;
            let plain = line.strip_suffix(b"\r").unwrap_or(line);
            if !plain.trim_ascii().is_empty() {
                all += 1;
                returns += usize::from(plain.len() < line.len());
                blanks += usize::from(matches!(plain.last(), Some(b' ' | b'\t')));
            }
        }
        let nearly_all = |count: usize| all >= FEWEST && count * 10 >= all * 9;
        match () {
            () if nearly_all(blanks) => Self::Blanks,
            () if nearly_all(returns) => Self::Return,
            () => Self::Own,
        }
    }
}

/// The prefix that the kernel's log has before each line (`ftrace_dump_on_oops`, SysRq-z): its
/// length. `<4>[   12.345678] `, `[   12.345678][    T1] `, with the host and program of syslog
/// before it or without; `[Mon Nov 23 14:00:00 2026] ` of `dmesg -T`, or what the journal prints,
/// which leaves out the kernel's own time: `Nov 23 14:00:00 host kernel: `.
///
/// # Examples
/// ```
/// use tracefast_core::ftrace::wrapper::kernel_log;
/// let line = b"[   12.345678]     bash-7       0d..2. 12345us : f <-g";
/// assert_eq!(kernel_log(line), Some(15));
/// assert_eq!(kernel_log(b"host kernel: [ 1.000000] x"), Some(25));
/// assert_eq!(kernel_log(b"[000] 1.000000: x"), None);
/// ```
pub fn kernel_log(line: &[u8]) -> Option<usize> {
    let mut at = 0;
    if line.first() == Some(&b'<') {
        let (_, n) = number::digits(&line[1..]);
        at = n + 2;
        if !(1..=3).contains(&n) || line.get(n + 1) != Some(&b'>') {
            return None;
        }
    } else if line.first() != Some(&b'[') {
        // The longest prefix that syslog writes.
        let name = memchr::memmem::find(&line[..line.len().min(96)], b"kernel: ")?;
        at = name + 8;
        if line.get(at) != Some(&b'[') {
            return stamp::syslog(line).or_else(|| stamp::iso(line)).map(|_| at);
        }
    }
    at = bracketed(line, at, |text| {
        if is_date(text) {
            return true;
        }
        let text = text.trim_ascii_start();
        let (_, whole) = number::digits(text);
        let (_, fraction) = number::digits(text.get(whole + 1..).unwrap_or_default());
        whole > 0 && fraction == 6 && text.get(whole) == Some(&b'.') && text.len() == whole + 7
    })?;
    // The caller: a task or a processor.
    let caller = bracketed(line, at, |text| {
        let text = text.trim_ascii_start();
        matches!(text.first(), Some(b'T' | b'C')) && number::digits(&text[1..]).1 + 1 == text.len()
    });
    at = caller.unwrap_or(at);
    Some(if line.get(at) == Some(&b' ') { at + 1 } else { at })
}

/// `Mon Nov 23 14:00:00 2026`.
fn is_date(text: &[u8]) -> bool {
    let date = text.get(4..19).and_then(stamp::syslog);
    text.len() == 24 && text[3] == b' ' && text[19] == b' ' && date.is_some()
}

/// The end of `[…]` at `at`, if `is` accepts its content.
fn bracketed(line: &[u8], at: usize, is: impl Fn(&[u8]) -> bool) -> Option<usize> {
    let text = line.get(at..)?.strip_prefix(b"[")?;
    let close = text.iter().take(32).position(|&b| b == b']')?;
    is(&text[..close]).then_some(at + close + 2)
}

/// The line without the escaped line feed and the line continuation that end it in a JavaScript
/// string.
pub fn script(line: &[u8]) -> Option<&[u8]> {
    line.strip_suffix(br"\n\")
}

/// The text is a page of HTML, as systrace makes them around a trace.
pub fn is_page(text: &[u8]) -> bool {
    let text = text.strip_prefix(BOM).unwrap_or(text).trim_ascii_start();
    [&b"<!doctype html"[..], b"<html"]
        .iter()
        .any(|start| text.get(..start.len()).is_some_and(|text| text.eq_ignore_ascii_case(start)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_log() {
        for (line, rest) in [
            ("[   12.345678] x", "x"),
            ("<0>[   12.345678]  x", " x"),
            ("<12>[99999.345678][    T1] x", "x"),
            ("[    0.000001][   C12]x", "x"),
            ("Nov 21 08:00:00 host kernel: [   12.345678] x", "x"),
            ("[   12.345678] ", ""),
            ("[   12.345678]", ""),
            ("[Mon Nov 23 14:00:00 2026] x", "x"),
            ("<4>[Sun Jan  1 00:00:01 2023]  x", " x"),
            ("Nov 21 08:00:00 host kernel:  x", " x"),
            ("2026-11-21T08:00:00.123456+0100 host kernel: x", "x"),
        ] {
            let n = kernel_log(line.as_bytes()).unwrap_or_else(|| panic!("a prefix: {line}"));
            assert_eq!(&line[n..], rest, "{line}");
        }
        for line in [
            "",
            "[",
            "<",
            "<x>[ 1.000000] ",
            "[1.0] x",
            "[ 1.000000",
            "kernel: x",
            "[Mon x] y",
            "a kernel: x",
        ] {
            assert_eq!(kernel_log(line.as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn pages() {
        assert!(is_page(b"<!DOCTYPE html>\n<html>"));
        assert!(is_page(b"\xef\xbb\xbf\n <HTML>"));
        assert!(!is_page(b"# tracer: nop\n"));
        assert_eq!(script(br"x: y\n\"), Some(&b"x: y"[..]));
        assert_eq!(script(b"x: y"), None);
    }
}
