//! Values of 64 bits in two registers of 32 bits: which two, by machine.
//!
//! x86 takes the next two registers, ARM the next pair that starts with an even one (syscall(2)).

use crate::linux::machine::Machine;

/// A value's lower and upper half, by the positions of their registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RegisterPlace {
    /// One register.
    One(u8),
    /// Two.
    Two(u8, u8),
}

/// Where a call with such values has its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WideArguments {
    /// Byte position.
    pub offset: Option<RegisterPlace>,
    /// Bytes asked for.
    pub count: Option<RegisterPlace>,
    /// The length that the file has after the call.
    pub length: Option<RegisterPlace>,
    /// How many registers the call has.
    pub registers: usize,
}

impl WideArguments {
    /// A call without any of them.
    pub(crate) const NOTHING: Self = Self { offset: None, count: None, length: None, registers: 0 };
}

/// A call at an offset, with the count of bytes before or after it.
const fn at(offset: (u8, u8), count: RegisterPlace, registers: usize) -> WideArguments {
    let offset = Some(RegisterPlace::Two(offset.0, offset.1));
    WideArguments { offset, count: Some(count), registers, ..WideArguments::NOTHING }
}

const fn length(low: u8, high: u8) -> WideArguments {
    let registers = high as usize + 1;
    WideArguments {
        length: Some(RegisterPlace::Two(low, high)),
        registers,
        ..WideArguments::NOTHING
    }
}

/// The registers of call `name` on a machine with 32 bits; `None`: its values are not wide.
pub(crate) fn wide_arguments(machine: Machine, name: &str) -> Option<WideArguments> {
    use RegisterPlace::{One, Two};
    let arm = machine == Machine::Arm;
    Some(match name {
        "pread64" | "pwrite64" if arm => at((4, 5), One(2), 6),
        "pread64" | "pwrite64" => at((3, 4), One(2), 5),
        "truncate64" | "ftruncate64" if arm => length(2, 3),
        "truncate64" | "ftruncate64" => length(1, 2),
        "readahead" if arm => at((2, 3), One(4), 5),
        "readahead" => at((1, 2), One(3), 4),
        "fadvise64_64" | "sync_file_range2" if arm => at((2, 3), Two(4, 5), 6),
        "fadvise64_64" | "sync_file_range" => at((1, 2), Two(3, 4), 6),
        "fadvise64" => at((1, 2), One(3), 5),
        "fallocate" => at((2, 3), Two(4, 5), 6),
        // Two halves among the arguments, whatever the machine.
        "preadv" | "pwritev" | "preadv2" | "pwritev2" => {
            WideArguments { offset: Some(Two(3, 4)), registers: 5, ..WideArguments::NOTHING }
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arm_takes_even_pairs() {
        let place = |machine, name| wide_arguments(machine, name).and_then(|wide| wide.offset);
        assert_eq!(place(Machine::I386, "pread64"), Some(RegisterPlace::Two(3, 4)));
        assert_eq!(place(Machine::Arm, "pread64"), Some(RegisterPlace::Two(4, 5)));
        for name in ["pread64", "readahead", "fallocate", "fadvise64_64", "truncate64"] {
            let wide = wide_arguments(Machine::Arm, name).expect("wide");
            for place in [wide.offset, wide.length].into_iter().flatten() {
                assert!(
                    matches!(place, RegisterPlace::Two(low, high) if low % 2 == 0 && high == low + 1)
                );
            }
        }
        assert_eq!(place(Machine::Arm, "read"), None);
    }
}
