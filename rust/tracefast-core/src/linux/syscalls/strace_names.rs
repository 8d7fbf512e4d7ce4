//! Names of system calls: the kernel's own, turned into those that strace prints.

/// strace's name of a call that the kernel's trace metadata call `kernel`, on machines
/// with 64 bits.
#[inline]
pub(crate) fn strace_name(kernel: &[u8]) -> &[u8] {
    match kernel {
        b"newstat" => b"stat",
        b"newfstat" => b"fstat",
        b"newlstat" => b"lstat",
        b"newuname" => b"uname",
        b"umount" => b"umount2",
        b"oldumount" => b"umount",
        b"sendfile64" => b"sendfile",
        b"llseek" => b"_llseek",
        b"sysctl" => b"_sysctl",
        b"mmap_pgoff" => b"mmap2",
        b"old_mmap" => b"mmap",
        b"old_select" => b"select",
        b"old_readdir" => b"readdir",
        b"old_getrlimit" => b"getrlimit",
        b"arm64_personality" => b"personality",
        _ => kernel,
    }
}

/// The same on machines with 32 bits, where many calls have an older form: the kernel names the old
/// one by what is short in it, strace the new one by what is long.
pub(crate) fn strace_name_32bit(kernel: &[u8]) -> &[u8] {
    if let Some(name) = kernel.strip_prefix(b"ia32_").or_else(|| kernel.strip_suffix(b"_time32")) {
        return name;
    }
    if let Some((_, name)) = SHORT_TIMES.iter().find(|(short, _)| *short == kernel) {
        return name;
    }
    if let Some(name) = kernel.strip_suffix(b"16")
        && IDS.iter().any(|(id, _)| *id == name)
    {
        return name;
    }
    if let Some((_, name)) = IDS.iter().find(|(id, _)| *id == kernel) {
        return name;
    }
    match kernel {
        b"stat" => b"oldstat",
        b"fstat" => b"oldfstat",
        b"lstat" => b"oldlstat",
        b"uname" => b"olduname",
        b"olduname" => b"oldolduname",
        b"select" => b"_newselect",
        b"getrlimit" => b"ugetrlimit",
        b"sendfile64" => kernel,
        _ => strace_name(kernel),
    }
}

/// Calls with times of 32 bits that have only the suffix `32`.
static SHORT_TIMES: [(&[u8], &[u8]); 10] = [
    (b"time32", b"time"),
    (b"stime32", b"stime"),
    (b"utime32", b"utime"),
    (b"clock_settime32", b"clock_settime"),
    (b"clock_gettime32", b"clock_gettime"),
    (b"clock_adjtime32", b"clock_adjtime"),
    (b"timer_gettime32", b"timer_gettime"),
    (b"timer_settime32", b"timer_settime"),
    (b"timerfd_gettime32", b"timerfd_gettime"),
    (b"timerfd_settime32", b"timerfd_settime"),
];

/// Calls that once had user and group ids of 16 bits.
static IDS: [(&[u8], &[u8]); 19] = [
    (b"chown", b"chown32"),
    (b"fchown", b"fchown32"),
    (b"lchown", b"lchown32"),
    (b"getuid", b"getuid32"),
    (b"getgid", b"getgid32"),
    (b"geteuid", b"geteuid32"),
    (b"getegid", b"getegid32"),
    (b"setuid", b"setuid32"),
    (b"setgid", b"setgid32"),
    (b"setreuid", b"setreuid32"),
    (b"setregid", b"setregid32"),
    (b"setresuid", b"setresuid32"),
    (b"getresuid", b"getresuid32"),
    (b"setresgid", b"setresgid32"),
    (b"getresgid", b"getresgid32"),
    (b"setfsuid", b"setfsuid32"),
    (b"setfsgid", b"setfsgid32"),
    (b"getgroups", b"getgroups32"),
    (b"setgroups", b"setgroups32"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::syscalls::is_syscall;

    #[test]
    fn calls_are_spelt_as_strace_does() {
        assert_eq!(strace_name(b"sendfile64"), b"sendfile");
        assert_eq!(strace_name(b"umount"), b"umount2");
        assert_eq!(strace_name(b"read"), b"read");
        for (kernel, name) in [
            ("sendfile64", "sendfile64"),
            ("sendfile", "sendfile"),
            ("newstat", "stat"),
            ("stat", "oldstat"),
            ("stat64", "stat64"),
            ("newuname", "uname"),
            ("futex_time32", "futex"),
            ("clock_gettime32", "clock_gettime"),
            ("setresuid16", "setresuid"),
            ("setresuid", "setresuid32"),
            ("select", "_newselect"),
            ("old_select", "select"),
            ("ia32_fadvise64_64", "fadvise64_64"),
            ("mmap_pgoff", "mmap2"),
            ("read", "read"),
        ] {
            assert_eq!(strace_name_32bit(kernel.as_bytes()), name.as_bytes(), "{kernel}");
            assert!(is_syscall(name.as_bytes()), "{name}");
        }
        for name in IDS.iter().chain(&SHORT_TIMES).map(|(_, name)| name) {
            assert!(is_syscall(name));
        }
    }

    #[test]
    fn example_of_narrow_spelling() {
        use crate::linux::syscalls::strace_names::strace_name_32bit;
        assert_eq!(strace_name_32bit(b"getuid16"), b"getuid");
        assert_eq!(strace_name_32bit(b"getuid"), b"getuid32");
        assert_eq!(strace_name_32bit(b"ia32_pread64"), b"pread64");
    }

    #[test]
    fn example_of_spelling() {
        use crate::linux::syscalls::strace_names::strace_name;
        assert_eq!(strace_name(b"newstat"), b"stat");
        assert_eq!(strace_name(b"newfstatat"), b"newfstatat");
    }
}
