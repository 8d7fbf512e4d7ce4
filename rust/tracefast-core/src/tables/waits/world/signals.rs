//! Which signals a process handles: a handler may end a wait of its own process.

use crate::tables::waits::arguments::Arguments;

/// The signals with a handler, as bits of their numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Handled {
    all: u64,
    /// Those whose handler wakes nobody: it lets the call go on, and may be struck by its own signal,
    /// as one needs that raises it again to die of it (`SA_RESTART`, `SA_NODEFER` in sigaction(2)).
    fatal: u64,
}

/// `SIGALRM`, `SIGVTALRM`, `SIGPROF`: timers send them.
const ALARMS: u64 = bits(&[14, 26, 27]);
/// `SIGHUP`, `SIGUSR1`, `SIGUSR2`, `SIGCONT`, `SIGIO`: processes send them to one another, and go on.
const MESSAGES: u64 = bits(&[1, 10, 12, 18, 29]);
const CHILD: u64 = bits(&[17]);
/// `SIGQUIT`, `SIGTERM`: they ask a process to end. One with a handler may wait for just that.
/// Not `SIGINT`, which is a terminal's: every Python program has a handler of it.
const REQUESTS: u64 = bits(&[3, 15]);
/// The first real-time signal that no C library keeps for itself: nptl(7), and musl's pthread.
const FIRST_FREE: u32 = 35;

const fn bits(numbers: &[u32]) -> u64 {
    let (mut mask, mut at) = (0, 0);
    while at < numbers.len() {
        mask |= 1 << numbers[at];
        at += 1;
    }
    mask
}

impl Handled {
    /// Takes in a call of sigaction(2) that worked.
    pub(crate) fn set(&mut self, arguments: Arguments<'_>) {
        let [signal, action] = arguments.first();
        let Some(number) = signal.and_then(|part| Self::number_of(arguments, part)) else { return };
        let action = action.unwrap_or_default();
        // It only asks.
        if matches!(action, "NULL" | "0" | "0x0" | "") {
            return;
        }
        let none = ["SIG_DFL", "SIG_IGN", "{sa_handler=SIG_DFL", "{sa_handler=SIG_IGN"];
        let handled = !none.iter().any(|start| action.starts_with(start));
        let bit = 1_u64.checked_shl(number).unwrap_or(0);
        let fatal = handled && action.contains("SA_RESTART") && action.contains("SA_NODEFER");
        self.all = if handled { self.all | bit } else { self.all & !bit };
        self.fatal = if fatal { self.fatal | bit } else { self.fatal & !bit };
    }

    /// Whether a signal has a handler.
    pub(crate) fn has(self, number: u32) -> bool {
        1_u64.checked_shl(number).is_some_and(|bit| self.all & bit != 0)
    }

    /// The signal that an argument names.
    pub(crate) fn number_at(arguments: Arguments<'_>, at: usize) -> Option<u32> {
        Self::number_of(arguments, arguments.at(at)?)
    }

    fn number_of(arguments: Arguments<'_>, part: &str) -> Option<u32> {
        by_name(part).or_else(|| u32::try_from(arguments.value(part)?).ok())
    }

    /// The number of a signal, on all machines but alpha, mips, parisc and sparc: signal(7).
    pub(crate) fn number(name: &str) -> Option<u32> {
        by_name(name)
    }

    /// Those of timers.
    pub(crate) fn alarms(self) -> bool {
        self.all & ALARMS != 0
    }

    /// That a child ended.
    pub(crate) fn children(self) -> bool {
        self.all & CHILD != 0
    }

    /// Those that ask a process to end, of which it does not die at once.
    pub(crate) fn requests(self) -> bool {
        self.all & !self.fatal & REQUESTS != 0
    }

    /// Those with which one process tells another something.
    pub(crate) fn messages(self) -> bool {
        self.all & MESSAGES != 0 || self.all >> FIRST_FREE != 0
    }
}

fn by_name(word: &str) -> Option<u32> {
    Some(match word {
        "SIGHUP" => 1,
        "SIGINT" => 2,
        "SIGQUIT" => 3,
        "SIGABRT" => 6,
        "SIGUSR1" => 10,
        "SIGUSR2" => 12,
        "SIGALRM" => 14,
        "SIGTERM" => 15,
        "SIGCHLD" => 17,
        "SIGCONT" => 18,
        "SIGVTALRM" => 26,
        "SIGPROF" => 27,
        "SIGIO" | "SIGPOLL" => 29,
        _ => 32 + word.strip_prefix("SIGRT_")?.parse::<u32>().ok().filter(|&n| n < 32)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handlers_are_set_and_taken_back() {
        let mut handled = Handled::default();
        let mut call = |args: &str| {
            handled.set(Arguments::new(args, false));
            handled
        };
        assert!(!call("SIGINT, {sa_handler=0x55, sa_mask=[], sa_flags=0}, NULL, 8").messages());
        assert!(call("SIGUSR1, {sa_handler=0x55, sa_mask=[], sa_flags=0}, NULL, 8").messages());
        assert!(call("SIGUSR1, NULL, {sa_handler=0x55}, 8").messages());
        assert!(!call("SIGUSR1, {sa_handler=SIG_DFL, sa_mask=[]}, NULL, 8").messages());
        assert!(call("0x11, {sa_handler=0x55}, NULL, 8").children());
        assert!(call("SIGALRM, 0x7ffe, NULL, 8").alarms());
        assert!(!call("SIGQUIT, {sa_handler=SIG_IGN, sa_mask=[], sa_flags=0}, NULL, 8").requests());
        let term =
            |flags| format!("SIGTERM, {{sa_handler=0x55, sa_mask=[], sa_flags={flags}}}, NULL, 8");
        assert!(call(&term("SA_RESTORER|SA_RESTART")).requests());
        assert!(!call(&term("SA_RESTORER|SA_RESTART|SA_NODEFER|SA_SIGINFO")).requests());
        assert!(call("0xf, 0x7ffe, NULL, 8").requests());
        assert!(!call("SIGTERM, {sa_handler=SIG_DFL, sa_mask=[], sa_flags=0}, NULL, 8").requests());
        assert!(!call("SIGRT_1, {sa_handler=0x55}, NULL, 8").messages());
        assert!(call("SIGRT_8, {sa_handler=0x55}, NULL, 8").messages());
    }
}
