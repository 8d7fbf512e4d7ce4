//! What other programs put before each line of a log: a log that was pasted, or that went through
//! `grep -n`, a CI job, a container's log.
//!
//! A prefix has the same form on nearly all lines with an event. Its words and marks are the same
//! everywhere; only line numbers, times and the width of blanks differ from line to line. A number
//! that goes up and down may be a pid: such a column belongs to the log, and is never a prefix.

use crate::text::stamp::{Clock, Stamp};
use crate::text::{number, stamp};

/// The longest prefix, in bytes.
pub const PREFIX_MAX: usize = 128;

/// The longest form of a prefix: its literal bytes, and one byte for each part that differs.
const FORM: usize = 96;

/// Most parts of a line in which the start of an event is looked for.
const PARTS: usize = 31;

/// Bytes of a form that stand for parts which differ from line to line. No line of text has them.
const NUMBER: u8 = 1;
const BLANKS: u8 = 2;
const ISO: u8 = 3;
const SYSLOG: u8 = 4;
const DAY: u8 = 5;

/// The form of a prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prefix {
    form: [u8; FORM],
    len: u8,
    /// Blanks at its end. Further ones belong to the log.
    blanks: u8,
    /// Blanks may precede it: numbers are aligned.
    aligned: bool,
    /// What the last time in it counts from.
    clock: Option<Clock>,
}

impl Prefix {
    /// Length of the prefix of `line`, which may be cut after [`PREFIX_MAX`] bytes and more. `None`
    /// if it does not have it.
    ///
    /// # Examples
    /// ```
    /// use tracefast_core::text::prefix::Prefix;
    /// let starts = |line: &[u8]| line.starts_with(b"close(");
    /// let prefix = Prefix::find(b"1: close(3) = 0\n2: close(4) = 0\n", starts).unwrap();
    /// assert_eq!(prefix.skip(b"17: close(5) = 0"), Some(4));
    /// assert_eq!(prefix.skip(b"close(5) = 0"), None);
    /// ```
    pub fn skip(&self, line: &[u8]) -> Option<usize> {
        Some(self.read(line)?.0)
    }

    /// What the times in it count from, if it has any.
    pub(crate) fn clock(&self) -> Option<Clock> {
        self.clock
    }

    /// Length of the prefix of `line`, and the time in it, in ns; see [`Prefix::skip`].
    pub(crate) fn read(&self, line: &[u8]) -> Option<(usize, Option<i64>)> {
        let head = &line[..line.len().min(PREFIX_MAX)];
        let mut at = if self.aligned { blanks(head) } else { 0 };
        let mut time = None;
        for &code in &self.form[..usize::from(self.len)] {
            let (n, stamp) = part(code, head.get(at..)?)?;
            at += n;
            time = stamp.or(time);
        }
        let last = usize::from(self.blanks);
        let found = blanks(&head[at..]).min(last);
        at += found;
        // Editors remove blanks at the ends of lines.
        let ends = line.len() == at || &line[at..] == b"\r";
        let cut = at == head.len() && !ends;
        let time = time.filter(|time| Some(time.clock) == self.clock).map(|time| time.ns);
        ((found == last || ends) && !cut).then_some((at, time))
    }

    /// Whether it differs from line to line in more than blanks.
    pub fn varies(&self) -> bool {
        self.form[..usize::from(self.len)].iter().any(|&code| code < b' ' && code != BLANKS)
    }

    /// It is blanks only.
    pub(crate) fn is_indent(&self) -> bool {
        self.len == 0
    }

    /// The lines without their prefixes. Lines that have none stay as they are.
    pub(crate) fn without(&self, lines: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(lines.len());
        for line in lines.split_inclusive(|&b| b == b'\n') {
            let own = line.strip_suffix(b"\n").unwrap_or(line);
            out.extend_from_slice(&line[self.skip(own).unwrap_or(0)..]);
        }
        out
    }

    /// The prefix that at least nine of ten lines have on which an event starts somewhere;
    /// `is_event` says whether one starts at the start of the text that it gets. `None` if events
    /// are at the starts of lines.
    pub fn find(text: &[u8], is_event: impl Fn(&[u8]) -> bool) -> Option<Self> {
        let lines = text.split(|&b| b == b'\n').map(<[u8]>::trim_ascii_end);
        let heads: Vec<Head> = lines.filter_map(|line| Head::of(line, &is_event)).collect();
        let mut forms: Vec<&[u8]> = heads.iter().map(|head| &head.form[..]).collect();
        forms.sort_unstable();
        let most = forms.chunk_by(|a, b| a == b).max_by_key(|same| same.len())?;
        let form = most[0].to_vec();
        if most.len() * 10 < heads.len() * 9 {
            return None;
        }
        let same: Vec<&Head> = heads.iter().filter(|head| head.form == form).collect();
        Self::of(form, &same)
    }

    /// The prefix of `heads`, which have this form.
    fn of(mut form: Vec<u8>, heads: &[&Head<'_>]) -> Option<Self> {
        let least = usual_blanks(heads)?;
        let aligned = !form.is_empty() && heads.iter().any(|head| head.aligned);
        let numbers = heads.first()?.numbers.len();
        let numbers: Option<Vec<Vec<u8>>> = (0..numbers).map(|i| number_form(heads, i)).collect();
        let mut numbers = numbers?.into_iter();
        form = form
            .into_iter()
            .flat_map(|code| match code {
                NUMBER => numbers.next().unwrap_or_default(),
                code => vec![code],
            })
            .collect();
        if form.is_empty() && least == 0 {
            return None;
        }
        let clock = heads.first()?.clock;
        let clock = clock.filter(|_| heads.iter().all(|head| head.clock == clock));
        let mut prefix =
            Self { form: [0; FORM], len: 0, blanks: u8::try_from(least).ok()?, aligned, clock };
        prefix.form.get_mut(..form.len())?.copy_from_slice(&form);
        prefix.len = form.len() as u8;
        Some(prefix)
    }
}

/// How many blanks are most often at the ends of these prefixes; nearly all have as many or more.
fn usual_blanks(heads: &[&Head<'_>]) -> Option<usize> {
    let mut all: Vec<usize> = heads.iter().map(|head| head.blanks).collect();
    all.sort_unstable();
    let most = all.chunk_by(|a, b| a == b).max_by_key(|same| same.len())?[0];
    let have = all.iter().filter(|&&blanks| blanks >= most).count();
    (have * 10 >= all.len() * 9).then_some(most)
}

/// What number `i` is in the form: its digits, if they are the same in all `heads`, or the number of
/// a line. `None`: it may be a column of the log.
fn number_form(heads: &[&Head<'_>], i: usize) -> Option<Vec<u8>> {
    let first = heads.first()?.numbers[i];
    if heads.iter().all(|head| head.numbers[i] == first) {
        return Some(first.to_vec());
    }
    let value = |head: &Head<'_>| number::digits(head.numbers[i]).0;
    let up = heads.windows(2).filter(|pair| value(pair[0]) < value(pair[1])).count();
    (up * 10 >= (heads.len() - 1) * 9).then_some(vec![NUMBER])
}

/// What precedes the event of one line.
struct Head<'a> {
    /// Without blanks at both ends.
    form: Vec<u8>,
    /// The digits of each `NUMBER`.
    numbers: Vec<&'a [u8]>,
    /// Blanks at the end.
    blanks: usize,
    aligned: bool,
    /// What the last time counts from.
    clock: Option<Clock>,
}

impl<'a> Head<'a> {
    /// What precedes the event of `line`, if there is one.
    fn of(line: &'a [u8], is_event: impl Fn(&[u8]) -> bool) -> Option<Self> {
        let mut head =
            Self { form: Vec::new(), numbers: Vec::new(), blanks: 0, aligned: false, clock: None };
        let mut at = 0;
        for _ in 0..PARTS {
            let rest = &line[at..];
            // The first column of the log may be aligned: some of the blanks are its own.
            let blank = blanks(rest);
            if let Some(own) = (0..=blank).rev().find(|&n| is_event(&rest[n..])) {
                head.blanks = own;
                return Some(head);
            }
            head.aligned |= at == 0 && blank > 0;
            at += blank;
            if blank > 0 && !head.form.is_empty() {
                head.form.push(BLANKS);
            }
            let rest = &line[at..];
            let (code, n, stamp) = next_part(rest)?;
            head.clock = stamp.map(|stamp| stamp.clock).or(head.clock);
            match code {
                Some(code) => head.form.push(code),
                None => head.form.extend_from_slice(&rest[..n]),
            }
            if code == Some(NUMBER) {
                head.numbers.push(&rest[..n]);
            }
            at += n;
            if at > PREFIX_MAX / 2 || head.form.len() > FORM / 2 {
                return None;
            }
        }
        None
    }
}

/// The first part of `text`: its code, if it may differ from line to line, its length, and the time
/// that it is.
fn next_part(text: &[u8]) -> Option<(Option<u8>, usize, Option<Stamp>)> {
    for code in [ISO, SYSLOG, DAY] {
        if let Some((n, stamp)) = part(code, text) {
            return Some((Some(code), n, stamp));
        }
    }
    let word = text.iter().take_while(|&&byte| is_word(byte)).count();
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match text.first()? {
        _ if digits > 0 && digits == word => Some((Some(NUMBER), word, None)),
        _ if word > 0 => Some((None, word, None)),
        ..b' ' | 0x7f => None,
        _ => Some((None, 1, None)),
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'/' | b'-' | 0x80..)
}

/// Length of the part of a form at the start of `text`, and the time that it is.
fn part(code: u8, text: &[u8]) -> Option<(usize, Option<Stamp>)> {
    let time = match code {
        ISO => stamp::iso(text),
        SYSLOG => stamp::syslog(text),
        DAY => stamp::time_of_day(text),
        _ => return Some((untimed(code, text)?, None)),
    }?;
    Some((time.len, Some(time)))
}

/// The same for a part that is no time.
fn untimed(code: u8, text: &[u8]) -> Option<usize> {
    let n = match code {
        NUMBER => text.iter().take_while(|byte| byte.is_ascii_digit()).count(),
        BLANKS => blanks(text),
        literal => usize::from(text.first() == Some(&literal)),
    };
    (n > 0).then_some(n)
}

fn blanks(text: &[u8]) -> usize {
    text.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}
