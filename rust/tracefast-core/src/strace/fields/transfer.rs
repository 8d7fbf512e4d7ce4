//! Where a transfer of data starts: at an offset that the call gives, or at the file position.

use crate::events::schema::Column as C;
use crate::events::vocabulary::{At, Motion};
use crate::linux::syscalls::{Count, NONE, Shape, Special};
use crate::strace::arguments::{MAX_ARGS, Split};
use crate::strace::fields::writer::FieldWriter;
use crate::text::number;

/// Where a transfer starts whose offset is argument `position`, and the offset if the text shows
/// it. If the text ends before the argument, it is taken to be missing.
pub(crate) fn start(shape: &Shape, text: &[u8], split: &Split, position: u8) -> (At, Option<i64>) {
    if shape.streams {
        return (At::Stream, None);
    }
    if position == NONE {
        return (At::Position, None);
    }
    // Calls with two descriptors take the addresses of their offsets.
    let pointer = shape.fd2 != NONE;
    let Some(arg) = split.get(text, position).filter(|arg| !arg.is_empty()) else {
        let own = pointer || shape.special == Special::Current;
        return (if own { At::Position } else { At::Elsewhere }, None);
    };
    let value = if pointer {
        pointed(arg)
    } else if matches!(shape.count, Count::Vector(_)) && text.starts_with(b"0x") {
        registers(text)
    } else {
        number::whole_integer(arg)
    };
    let at = match value {
        Some(0..) => At::Given,
        Some(-1) if shape.special == Special::Current => At::Position,
        None if pointer && matches!(arg, b"NULL" | b"0" | b"0x0") => At::Position,
        _ => At::Elsewhere,
    };
    (at, value)
}

/// The offset in `[14]`, `[14 => 20]` or `[14] => [20]` at which the transfer starts. A bare number
/// is an address, and NULL means the file position.
fn pointed(arg: &[u8]) -> Option<i64> {
    let (value, n) = number::c_integer(arg.strip_prefix(b"[")?);
    (n > 0).then_some(value)
}

/// The offset of preadv as raw registers. On 32-bit architectures it takes two; elsewhere the
/// second one is ignored (preadv(2)).
#[cold]
fn registers(text: &[u8]) -> Option<i64> {
    let split = Split::new(text, MAX_ARGS);
    let value = |at| split.get(text, at).and_then(number::whole_integer);
    let (low, high) = (value(3)?, value(4).unwrap_or(0));
    let wide = (1..split.len() as u8)
        .any(|at| value(at).is_some_and(|register| u32::try_from(register).is_err()));
    Some(if wide { low } else { high << 32 | low })
}

impl FieldWriter<'_> {
    /// Writes the offsets, and where each side of the call starts.
    pub(crate) fn transfer(&mut self, split: &Split) {
        let shape = self.shape;
        let text = self.source.bytes;
        let (place, offset) = start(shape, text, split, shape.offset);
        let (place2, offset2) = start(shape, text, split, shape.offset2);
        for (value, column) in [(offset, C::Offset), (offset2, C::Offset2)] {
            if let Some(value) = value {
                self.integer(value, column);
            }
        }
        if shape.motion != Motion::None {
            let effect = &mut self.rows.effect[self.row];
            (effect.place, effect.place2) = (place, place2);
        }
    }
}
