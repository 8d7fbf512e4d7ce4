//! The two halves of a system call as one row, wherever the first half is.

use std::borrow::Cow;

use crate::events::parsed_block::Parsed;
use crate::events::rows::ViewSource;
use crate::events::schema::Column as C;
use crate::events::split_calls::SecondHalf;
use crate::events::vocabulary::{EventKind, Status};
use crate::ftrace::call::arguments::{self, result};
use crate::ftrace::fields::{self, GivenArguments};
use crate::ftrace::format::Format;
use crate::ftrace::header::Clock;
use crate::linux::errno;
use crate::text::escape::escape_invalid;
use crate::text::string_view::{self, Place};

/// The arguments of a call: their text, and the view of it that the row gets.
#[derive(Clone, Copy)]
pub(crate) struct CallArguments<'a> {
    pub(crate) source: ViewSource<'a>,
    pub(crate) view: u128,
    pub(crate) given: GivenArguments<'a>,
}

/// What an exit belongs to.
#[derive(Clone, Copy)]
pub(crate) struct CallExit<'a> {
    /// Arguments; `None`: the log does not have the entry.
    pub(crate) args: Option<CallArguments<'a>>,
    /// Number of the call.
    pub(crate) sys: u16,
    /// When it was entered.
    pub(crate) entry: Option<i64>,
    /// Text of the return value.
    pub(crate) ret: &'a [u8],
}

/// Fills `row`, which has the exit's time, from both halves.
#[inline]
pub(crate) fn join(parsed: &mut Parsed, row: usize, format: &Format, exit: CallExit<'_>) {
    let value = result(exit.ret);
    let value = if format.abi.narrow { value.map(narrow) } else { value };
    let error = value.filter(|value| (-errno::MAX..0).contains(value));
    let name = error.and_then(|error| errno::name(error.unsigned_abs()));
    // The kernel restarts the call, or fails it with EINTR: strace prints `?`.
    let restart = name.is_some() && error.is_some_and(|error| error <= -512);
    let mut valid = C::Kind.bit() | C::Status.bit();
    if let Some(error) = error {
        parsed.rows.errno[row] = match name {
            Some(name) => parsed.errno_key(name.as_bytes()),
            // As strace prints it.
            None => parsed.errno_key(format!("ERRNO_{}", error.unsigned_abs()).as_bytes()),
        };
        valid |= C::Errno.bit();
    }
    if let Some(value) = value.filter(|_| !restart) {
        parsed.rows.ret[row] = if error.is_some() { -1 } else { value };
        valid |= C::Ret.bit();
    }
    let mut status = match value {
        None => Status::Truncated,
        Some(_) if restart => Status::Interrupted,
        Some(_) => Status::Complete,
    };
    let Parsed { rows, side, oddities, .. } = parsed;
    if let Some(args) = exit.args {
        rows.args[row] = args.view;
        valid |= C::Args.bit();
        let left = rows.has(row, C::Ts).then_some(rows.ts[row]);
        match exit.entry {
            Some(entry) => {
                // Clocks of two processors may disagree: then the time in the call is not known.
                let dur = left.and_then(|left| left.checked_sub(entry));
                if let Some(dur) = dur.filter(|_| format.clock != Clock::Ticks) {
                    if dur >= 0 {
                        rows.dur[row] = dur;
                        valid |= C::DurNs.bit();
                    } else {
                        oddities.impossible_durations += 1;
                    }
                }
                rows.ts[row] = entry;
                valid |= C::Ts.bit();
            }
            None => rows.valid[row] &= !C::Ts.bit(),
        }
    } else {
        // The time stays that of the exit: for a child, this is when it started to run.
        status = Status::Headless;
    }
    rows.kind[row] = EventKind::Syscall as u8;
    rows.status[row] = status as u8;
    rows.valid[row] |= valid;
    let nothing = ViewSource { bytes: b"", place: Place::Side, base: 0, utf8: true };
    let (source, given) = match exit.args {
        Some(args) => (args.source, args.given),
        None => (nothing, GivenArguments::Args(arguments::ArgumentText::alone(b""))),
    };
    let ret = value.filter(|_| error.is_none());
    let call = fields::CallText { sys: exit.sys, source, given, ret };
    fields::fill(rows, side, row, call, &format.abi);
}

/// A value as a register of 32 bits holds it: only errors are negative.
fn narrow(value: i64) -> i64 {
    let signed = i64::from(value as i32);
    if (-errno::MAX..0).contains(&signed) { signed } else { i64::from(value as u32) }
}

/// See [`crate::ftrace::finish`].
pub(crate) fn finish(
    parsed: &mut Parsed,
    text: &[u8],
    row: usize,
    format: &Format,
    half: SecondHalf<'_>,
) {
    let args = half.head.map(|head| elsewhere(parsed, head));
    let ret = &text[half.rest.0 as usize..half.rest.1 as usize];
    join(parsed, row, format, CallExit { args, sys: half.sys, entry: half.entry, ret });
}

/// See [`crate::ftrace::abandon`].
pub(crate) fn abandon(parsed: &mut Parsed, row: usize, format: &Format, args: &[u8], sys: u16) {
    let args = elsewhere(parsed, args);
    let Parsed { rows, side, .. } = parsed;
    rows.args[row] = args.view;
    rows.valid[row] |= C::Args.bit();
    let call = fields::CallText { sys, source: args.source, given: args.given, ret: None };
    fields::fill(rows, side, row, call, &format.abi);
}

/// Arguments that are not in the block's text.
fn elsewhere<'a>(parsed: &mut Parsed, args: &'a [u8]) -> CallArguments<'a> {
    let side = &mut parsed.side;
    let given = GivenArguments::Args(arguments::ArgumentText::alone(args));
    match escape_invalid(args) {
        Cow::Borrowed(_) => {
            let base = side.bytes.len();
            side.bytes.extend_from_slice(args);
            CallArguments {
                source: ViewSource { bytes: args, place: Place::Side, base, utf8: true },
                view: string_view::pack(args, Place::Side, base),
                given,
            }
        }
        // Not UTF-8: views of its parts are made of copies.
        Cow::Owned(text) => CallArguments {
            source: ViewSource { bytes: args, place: Place::Side, base: 0, utf8: false },
            view: side.put(text.as_bytes()),
            given,
        },
    }
}
