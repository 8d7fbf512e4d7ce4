//! Which machine a log was recorded on.
//!
//! Each machine gets points for every call: for numbers that it has, for arguments and results that
//! fit what the number would mean there, for addresses where its programs are laid out. A single
//! point may be wrong, since registers beyond a call's arguments hold leftovers; the sum is
//! reliable.

use crate::hash::HashMap;

use crate::events::rows::AT_FDCWD;
use crate::events::vocabulary::Op;
use crate::ftrace::call::arguments::{hexadecimal, result};
use crate::linux::errno;
use crate::linux::machine::{CALLS, Machine, SyscallAbi};
use crate::linux::syscalls;
use crate::linux::syscalls::strace_names::strace_name;
use crate::linux::syscalls::{Count, NONE, Shape};

/// Registers that `raw_syscalls` shows.
const REGISTERS: usize = 6;
type Registers = [u64; REGISTERS];

/// Later calls are not examined; those by name matter less.
const ENOUGH: u32 = 4096;
const ENOUGH_NAMED: u32 = 512;

/// No program has addresses below this one.
const LOWEST: u64 = 0x1000;
/// The first address that does not fit in 32 bits.
const WIDE: u64 = 1 << 32;
const MAX_FD: i32 = 1 << 20;

/// What the calls of a log show.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    /// Points by machine.
    points: [i64; 5],
    /// Calls by number.
    numbered: u32,
    /// Calls by name.
    named: u32,
    /// Values that 32 bits do not hold.
    wide: u32,
    /// Values that can only be addresses if registers have 32 bits.
    tall: u32,
    /// The last entry by number of each task.
    open: HashMap<Option<i32>, (u64, Registers)>,
}

impl Evidence {
    /// `sys_enter: NR number (args)`.
    pub(crate) fn entry(&mut self, tid: Option<i32>, number: u64, args: &[u8]) {
        if self.numbered == ENOUGH {
            return;
        }
        self.numbered += 1;
        let mut registers = [0; REGISTERS];
        let values = args.split(|&b| b == b' ').map(|v| v.strip_suffix(b",").unwrap_or(v));
        for (register, value) in registers.iter_mut().zip(values) {
            *register = hexadecimal_value(value).unwrap_or(0);
        }
        for value in registers {
            self.value(value);
        }
        for machine in Machine::ALL {
            let name = machine.call(number);
            self.points[machine as usize] += name.map_or(-6, |name| entered(name, &registers));
        }
        self.open.insert(tid, (number, registers));
    }

    /// `sys_exit: NR number = ret`.
    pub(crate) fn exit(&mut self, tid: Option<i32>, number: u64, ret: &[u8]) {
        if self.numbered == ENOUGH {
            return;
        }
        let entry = self.open.remove(&tid).filter(|(entered, _)| *entered == number);
        let Some(ret) = result(ret).filter(|ret| !(-errno::MAX..0).contains(ret)) else { return };
        // The address of a mapping may look negative where registers have 32 bits.
        let signed = (i64::from(i32::MIN)..0).contains(&ret);
        self.value(if signed { u64::from(ret as u32) } else { ret as u64 });
        for machine in Machine::ALL {
            if let Some(name) = machine.call(number) {
                let registers = entry.as_ref().map(|(_, registers)| registers);
                self.points[machine as usize] += returned(name, registers, tid, ret);
            }
        }
    }

    /// `sys_name(args)`, by the kernel's name, in any form.
    pub(crate) fn name(&mut self, name: &[u8], args: &[u8]) {
        if self.named == ENOUGH_NAMED {
            return;
        }
        self.named += 1;
        let spelt = strace_name(name.strip_prefix(b"ia32_").unwrap_or(name));
        let row = CALLS.binary_search_by(|(known, _)| known.as_bytes().cmp(spelt));
        let numbers = row.ok().map(|row| CALLS[row].1);
        let syscall_nr = args.strip_prefix(b"__syscall_nr=").map(first_number);
        for (machine, points) in self.points.iter_mut().enumerate() {
            *points += match (numbers.map(|numbers| numbers[machine]), syscall_nr) {
                (Some(number), Some(syscall_nr)) => {
                    8 * (if i64::from(number) == syscall_nr { 1 } else { -1 })
                }
                (Some(number), None) => i64::from(number >= 0),
                (None, _) => 0,
            };
        }
        // Linux 6.19 prints the arguments of openat in decimal.
        if spelt == b"openat" {
            return;
        }
        let end = memchr::memchr(b'"', args).unwrap_or(args.len());
        for word in args[..end].split(|&b| b == b' ') {
            let word = word.strip_suffix(b",").unwrap_or(word);
            let word = memchr::memchr(b'=', word).map_or(word, |at| &word[at + 1..]);
            if let Some(value) = hexadecimal_value(word) {
                self.value(value);
            }
        }
    }

    /// `sys_name -> ret`, in any form.
    pub(crate) fn result(&mut self, ret: &[u8]) {
        if self.named == ENOUGH_NAMED {
            return;
        }
        self.named += 1;
        if let Some(ret) = result(ret).filter(|ret| !(-errno::MAX..0).contains(ret)) {
            self.value(ret as u64);
        }
    }

    /// A value as a register holds it: addresses differ from machine to machine.
    fn value(&mut self, value: u64) {
        if value >= WIDE {
            self.wide += 1;
        } else if (0x1000_0000..0xffff_f000).contains(&value) {
            self.tall += 1;
        }
        let at = |shift: u32| value >> shift;
        let likely: &[Machine] = match 64 - value.leading_zeros() {
            // Programs at 2/3 of the address space, libraries and the stack at its end.
            47 if matches!(at(40), 0x55 | 0x56 | 0x7d..=0x7f) => {
                &[Machine::X86_64, Machine::X86_64, Machine::Riscv64]
            }
            48 if matches!(at(40), 0xaa | 0xab | 0xfd..=0xff) => &[Machine::Arm64; 2],
            39 if matches!(at(32), 0x55 | 0x56 | 0x7d..=0x7f) => &[Machine::Arm64; 2],
            38 if matches!(at(32), 0x2a | 0x2b | 0x3d..=0x3f) => &[Machine::Riscv64; 2],
            32 if matches!(at(24), 0xbe | 0xb6 | 0x76 | 0x7e) => &[Machine::Arm],
            32 if matches!(at(24), 0xbf | 0xb7 | 0xf7) => &[Machine::I386],
            31 if matches!(at(24), 0x76 | 0x7e) => &[Machine::Arm],
            _ => &[],
        };
        for machine in likely {
            self.points[*machine as usize] += 1;
        }
    }

    /// The log has calls by name.
    pub(crate) fn is_named(&self) -> bool {
        self.named > 0
    }

    /// What is most likely.
    pub(crate) fn abi(&self) -> SyscallAbi {
        let named = self.is_named();
        let all = self.numbered + self.named;
        // A log of a 32-bit machine has no wide values, unless it was concatenated from two logs.
        let narrow = self.wide.saturating_mul(50) < all
            && self.tall > 0
            && self.tall.saturating_mul(8) >= all;
        let possible = Machine::ALL.into_iter().filter(|machine| machine.is_narrow() == narrow);
        // With equal points the first machine wins.
        let best = possible.rev().max_by_key(|&machine| self.points[machine as usize]);
        let machine = best.filter(|&machine| self.fits(machine));
        SyscallAbi { machine, named, numbered: self.numbered > 0, narrow }
    }

    /// Most numbers mean a call, and what the calls do makes sense.
    fn fits(&self, machine: Machine) -> bool {
        let few = self.numbered < 4;
        few || self.points[machine as usize] * 2 >= i64::from(self.numbered)
    }
}

fn hexadecimal_value(word: &[u8]) -> Option<u64> {
    let digits = word.strip_prefix(b"0x").unwrap_or(word);
    if digits.is_empty() || digits.len() > 16 {
        return None;
    }
    digits.iter().try_fold(0, |value: u64, &b| Some(value << 4 | hexadecimal(b)?))
}

/// The number of `__syscall_nr=0x21 (33) …` or `__syscall_nr=33 …`.
fn first_number(text: &[u8]) -> i64 {
    crate::text::number::c_integer(text).0
}

/// Points for a call with registers that fit its name.
fn entered(name: &str, registers: &Registers) -> i64 {
    let sys = syscalls::by_name(name.as_bytes());
    if sys == syscalls::UNKNOWN {
        return 1;
    }
    let shape = syscalls::shape(sys);
    let value = |at: u8| registers.get(usize::from(at)).copied();
    let mut points = 1;
    for at in [shape.fd, shape.at] {
        if let Some(value) = value(at) {
            points += if is_descriptor(value) { 1 } else { -3 };
        }
    }
    let buffer = matches!(shape.count, Count::Last | Count::LastButOne | Count::Vector(1));
    for at in [shape.path, shape.stat, if buffer { 1 } else { NONE }] {
        match value(at) {
            Some(0) | None => {}
            Some(value) => points += if (LOWEST..1 << 56).contains(&value) { 1 } else { -3 },
        }
    }
    if let Some(count) = count(shape, registers) {
        points += if count < 1 << 40 { 1 } else { -2 };
    }
    points
}

/// Points for a result that fits the call; `registers` is what it was entered with.
fn returned(name: &str, registers: Option<&Registers>, tid: Option<i32>, ret: i64) -> i64 {
    let fits = |fits: bool, points: i64| if fits { points } else { -2 * points };
    let shape = syscalls::shape(syscalls::by_name(name.as_bytes()));
    match name {
        "gettid" | "set_tid_address" => {
            return fits(tid.is_none_or(|tid| ret == i64::from(tid)), 3);
        }
        "mmap" | "mmap2" | "mremap" => {
            // On machines with 32 bits it may look negative.
            return fits(ret != 0 && ret.trailing_zeros() >= 12, 2);
        }
        "munmap" | "mprotect" | "rt_sigaction" | "rt_sigprocmask" | "fsync" => {
            return fits(ret == 0, 1);
        }
        _ => {}
    }
    if shape.makes_fd || shape.op == Op::Fork {
        return fits((0..i64::from(MAX_FD) * 4).contains(&ret), 1);
    }
    if shape.op == Op::Close || shape.stat != NONE {
        return fits(ret == 0, 1);
    }
    match registers.and_then(|registers| count(shape, registers)) {
        Some(count) if shape.moves => fits(ret >= 0 && ret as u64 <= count, 2),
        _ => 0,
    }
}

/// The bytes asked for.
fn count(shape: &Shape, registers: &Registers) -> Option<u64> {
    let at = match shape.count {
        Count::Arg(at) => at,
        Count::Last | Count::LastButOne => 2,
        _ => return None,
    };
    registers.get(usize::from(at)).copied()
}

/// Small, or one of the negative numbers for no file and the working directory; the
/// upper half of a register may be left over.
fn is_descriptor(value: u64) -> bool {
    let fd = value as u32 as i32;
    let negative = value > u64::MAX - LOWEST;
    let known = (0..MAX_FD).contains(&fd) || fd == -1 || fd == AT_FDCWD;
    known && (value < WIDE || negative)
}

#[cfg(test)]
mod tests {
    #[test]
    fn example_of_evidence() {
        use crate::ftrace::machine_guess::Evidence;
        use crate::linux::machine::Machine;
        let mut evidence = Evidence::default();
        evidence.entry(Some(7), 63, b"3, ffffcad6c47c, 340, 0, 0, 0");
        evidence.exit(Some(7), 63, b"832");
        assert_eq!(evidence.abi().machine, Some(Machine::Arm64));
    }
}
