//! Lines as strace could have printed them, with a byte for every choice.

use crate::strace::{Delta, Layout, Pid, Time};

/// Bytes that choose; when they are used up, the first of everything.
pub(crate) struct Choices<'a>(&'a [u8]);

impl<'a> Choices<'a> {
    pub(crate) fn new(data: &'a [u8]) -> Self {
        Self(data)
    }

    pub(crate) fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::from(self.byte()) % bound
    }

    pub(crate) fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// One time in four.
    pub(crate) fn rarely(&mut self) -> bool {
        self.byte() % 4 == 3
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        self.0
    }
}

/// How one log prints its leaders.
pub(crate) struct Style {
    pub layout: Layout,
    /// Digits after the point of a second.
    digits: usize,
    /// Width of what is before ` = `.
    column: usize,
}

/// One of the layouts that options of strace can make.
pub(crate) fn style(choices: &mut Choices<'_>) -> Style {
    let pid = choices.pick(&[Pid::Plain, Pid::None, Pid::Bracket]);
    let (time, delta) = choices.pick(&[
        (Time::Epoch, Delta::None),
        (Time::None, Delta::None),
        (Time::Day, Delta::None),
        (Time::None, Delta::Plain),
        (Time::Epoch, Delta::Parens),
        (Time::Day, Delta::Parens),
    ]);
    let digits = choices.pick(&[6, 6, 9, 3]);
    // Whole seconds look like something else if nothing shows what they are.
    let digits = if time == Time::Day && choices.rarely() { 0 } else { digits };
    let column = choices.pick(&[40, 1, 100]);
    let [context, number, pointer, times] = [0; 4].map(|_: i32| choices.rarely());
    let layout = Layout { pid, context, time, delta, number, pointer, times };
    Style { layout, digits, column }
}

impl Style {
    /// The columns before the event of task `pid`, `second` seconds into the log.
    pub(crate) fn leader(&self, choices: &mut Choices<'_>, pid: i32, second: u32) -> String {
        let mut out = String::new();
        let comm =
            if choices.rarely() { choices.pick(&["<cat>", "<a b>", "<k\\76 1>"]) } else { "" };
        match self.layout.pid {
            Pid::None => {}
            Pid::Plain if comm.is_empty() => out += &format!("{pid:<5} "),
            Pid::Plain => out += &format!("{pid}{comm} "),
            Pid::Bracket => out += &format!("[pid {pid:>5}{comm}] "),
        }
        if self.layout.context {
            let contexts = ["unconfined_t", "system_u:object_r:user_tmp_t:s0-s0:c0.c1023"];
            out += &format!("[{}] ", choices.pick(&contexts));
        }
        let nanos = u32::from(choices.byte()) * 3_906_007;
        let fraction = match self.digits {
            0 => String::new(),
            digits => format!(".{}", &format!("{nanos:09}")[..digits]),
        };
        match self.layout.time {
            Time::None => {}
            Time::Day => out += &format!("12:{:02}:{:02}{fraction} ", second / 60, second % 60),
            Time::Epoch => out += &format!("{}{fraction} ", 1_795_229_587 + second),
        }
        match self.layout.delta {
            Delta::None => {}
            Delta::Plain => out += &format!("{second:6}{fraction} "),
            Delta::Parens => out += &format!("(+{second:6}{fraction}) "),
        }
        if self.layout.number {
            out += choices.pick(&["[   3] ", "[ 257] ", "[ ???] ", "[18446744073709551615] "]);
        }
        if self.layout.pointer {
            out += choices.pick(&["[00007f050fce1e67] ", "[????????????????] ", "[0804a1b2] "]);
        }
        out
    }

    /// Blanks between the `)` of `line` and the `=`.
    pub(crate) fn pad(&self, line: &str) -> String {
        " ".repeat(self.column.saturating_sub(line.len()).max(1))
    }
}

/// Whole arguments; many hold what looks like the end of a call.
const PLAIN: [&str; 30] = [
    "3",
    "-1",
    "NULL",
    "0x7f0a17b79000",
    "O_RDONLY|O_CLOEXEC",
    "AT_FDCWD",
    "0644",
    "8192*1024",
    "1<<12",
    "~[KILL STOP]",
    "[28 => 16]",
    "0x7ffd98 /* 20 vars */",
    "[/* 20 vars */]",
    "8191 /* IOPRIO_PRIO_VALUE(0 /* IOPRIO_CLASS_NONE */, 8191) */",
    r#"{ax25_call="\202"} /* ,}]"'-5 */"#,
    r#"if_nametoindex("lo") /* "e) = 1" */"#,
    "0</dev/null<char 1:3>>",
    "5<TCPv6:[[::1]:36614->[::1]:35535]>",
    r#"5<UNIX-STREAM:[1->2,"/s) = 1>"]>"#,
    r#"25<(null):[1178538,"sock->[1,\"q\"]>"]>"#,
    "3</data/foo->",
    "4</w/gone>(deleted)",
    "4</w/gone (deleted)>",
    "17<pid:20841>",
    "7<signalfd:[INT CHLD]>",
    "8<{eventfd-count=0x1, eventfd-id=3, eventfd-semaphore=0}>",
    "AT_FDCWD</srv/demo>",
    "[{WIFEXITED(s) && WEXITSTATUS(s) == 0}]",
    "v4l2_fourcc('M', '\\x00', '(', ')')",
    "{st_mode=S_IFREG|0644, st_size=9, ...}",
];

/// Parts of strings and paths. The last ones are not used in paths.
const PIECES: [&str; 26] = [
    "a",
    "/",
    " ",
    ") = 3",
    r#"\""#,
    r"\\",
    r"\n",
    r"\0",
    r"\177",
    r"\0763",
    r"\x2f",
    r"\303\251",
    "(",
    ")",
    "]",
    "}",
    "/*",
    "*/",
    ", ",
    "'",
    "-",
    r"\76",
    "<",
    ">",
    " <unfinished ...>",
    "= ?",
];

fn pieces(choices: &mut Choices<'_>, of: &[&str]) -> String {
    let count = choices.below(6);
    (0..count).map(|_| choices.pick(of)).collect()
}

/// Text between quotes.
fn string(choices: &mut Choices<'_>) -> String {
    let text = pieces(choices, &PIECES);
    let cut = if choices.rarely() { "..." } else { "" };
    format!("\"{text}\"{cut}")
}

/// One argument, nested at most `depth` times.
pub(crate) fn argument(choices: &mut Choices<'_>, depth: usize) -> String {
    let form = choices.below(if depth == 0 { 4 } else { 12 });
    match form {
        0 | 1 => choices.pick(&PLAIN).to_owned(),
        2 => string(choices),
        3 => format!("{}</{}>", choices.pick(&["3", "AT_FDCWD"]), pieces(choices, &PIECES[..22])),
        4 => format!("buf={}", argument(choices, depth - 1)),
        5 => format!("[{}]", arguments(choices, depth - 1).join(", ")),
        6 => {
            let fields: Vec<String> = arguments(choices, depth - 1)
                .iter()
                .enumerate()
                .map(|(number, value)| format!("f{number}={value}"))
                .collect();
            let elided = if choices.rarely() && !fields.is_empty() { ", ..." } else { "" };
            format!("{{{}{elided}}}", fields.join(", "))
        }
        7 => format!("htons({})", argument(choices, depth - 1)),
        8 => format!("[{} => {}]", argument(choices, depth - 1), argument(choices, depth - 1)),
        9 => format!(
            "{} /* {} */",
            choices.pick(&["1", "0x7f"]),
            choices.pick(&[") = 0", "n /* ( */ m"])
        ),
        10 => format!("{} [system_u:object_r:etc_t:s0]", string(choices)),
        _ => format!("{} or {}", argument(choices, depth - 1), argument(choices, depth - 1)),
    }
}

/// Up to five arguments.
pub(crate) fn arguments(choices: &mut Choices<'_>, depth: usize) -> Vec<String> {
    (0..choices.below(6)).map(|_| argument(choices, depth)).collect()
}

/// A name of a system call as any version prints it.
pub(crate) fn name(choices: &mut Choices<'_>) -> &'static str {
    choices.pick(&[
        "read",
        "openat",
        "_llseek",
        "ioctl",
        "clone3",
        "syscall_0xfffffffffffffffe",
        "syscall_317",
        "???",
        "ARM_set_tls",
        "pread64",
    ])
}

/// Results: the text, the value, the name of the error, what else is printed, the status.
pub(crate) type Result =
    (&'static str, Option<i64>, Option<&'static str>, Option<&'static str>, &'static str);

/// Results that return.
pub(crate) const RESULTS: [Result; 31] = [
    ("0", Some(0), None, None, "complete"),
    ("-1 ENOENT (No such file or directory)", Some(-1), Some("ENOENT"), None, "complete"),
    ("4096", Some(4096), None, None, "complete"),
    ("3</w/a) = 7>", Some(3), None, None, "complete"),
    ("3</w>", Some(3), None, None, "complete"),
    ("3</w/gone>(deleted)", Some(3), None, None, "complete"),
    (r#"3</w/q\"(>"#, Some(3), None, None, "complete"),
    ("1</dev/pts/0<char 136:0>>", Some(1), None, None, "complete"),
    ("4<UDP:[1.2.3.4:5->1.2.3.4:6]>", Some(4), None, None, "complete"),
    (
        "3</e> [system_u:object_r:etc_t:s0]",
        Some(3),
        None,
        Some("[system_u:object_r:etc_t:s0]"),
        "complete",
    ),
    ("0x7f0a17b79000", Some(0x7f0a_17b7_9000), None, None, "complete"),
    ("0xffffffffffffffff", Some(-1), None, None, "complete"),
    ("022", Some(18), None, None, "complete"),
    ("-17", Some(-17), None, None, "complete"),
    ("0 (Timeout)", Some(0), None, Some("(Timeout)"), "complete"),
    ("1 ([{fd=5, revents=POLLIN}])", Some(1), None, Some("([{fd=5, revents=POLLIN}])"), "complete"),
    (
        "0x8002 (flags O_RDWR|O_LARGEFILE)",
        Some(0x8002),
        None,
        Some("(flags O_RDWR|O_LARGEFILE)"),
        "complete",
    ),
    (
        "1 (in [3], left {tv_sec=4, tv_usec=9})",
        Some(1),
        None,
        Some("(in [3], left {tv_sec=4, tv_usec=9})"),
        "complete",
    ),
    ("5 ([{\"a) = 3\"}])", Some(5), None, Some("([{\"a) = 3\"}])"), "complete"),
    ("18974<cat>", Some(18974), None, None, "complete"),
    (
        "17 /* 3 in strace's PID NS */",
        Some(17),
        None,
        Some("/* 3 in strace's PID NS */"),
        "complete",
    ),
    (
        "? ERESTARTSYS (To be restarted if SA_RESTART is set)",
        None,
        Some("ERESTARTSYS"),
        None,
        "interrupted",
    ),
    (
        "? ERESTART_RESTARTBLOCK (Interrupted by signal)",
        None,
        Some("ERESTART_RESTARTBLOCK"),
        None,
        "interrupted",
    ),
    (
        "-1 ENOENT (Datei oder Verzeichnis (wie \u{fc}blich) fehlt)",
        Some(-1),
        Some("ENOENT"),
        None,
        "complete",
    ),
    ("-1 ERRNO_524 (Unknown error 524)", Some(-1), Some("ERRNO_524"), None, "complete"),
    ("-1 EPERM (Operation not permitted) (INJECTED)", Some(-1), Some("EPERM"), None, "injected"),
    ("7 (INJECTED)", Some(7), None, None, "injected"),
    ("0 (DELAYED)", Some(0), None, None, "delayed"),
    ("0 (INJECTED: args)", Some(0), None, None, "injected"),
    (
        "0 (Timeout) (INJECTED: args, retval) (DELAYED)",
        Some(0),
        None,
        Some("(Timeout)"),
        "injected",
    ),
    ("0 (FD_CLOEXEC)", Some(0), None, Some("(FD_CLOEXEC)"), "complete"),
];
