//! The arguments of calls that wait, of strace and of ftrace.

use memchr::memmem;

use crate::tables::argument_parts::Parts;
use crate::tables::waits::world::wakes::ANY;
use crate::text::escape::unescape_raw;
use crate::text::number;

/// The arguments of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arguments<'a> {
    text: &'a str,
    /// They are ftrace's: all numbers are hexadecimal, and each may have a name.
    ftrace: bool,
}

/// How long a call may wait.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Limit {
    /// For ever.
    #[default]
    None,
    /// Nanoseconds from its start.
    For(i64),
    /// Until this time, in nanoseconds on the clock that the call names.
    Until(i64),
    /// There is one, but the log does not say which.
    Some,
    /// The log does not say: strace prints the argument when the call returns.
    Unknown,
}

impl Limit {
    /// Whether the call ends by itself.
    pub(crate) fn ends(self) -> bool {
        !matches!(self, Self::None | Self::Unknown)
    }
}

impl<'a> Arguments<'a> {
    pub(crate) fn new(text: &'a str, ftrace: bool) -> Self {
        Self { text, ftrace }
    }

    /// The argument at a position, without the name that ftrace prints before it.
    pub(crate) fn at(&self, at: usize) -> Option<&'a str> {
        Parts(self.text).nth(at).map(|part| self.without_name(part))
    }

    /// The first arguments, found in one pass.
    pub(crate) fn first<const N: usize>(&self) -> [Option<&'a str>; N] {
        let mut parts = Parts(self.text);
        std::array::from_fn(|_| parts.next().map(|part| self.without_name(part)))
    }

    fn without_name(&self, part: &'a str) -> &'a str {
        let part = part.trim_ascii();
        let named = if self.ftrace { part.split_once(": ") } else { None };
        named.map_or(part, |(_, value)| value)
    }

    /// The number at a position.
    pub(crate) fn number(&self, at: usize) -> Option<i64> {
        self.value(self.at(at)?)
    }

    /// The number that an argument is.
    pub(crate) fn value(&self, part: &str) -> Option<i64> {
        let text = part.as_bytes();
        if self.ftrace {
            let (value, n) = number::hex_digits(text.strip_prefix(b"0x").unwrap_or(text));
            return (n > 0).then_some(value as i64);
        }
        if part.starts_with("NULL") {
            return Some(0);
        }
        let (value, n) = number::c_integer(text);
        (n > 0).then_some(value)
    }

    /// Whether a flag is set at a position, by its name or, where strace prints numbers, its bit.
    pub(crate) fn has(&self, at: usize, name: &str, bit: i64) -> bool {
        self.at(at).is_some_and(|part| self.sets(part, name, bit))
    }

    /// Whether an argument sets a flag.
    pub(crate) fn sets(&self, part: &str, name: &str, bit: i64) -> bool {
        memmem::find(part.as_bytes(), name.as_bytes()).is_some()
            || !part.contains('_') && self.value(part).unwrap_or(0) & bit != 0
    }

    /// Whether `wait4(2)` or `waitid(2)` only looks whether a child has ended.
    pub(crate) fn only_looks(&self, name: &str) -> bool {
        self.has(if name == "waitid" { 3 } else { 2 }, "WNOHANG", 1)
    }

    /// Whether a position has this value, by its name or its number.
    pub(crate) fn is(&self, at: usize, name: &str, number: i64) -> bool {
        self.at(at).is_some_and(|part| self.means(part, name, number))
    }

    /// Whether an argument is this value, by its name or its number.
    pub(crate) fn means(&self, part: &str, name: &str, number: i64) -> bool {
        part == name || !part.starts_with(name) && self.value(part) == Some(number)
    }

    /// A time of milliseconds at a position, as poll(2) has it: negative is for ever.
    pub(crate) fn milliseconds(&self, at: usize) -> Limit {
        match self.number(at) {
            // ftrace prints the register, in which an int is unsigned.
            Some(ms) if ms < 0 || self.ftrace && ms >= 1 << 31 => Limit::None,
            Some(ms) => Limit::For(ms.saturating_mul(1_000_000)),
            None => Limit::Unknown,
        }
    }

    /// A `struct timespec` or `timeval` at a position.
    pub(crate) fn time(&self, at: usize) -> Limit {
        self.time_of(self.at(at))
    }

    fn time_of(&self, part: Option<&str>) -> Limit {
        let Some(part) = part.filter(|part| !part.is_empty()) else {
            return Limit::Unknown;
        };
        if let Some(ns) = timespec(part) {
            return Limit::For(ns);
        }
        match self.value(part) {
            Some(0) => Limit::None,
            _ => Limit::Some,
        }
    }
}

/// `{tv_sec=1, tv_nsec=2}`, `{tv_sec=1, tv_usec=2}`, or `{1, 2}` of an older strace.
fn timespec(part: &str) -> Option<i64> {
    let text = part.strip_prefix('{')?;
    let (first, rest) = text.split_once(", ")?;
    let seconds = first.strip_prefix("tv_sec=").unwrap_or(first);
    let micro = rest.starts_with("tv_usec=");
    let fraction = rest.strip_prefix("tv_nsec=").or_else(|| rest.strip_prefix("tv_usec="));
    let value = |text: &str| {
        let (value, n) = number::c_integer(text.as_bytes());
        (n > 0).then_some(value)
    };
    let fraction = value(fraction.unwrap_or(rest))?.saturating_mul(if micro { 1000 } else { 1 });
    Some(value(seconds)?.saturating_mul(1_000_000_000).saturating_add(fraction))
}

/// The time that setsockopt(2) sets: `{tv_sec=1, tv_usec=0}`, or the bytes of one.
pub(crate) fn option_time(part: &str) -> Limit {
    let ns = timespec(part).or_else(|| {
        let mut bytes = Vec::new();
        unescape_raw(part.strip_prefix('"')?.strip_suffix('"')?.as_bytes(), &mut bytes);
        let (seconds, rest) = bytes.split_first_chunk::<8>()?;
        let micro = rest.first_chunk::<8>()?;
        let value = |bytes: &[u8; 8]| i64::from_le_bytes(*bytes);
        let ns = value(seconds).checked_mul(1_000_000_000)?;
        ns.checked_add(value(micro).checked_mul(1000)?)
    });
    match ns {
        // Without one it may wait for ever: socket(7).
        Some(0) => Limit::None,
        Some(ns) => Limit::For(ns),
        None => Limit::Some,
    }
}

/// The address in an argument: `127.0.0.1:5000`, `[::1]:5000`, `/run/socket`, `@name`.
pub(crate) fn address(part: &str) -> Option<String> {
    let text = part.strip_prefix("{sa_family=")?;
    let between = |start: &str, end: char| {
        let (_, rest) = text.split_once(start)?;
        rest.split_once(end).map(|(found, _)| found)
    };
    if text.starts_with("AF_UNIX") {
        let (_, path) = text.split_once("path=")?;
        let (at, path) = path.strip_prefix('@').map_or(("", path), |path| ("@", path));
        let path = path.strip_prefix('"')?;
        let path = path.get(..path.rfind('"')?)?;
        // Some programs pass the whole of the structure, others the name alone.
        let name = if at.is_empty() { path } else { path.trim_end_matches("\\0") };
        let relative = at.is_empty() && !name.starts_with('/');
        return Some(format!("{}{name}", if relative { "./" } else { at }));
    }
    if text.starts_with("AF_INET6") {
        let port = between("sin6_port=htons(", ')')?;
        let address = between("inet_pton(AF_INET6, \"", '"')?;
        return Some(match address.strip_prefix("::ffff:").filter(|rest| rest.contains('.')) {
            Some(mapped) => format!("{mapped}:{port}"),
            None => format!("[{address}]:{port}"),
        });
    }
    let port = between("sin_port=htons(", ')')?;
    Some(format!("{}:{port}", between("inet_addr(\"", '"')?))
}

/// What futex(2) is asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FutexOp {
    Wait,
    Wake,
    /// Wakes some, and moves the others to a second futex.
    Requeue,
    /// Wakes some on each of two futexes.
    WakeBoth,
    /// Gives a lock to who waits for it.
    Unlock,
    Other,
}

/// A call of futex(2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FutexCall {
    pub(crate) address: u64,
    /// The second futex of a call on two.
    pub(crate) second: u64,
    pub(crate) op: FutexOp,
    /// Only threads that share the memory may use it.
    pub(crate) private: bool,
    /// The value that a waiter expects.
    pub(crate) value: i64,
    /// It is for those with one of these bits.
    pub(crate) mask: u32,
    pub(crate) limit: Limit,
}

const FUTEX_PRIVATE: i64 = 128;
const FUTEX_COMMAND: i64 = 127;
const FUTEX_WAIT_BITSET: i64 = 9;
const FUTEX_WAKE_BITSET: i64 = 10;

impl FutexCall {
    pub(crate) fn parse(arguments: Arguments<'_>) -> Option<Self> {
        let parts: [_; 6] = arguments.first();
        let number = |at: usize| parts[at].and_then(|part| arguments.value(part));
        let address = number(0)? as u64;
        let op = parts[1]?;
        let (op, absolute, private, bits, locks) = if let Some(word) = op.strip_prefix("FUTEX_") {
            let word = word.split('|').next().unwrap_or_default();
            let plain = word.strip_suffix("_PRIVATE");
            let (op, absolute) = by_name(plain.unwrap_or(word));
            let bits = plain.unwrap_or(word).ends_with("_BITSET");
            (op, absolute, plain.is_some(), bits, word.starts_with("LOCK_PI"))
        } else {
            let code = arguments.value(op)?;
            let (op, absolute) = by_number(code & FUTEX_COMMAND);
            let bits = matches!(code & FUTEX_COMMAND, FUTEX_WAIT_BITSET | FUTEX_WAKE_BITSET);
            (op, absolute, code & FUTEX_PRIVATE != 0, bits, false)
        };
        let value = number(2).unwrap_or(0);
        // strace leaves out the arguments that an operation does not use.
        let (at_time, at_mask) = match op {
            _ if arguments.ftrace => (3, 5),
            FutexOp::Wait if locks => (2, 4),
            FutexOp::Wait => (3, 4),
            _ => (3, 3),
        };
        let mask = number(at_mask).filter(|_| bits).map_or(ANY, |mask| mask as u32);
        let limit = match op {
            FutexOp::Wait => match arguments.time_of(parts[at_time]) {
                Limit::For(ns) if absolute => Limit::Until(ns),
                limit => limit,
            },
            _ => Limit::None,
        };
        let second = match op {
            FutexOp::Requeue | FutexOp::WakeBoth => number(4).unwrap_or(0) as u64,
            _ => 0,
        };
        Some(Self { address, second, op, private, value, mask, limit })
    }
}

/// The operation, and whether its time is absolute: futex(2).
fn by_name(word: &str) -> (FutexOp, bool) {
    match word {
        "WAIT" => (FutexOp::Wait, false),
        "WAIT_BITSET" | "LOCK_PI" | "LOCK_PI2" | "WAIT_REQUEUE_PI" => (FutexOp::Wait, true),
        "WAKE" | "WAKE_BITSET" => (FutexOp::Wake, false),
        "UNLOCK_PI" => (FutexOp::Unlock, false),
        "REQUEUE" | "CMP_REQUEUE" | "CMP_REQUEUE_PI" => (FutexOp::Requeue, false),
        "WAKE_OP" => (FutexOp::WakeBoth, false),
        _ => (FutexOp::Other, false),
    }
}

fn by_number(code: i64) -> (FutexOp, bool) {
    // The numbers in include/uapi/linux/futex.h.
    by_name(match code {
        0 => "WAIT",
        1 => "WAKE",
        3 => "REQUEUE",
        4 => "CMP_REQUEUE",
        5 => "WAKE_OP",
        6 => "LOCK_PI",
        7 => "UNLOCK_PI",
        9 => "WAIT_BITSET",
        10 => "WAKE_BITSET",
        11 => "WAIT_REQUEUE_PI",
        12 => "CMP_REQUEUE_PI",
        13 => "LOCK_PI2",
        _ => "",
    })
}

/// What a task waits for on a descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Watched {
    pub(crate) fd: i32,
    /// Data that it can take.
    pub(crate) take: bool,
    /// Room for data that it can give.
    pub(crate) give: bool,
}

/// The descriptors of `[{fd=3, events=POLLIN}, …]`; `None` if strace printed an address, or left
/// some out.
pub(crate) fn poll_set(part: &str) -> Option<Vec<Watched>> {
    let text = part.strip_prefix('[')?;
    if text.contains("...") {
        return None;
    }
    let mut set = Vec::new();
    for entry in text.split("{fd=").skip(1) {
        let (fd, n) = number::c_integer(entry.as_bytes());
        let Ok(fd) = i32::try_from(fd) else { continue };
        if n == 0 || fd < 0 {
            continue;
        }
        let events = entry.rsplit_once("events=").map_or("", |(_, events)| events);
        let take = events.contains("POLLIN") || events.contains("POLLRDNORM");
        let give = events.contains("POLLOUT") || events.contains("POLLWRNORM");
        set.push(Watched { fd, take: take || !give, give });
    }
    Some(set)
}

/// The descriptors of two sets of select(2), `[3 5]`, for reading and for writing; `None` if strace
/// printed an address.
pub(crate) fn select_sets(read: &str, write: &str) -> Option<Vec<Watched>> {
    let mut set = Vec::new();
    for (part, take) in [(read, true), (write, false)] {
        if part.starts_with("NULL") {
            continue;
        }
        let inner = part.strip_prefix('[')?;
        // With -y: [3<pipe:[5]> 4</dev/pts/0>].
        let mut rest = inner.as_bytes();
        loop {
            let (fd, n) = number::c_integer(rest);
            if n == 0 {
                break;
            }
            set.push(Watched { fd: i32::try_from(fd).ok()?, take, give: !take });
            rest = rest.get(n..)?;
            if rest.first() == Some(&b'<') {
                let end = memmem::find(rest, b"> ").or_else(|| rest.len().checked_sub(1))?;
                rest = rest.get(end + 1..)?;
            }
            rest = rest.trim_ascii_start();
        }
    }
    Some(set)
}

/// The first descriptor of a result: `([{fd=5, revents=POLLIN}])`, `(in [3 4], left {…})`.
pub(crate) fn ready(result: &str) -> Option<i32> {
    let at = result.find("fd=").map(|at| at + 3);
    let at = at.or_else(|| {
        result
            .find("in [")
            .or_else(|| result.find("out ["))
            .map(|at| at + result.get(at..).and_then(|rest| rest.find('[')).unwrap_or(0) + 1)
    })?;
    let (fd, n) = number::c_integer(result.as_bytes().get(at..)?);
    if n == 0 { None } else { i32::try_from(fd).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strace(text: &str) -> Arguments<'_> {
        Arguments::new(text, false)
    }

    fn ftrace(text: &str) -> Arguments<'_> {
        Arguments::new(text, true)
    }

    #[test]
    fn parts_are_split_outside_of_brackets_and_strings() {
        let arguments = strace(r#"3, [{"a,\"", 4}], {x=1, y=2}, NULL"#);
        assert_eq!(arguments.at(1), Some(r#"[{"a,\"", 4}]"#));
        assert_eq!(arguments.at(2), Some("{x=1, y=2}"));
        assert_eq!(arguments.number(3), Some(0));
        assert_eq!(arguments.at(4), None);
    }

    #[test]
    fn futexes() {
        let wait = FutexCall {
            address: 0x55d0,
            second: 0,
            op: FutexOp::Wait,
            private: true,
            value: 2,
            mask: ANY,
            limit: Limit::None,
        };
        for arguments in [
            strace("0x55d0, FUTEX_WAIT_PRIVATE, 2, NULL"),
            strace("0x55d0, 0x80 /* FUTEX_??? */, 2, NULL"),
            strace("0x55d0, FUTEX_WAIT_BITSET_PRIVATE|FUTEX_CLOCK_REALTIME, 2, NULL, 0xffffffff"),
            ftrace("55d0, 80, 2, 0, ca, 0"),
            ftrace("uaddr: 0x55d0, op: 0x189, val: 0x2, utime: 0x0, uaddr2: 0x0, val3: 0xffffffff"),
        ] {
            assert_eq!(FutexCall::parse(arguments), Some(wait), "{arguments:?}");
        }
        let call = |text| FutexCall::parse(strace(text)).expect("a futex");
        assert!(!call("0x55d0, FUTEX_WAIT, 2, NULL").private);
        let limited = "0x7, FUTEX_WAIT_PRIVATE, 2, {tv_sec=1, tv_nsec=5}";
        assert_eq!(call(limited).limit, Limit::For(1_000_000_005));
        let until = "0x7, FUTEX_WAIT_BITSET_PRIVATE, 2, {tv_sec=1, tv_nsec=5}, 0xffffffff";
        assert_eq!(call(until).limit, Limit::Until(1_000_000_005));
        let requeue = call("0x7, FUTEX_CMP_REQUEUE_PRIVATE, 1, 2147483647, 0x9, 3");
        assert_eq!((requeue.op, requeue.second), (FutexOp::Requeue, 9));
        assert_eq!(call("0x7, FUTEX_WAKE, 1").op, FutexOp::Wake);
        let bits = call("0x7, FUTEX_WAKE_BITSET_PRIVATE, 1, 0x2");
        assert_eq!((bits.op, bits.mask), (FutexOp::Wake, 2));
        assert_eq!(FutexCall::parse(ftrace("7, 8a, 1, 0, 0, 2")).map(|call| call.mask), Some(2));
        assert_eq!(call("0x7, FUTEX_WAIT_BITSET, 1, NULL, 0x4").mask, 4);
        assert_eq!(call("0x7, FUTEX_WAIT_BITSET, 1, NULL, FUTEX_BITSET_MATCH_ANY").mask, ANY);
        assert_eq!(call("0x7, FUTEX_LOCK_PI_PRIVATE, NULL").limit, Limit::None);
        let until = "0x7, FUTEX_LOCK_PI_PRIVATE, {tv_sec=1, tv_nsec=5}";
        assert_eq!(call(until).limit, Limit::Until(1_000_000_005));
        let both = call("0x7, FUTEX_WAKE_OP_PRIVATE, 1, 1, 0x9, FUTEX_OP_SET<<28|0<<12|0x4000001");
        assert_eq!((both.op, both.second), (FutexOp::WakeBoth, 9));
        let unlock = call("0x7, FUTEX_UNLOCK_PI_PRIVATE");
        assert_eq!((unlock.op, unlock.private), (FutexOp::Unlock, true));
        assert_eq!(FutexCall::parse(strace("0x7")), None);
    }

    #[test]
    fn times() {
        assert_eq!(strace("[{fd=3, events=POLLIN}], 1, -1").milliseconds(2), Limit::None);
        assert_eq!(strace("[], 0, 5000").milliseconds(2), Limit::For(5_000_000_000));
        assert_eq!(ftrace("7ffe, 1, ffffffff").milliseconds(2), Limit::None);
        assert_eq!(strace("[], 0").milliseconds(2), Limit::Unknown);
        assert_eq!(strace("0, NULL, NULL, NULL, {tv_sec=0, tv_usec=7}").time(4), Limit::For(7000));
        assert_eq!(strace("{1, 5}").time(0), Limit::For(1_000_000_005));
        assert_eq!(strace("0x7ffe").time(0), Limit::Some);
    }

    #[test]
    fn addresses() {
        for (text, found) in [
            (
                r#"{sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}"#,
                "127.0.0.1:80",
            ),
            (
                r#"{sa_family=AF_INET6, sin6_port=htons(80), sin6_flowinfo=htonl(0), inet_pton(AF_INET6, "::1", &sin6_addr), sin6_scope_id=0}"#,
                "[::1]:80",
            ),
            (
                r#"{sa_family=AF_INET6, sin6_port=htons(8), inet_pton(AF_INET6, "::ffff:10.0.0.1", &sin6_addr), sin6_scope_id=0}"#,
                "10.0.0.1:8",
            ),
            (r#"{sa_family=AF_UNIX, sun_path="/run/s"}"#, "/run/s"),
            (r#"{sa_family=AF_UNIX, sun_path=@"a\0\0"}"#, "@a"),
            (r#"{sa_family=AF_UNIX, sun_path="s"}"#, "./s"),
        ] {
            assert_eq!(address(text).as_deref(), Some(found));
        }
        assert_eq!(address("{sa_family=AF_UNIX}"), None);
        assert_eq!(address("NULL"), None);
    }

    #[test]
    fn times_of_options() {
        let minute = r#""<\0\0\0\0\0\0\0\7\0\0\0\0\0\0\0""#;
        assert_eq!(option_time(minute), Limit::For(60_000_007_000));
        assert_eq!(option_time("{tv_sec=1, tv_usec=2}"), Limit::For(1_000_002_000));
        assert_eq!(option_time("{tv_sec=0, tv_usec=0}"), Limit::None);
        assert_eq!(option_time("0x7ffe"), Limit::Some);
    }

    #[test]
    fn sets_of_descriptors() {
        let text =
            "[{fd=3<pipe:[664113]>, events=POLLIN}, {fd=-1}, {fd=5, events=POLLOUT|POLLERR}]";
        let set = poll_set(text).expect("a set");
        assert_eq!(set.iter().map(|one| one.fd).collect::<Vec<_>>(), [3, 5]);
        assert!(set[0].take && !set[0].give && !set[1].take && set[1].give);
        assert_eq!(poll_set("[{fd=3, events=POLLIN}, ...]"), None);
        assert_eq!(poll_set("0x7ffe"), None);
        let set = select_sets("[3<pipe:[5]> 4</dev/pts/0>]", "[7]").expect("sets");
        assert_eq!(
            set.iter().map(|one| (one.fd, one.take)).collect::<Vec<_>>(),
            [(3, true), (4, true), (7, false)]
        );
        assert_eq!(select_sets("NULL", "NULL"), Some(Vec::new()));
        assert_eq!(select_sets("0x7ffe", "NULL"), None);
    }

    #[test]
    fn results_name_the_descriptor() {
        assert_eq!(ready("([{fd=5, revents=POLLIN}])"), Some(5));
        assert_eq!(ready("(in [3 4], left {tv_sec=0, tv_usec=9})"), Some(3));
        assert_eq!(ready("(out [8])"), Some(8));
        assert_eq!(ready("(Timeout)"), None);
    }
}
