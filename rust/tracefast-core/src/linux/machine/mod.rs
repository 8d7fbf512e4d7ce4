//! Machines: how they number their calls, and what their registers hold.
//!
//! `raw_syscalls` prints calls by number, and numbers mean other calls on other machines. A log
//! does not name its machine; [`crate::ftrace::machine_guess`] infers it from the numbers
//! themselves, from what the registers hold and from the shape of addresses.

pub(crate) mod register_pairs;
pub(crate) mod syscall_numbers;

pub(crate) use syscall_numbers::CALLS;
use syscall_numbers::X32;

use crate::linux::syscalls::strace_names::{strace_name, strace_name_32bit};
use crate::linux::syscalls::{Classes, classes_of};
use crate::text::number;

/// A machine with known system call numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Machine {
    /// x86 with 64 bits; x32 included.
    X86_64,
    /// x86 with 32 bits.
    I386,
    /// ARM with 64 bits.
    Arm64,
    /// ARM with 32 bits, by the EABI.
    Arm,
    /// RISC-V with 64 bits.
    Riscv64,
}

/// Calls of x32 are marked by this bit.
const X32_BIT: u64 = 0x4000_0000;
/// The first number of calls that x32 has for itself.
const X32_FIRST: u64 = 512;
/// The first number of ARM's private calls.
const ARM_FIRST: u64 = 0xf_0001;
static ARM_PRIVATE: [&str; 6] =
    ["breakpoint", "cacheflush", "usr26", "usr32", "set_tls", "get_tls"];

/// From here on a number means the same call on all machines but alpha
/// (include/uapi/asm-generic/unistd.h).
const COMMON: u64 = 424;

/// Above all numbers of the table.
const NUMBERS: usize = 480;

/// By machine and number, the position in the table plus one; 0: no such call.
static BY_NUMBER: [[u16; NUMBERS]; 5] = by_number();

const fn by_number() -> [[u16; NUMBERS]; 5] {
    let mut all = [[0; NUMBERS]; 5];
    let mut row = 0;
    while row < CALLS.len() {
        let mut machine = 0;
        while machine < 5 {
            let number = CALLS[row].1[machine];
            if number >= 0 {
                all[machine][number as usize] = row as u16 + 1;
            }
            machine += 1;
        }
        row += 1;
    }
    all
}

/// The call that an strace which is older than it prints by its number: `syscall_0x1b3`, or
/// `syscall_435`.
pub(crate) fn printed_by_number(name: &[u8]) -> Option<&'static str> {
    let text = name.strip_prefix(b"syscall_")?;
    let (number, n) = match text.strip_prefix(b"0x") {
        Some(text) => (number::hex_digits(text).0, 2 + number::hex_digits(text).1),
        None => (number::digits(text).0, number::digits(text).1),
    };
    let number = number & !X32_BIT;
    let common = n == text.len() && (COMMON..X32_FIRST).contains(&number);
    Machine::X86_64.call(number).filter(|_| common)
}

impl Machine {
    /// All of them, the likeliest first.
    pub const ALL: [Self; 5] = [Self::X86_64, Self::Arm64, Self::Riscv64, Self::Arm, Self::I386];

    /// The name by which users choose it.
    ///
    /// # Examples
    /// ```
    /// use tracefast_core::linux::machine::Machine;
    /// assert_eq!(Machine::Arm64.name(), "arm64");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64",
            Self::I386 => "i386",
            Self::Arm64 => "arm64",
            Self::Arm => "arm",
            Self::Riscv64 => "riscv64",
        }
    }

    /// The machine of this name, if there is one.
    ///
    /// # Examples
    /// ```
    /// use tracefast_core::linux::machine::Machine;
    /// assert_eq!(Machine::from_name("riscv64"), Some(Machine::Riscv64));
    /// assert_eq!(Machine::from_name("vax"), None);
    /// ```
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|machine| machine.name() == name)
    }

    /// The call with this number, by the name that strace prints; `None`: the machine has none.
    ///
    /// # Examples
    /// ```
    /// use tracefast_core::linux::machine::Machine;
    /// assert_eq!(Machine::X86_64.call(0), Some("read"));
    /// assert_eq!(Machine::Arm64.call(63), Some("read"));
    /// assert_eq!(Machine::Arm.call(0xf0005), Some("set_tls"));
    /// assert_eq!(Machine::X86_64.call(0x4000_0208), Some("execve"));
    /// assert_eq!(Machine::X86_64.call(400), None);
    /// ```
    #[inline]
    pub fn call(self, number: u64) -> Option<&'static str> {
        let Some(&at) = BY_NUMBER[self as usize].get(usize::try_from(number).ok()?) else {
            return self.rare(number);
        };
        CALLS.get(usize::from(at).checked_sub(1)?).map(|(name, _)| *name)
    }

    /// Numbers beyond the common ones.
    #[cold]
    fn rare(self, number: u64) -> Option<&'static str> {
        match self {
            Self::X86_64 => {
                let number = number.checked_sub(X32_BIT)?;
                match number.checked_sub(X32_FIRST) {
                    Some(own) => X32.get(usize::try_from(own).ok()?).copied(),
                    None => self.call(number),
                }
            }
            Self::Arm => {
                let private = number.checked_sub(ARM_FIRST)?;
                ARM_PRIVATE.get(usize::try_from(private).ok()?).copied()
            }
            _ => None,
        }
    }

    /// Registers have 32 bits.
    pub(crate) fn is_narrow(self) -> bool {
        matches!(self, Self::I386 | Self::Arm)
    }

    /// The bit of `O_DIRECTORY`.
    fn directory(self) -> u32 {
        match self {
            Self::X86_64 | Self::I386 | Self::Riscv64 => 0x1_0000,
            Self::Arm64 | Self::Arm => 0x4000,
        }
    }
}

/// How the calls of a log are numbered, and what their arguments hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyscallAbi {
    /// The machine; `None`: one that is not known.
    pub machine: Option<Machine>,
    /// The log has calls by name: those by number are the same ones again, and plain events.
    pub named: bool,
    /// The log is known to have calls by number.
    pub numbered: bool,
    /// Registers have 32 bits.
    pub narrow: bool,
}

impl Default for SyscallAbi {
    fn default() -> Self {
        let machine = Some(Machine::X86_64);
        Self { machine, named: false, numbered: false, narrow: false }
    }
}

impl SyscallAbi {
    /// The same log as recorded on `machine`.
    #[must_use]
    pub(crate) fn on_machine(self, machine: Machine) -> Self {
        Self { machine: Some(machine), narrow: machine.is_narrow(), ..self }
    }

    /// The machine by which calls got their names, as users know it; `None`: they have names in the
    /// log, or there are none.
    pub(crate) fn machine_name(&self) -> Option<&'static str> {
        let by_number = self.numbered && !self.named;
        by_number.then(|| self.machine.map_or("unknown", Machine::name))
    }

    /// The name by which strace knows a call that the kernel's trace metadata call `kernel`.
    #[inline]
    pub fn strace_name<'a>(&self, kernel: &'a [u8]) -> &'a [u8] {
        if self.narrow { strace_name_32bit(kernel) } else { strace_name(kernel) }
    }

    /// Whether the kernel prints an exit of a call of these classes. Calls that end a task have
    /// none. Nor has a return from a signal handler, as the number of the call is then lost, except
    /// on 32-bit ARM, which keeps it elsewhere.
    #[inline]
    pub(crate) fn returns(&self, classes: Classes) -> bool {
        let gone = classes.has(Classes::SIGRETURNS) && self.machine != Some(Machine::Arm);
        !gone && !classes.has(Classes::ENDS)
    }

    /// Whether an exit that is called `exit` ends the call `enter`. A program that starts gets its
    /// new registers: on x86-64 every form of execve then ends as execve, or under the number of
    /// i386's if the program has 32 bits. That is munmap's number, which cannot be meant: munmap
    /// would have been entered.
    pub fn ends(&self, enter: &str, exit: &str) -> bool {
        if enter == exit {
            return true;
        }
        classes_of(enter.as_bytes()).has(Classes::EXECS)
            && (exit == "execve"
                || exit == "munmap" && !self.named && self.machine == Some(Machine::X86_64))
    }

    /// The bit of `O_DIRECTORY`; none where the machine is not known.
    pub(crate) fn directory(&self) -> u32 {
        self.machine.map_or(0, Machine::directory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::syscalls;

    #[test]
    fn calls_without_a_name_have_a_number() {
        for (printed, call) in [
            ("syscall_0x1b3", Some("clone3")),
            ("syscall_435", Some("clone3")),
            ("syscall_0x400001b3", Some("clone3")),
            ("syscall_0x1b5", Some("openat2")),
            ("syscall_424", Some("pidfd_send_signal")),
            // They mean other calls on other machines, or none.
            ("syscall_423", None),
            ("syscall_0x38", None),
            ("syscall_511", None),
            ("syscall_0xffffffffffffffff", None),
            ("syscall_435x", None),
            ("syscall_0x", None),
            ("syscall_", None),
            ("clone3", None),
        ] {
            assert_eq!(printed_by_number(printed.as_bytes()), call, "{printed}");
        }
    }

    #[test]
    fn numbers_mean_calls() {
        for (name, numbers) in [
            ("read", [0, 3, 63, 3, 63]),
            ("write", [1, 4, 64, 4, 64]),
            ("close", [3, 6, 57, 6, 57]),
            ("execve", [59, 11, 221, 11, 221]),
            ("exit_group", [231, 252, 94, 248, 94]),
            ("openat", [257, 295, 56, 322, 56]),
            ("clone", [56, 120, 220, 120, 220]),
            ("futex", [202, 240, 98, 240, 98]),
            ("getrandom", [318, 355, 278, 384, 278]),
            ("statx", [332, 383, 291, 397, 291]),
            ("pidfd_send_signal", [424; 5]),
            ("clone3", [435; 5]),
            ("openat2", [437; 5]),
            ("fchmodat2", [452; 5]),
            ("file_setattr", [469; 5]),
        ] {
            let machines =
                [Machine::X86_64, Machine::I386, Machine::Arm64, Machine::Arm, Machine::Riscv64];
            for (machine, number) in machines.into_iter().zip(numbers) {
                assert_eq!(machine.call(number), Some(name), "{} {number}", machine.name());
            }
        }
    }

    #[test]
    fn calls_of_single_machines() {
        for (machine, number, name) in [
            (Machine::X86_64, 262, "newfstatat"),
            (Machine::X86_64, 335, "uretprobe"),
            (Machine::I386, 102, "socketcall"),
            (Machine::I386, 192, "mmap2"),
            (Machine::I386, 300, "fstatat64"),
            (Machine::I386, 422, "futex_time64"),
            (Machine::Arm64, 79, "newfstatat"),
            (Machine::Arm, 270, "fadvise64_64"),
            (Machine::Arm, 341, "sync_file_range2"),
            (Machine::Riscv64, 258, "riscv_hwprobe"),
            (Machine::Riscv64, 259, "riscv_flush_icache"),
        ] {
            assert_eq!(machine.call(number), Some(name));
        }
        assert_eq!(Machine::Riscv64.call(38), None);
        assert_eq!(Machine::Arm64.call(258), None);
        assert_eq!(Machine::Arm.call(7), None);
    }

    #[test]
    fn marked_and_private_numbers() {
        assert_eq!(Machine::X86_64.call(X32_BIT), Some("read"));
        assert_eq!(Machine::X86_64.call(X32_BIT + 511), None);
        assert_eq!(Machine::X86_64.call(X32_BIT + 512), Some("rt_sigaction"));
        assert_eq!(Machine::X86_64.call(X32_BIT + 547), Some("pwritev2"));
        assert_eq!(Machine::X86_64.call(X32_BIT + 548), None);
        assert_eq!(Machine::X86_64.call(512), None);
        assert_eq!(Machine::Arm64.call(X32_BIT), None);
        assert_eq!(Machine::Arm.call(0xf_0002), Some("cacheflush"));
        assert_eq!(Machine::Arm.call(0xf_0000), None);
        assert_eq!(Machine::Arm.call(0xf_0007), None);
        assert_eq!(Machine::X86_64.call(u64::MAX), None);
    }

    /// Calls of the table of system calls that have a number on no machine here.
    #[rustfmt::skip]
    const ELSEWHERE: &[&str] = &[
        "_exit", "arm_fadvise64_64", "arm_sync_file_range", "clone2", "old_mmap", "oldselect",
        "oldumount", "oldwait4", "osf_getdirentries", "osf_select", "osf_wait4", "pread", "pwrite",
        "set_tls", "spu_create", "spu_run", "timerfd",
    ];

    #[test]
    fn every_name_is_that_of_a_call() {
        for (name, _) in &CALLS {
            let known = syscalls::is_syscall(name.as_bytes());
            let newer = ["listns", "rseq_slice_yield"].contains(name);
            assert!(known || newer, "{name}");
        }
        for name in (0..syscalls::count()).map(|sys| syscalls::name(sys as u16)) {
            let numbered = CALLS.binary_search_by_key(&name, |(known, _)| known).is_ok();
            assert_ne!(numbered, ELSEWHERE.contains(&name), "{name}");
        }
        assert!(CALLS.is_sorted_by_key(|(name, _)| *name));
    }

    #[test]
    fn machines_have_names() {
        for machine in Machine::ALL {
            assert_eq!(Machine::from_name(machine.name()), Some(machine));
        }
        assert_eq!(Machine::from_name("X86_64"), None);
    }
}
