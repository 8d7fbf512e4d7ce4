//! The fast path: calls on lines of the most common form, `-f -ttt -T` into a file.
//!
//! It reads whole calls and both halves of split calls in one go, with wide loads at positions that
//! the structure pass found. Anything odd about a line is left to the complete path through leader,
//! event, call and result, which produces the same rows from these lines.

use crate::events::line_counts::LineUse;
use crate::events::rows::RowClock;
use crate::events::rows::ViewSource;
use crate::events::schema::Column as C;
use crate::events::split_calls::{EntryTarget, LossReason, OpenCall};
use crate::events::vocabulary::{EventKind, Status};
use crate::linux::syscalls::{self, Classes};
use crate::strace::call::result::ERRNO_MAX;
use crate::strace::call::row;
use crate::strace::call::whole::ODD_NAME;
use crate::strace::fields;
use crate::strace::leader::{self, Leader};
use crate::strace::parser::{Above, Line, Owner, Parser};
use crate::text::block::PAD;
use crate::text::number;
use crate::text::scan::{first_of, nearest};
use crate::text::string_view::{self, Place};

/// The end of a call. Positions are relative to the block's text.
#[derive(Clone, Copy)]
struct CallEnd {
    /// The `)` after the arguments.
    close: usize,
    ret: i64,
    shown: ResultForm,
    dur: i64,
}

/// The forms that the result of most calls has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ResultForm {
    /// A number alone.
    Value,
    /// A descriptor and the range of its annotation, which holds no escape.
    Noted(usize, usize),
    /// -1 and the range of an error's name; its text follows.
    Error(usize, usize),
}

/// Columns that every completed call has.
const COLUMNS: u64 = {
    let all = [C::Line, C::Tid, C::Ts, C::Name, C::Args, C::Ret, C::DurNs, C::Kind, C::Status];
    let (mut bits, mut i) = (0, 0);
    while i < all.len() {
        bits |= all[i].bit();
        i += 1;
    }
    bits
};

impl CallEnd {
    /// Reads the line up to `end`, whose only ` = ` ends at `mark`. The arguments, or the part of
    /// them that is on this line, start at `from`. `None` if the line has another form.
    #[inline(always)]
    fn read(padded: &[u8], from: usize, end: usize, mark: usize) -> Option<Self> {
        let text = padded.get(PAD..PAD + end)?;
        // ` <0.000017>`
        let tail: &[u8; 11] = text.last_chunk()?;
        let [b' ', b'<', whole @ b'0'..=b'9', fraction @ ..] = *tail else { return None };
        let micros = number::six_digits(fraction, b'.', b'>')?;
        let dur = i64::from(whole - b'0') * 1_000_000_000 + micros as i64 * 1_000;
        // `)`, blanks, `= `
        let mut close = mark.checked_sub(3)?;
        while close > from && text[close] == b' ' {
            close -= 1;
        }
        if close < from || text[close] != b')' || text[..close].ends_with(b".>") {
            // `<unfinished ...>) = ?`: the task died in the call.
            return None;
        }
        let (ret, shown) = value(padded, mark + 1, end - tail.len())?;
        Some(Self { close, ret, shown, dur })
    }
}

/// Reads the result at `from..to` of the text.
#[inline(always)]
fn value(padded: &[u8], from: usize, to: usize) -> Option<(i64, ResultForm)> {
    let text = padded.get(PAD..PAD + to)?;
    let head: [u8; 8] = *padded.get(PAD + from..)?.first_chunk()?;
    let (ret, n) = match number::short_digits(head) {
        Some((value, n)) if head[0] != b'0' || (n == 1 && head[1] != b'x') => (value as i64, n),
        _ => number::c_integer(text.get(from..)?),
    };
    let after = from + n;
    if after == to && n > 0 {
        return Some((ret, ResultForm::Value));
    }
    match *text.get(after..)? {
        [b'<', b'/' | b'a'..=b'z', .., b'>'] if n > 0 => {
            let end = first_of(text, after + 1, [b'<', b'>', b'\\'])?;
            (end + 1 == to).then_some((ret, ResultForm::Noted(after + 1, end)))
        }
        [b' ', b'E', .., b')'] if n == 2 && ret == -1 => {
            let len = text[after + 1..]
                .iter()
                .position(|b| !(b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_'))?;
            let name = (after + 1, after + 1 + len);
            let body = text[name.1..].strip_prefix(b" (")?;
            // `(INJECTED)` and `(DELAYED)` are in parentheses as well.
            let plain = !body.starts_with(b"DELAYED") && !body.starts_with(b"INJECTED");
            let end = first_of(text, name.1 + 2, [b'(', b')'])?;
            ((2..=ERRNO_MAX).contains(&len) && plain && end + 1 == to)
                .then_some((ret, ResultForm::Error(name.0, name.1)))
        }
        _ => None,
    }
}

impl Parser<'_> {
    /// Parses a call, or half of one, from the line `start..end`. `mark` is where its ` = ` ends,
    /// if there is only one. `None` if the line has another form; nothing has changed then.
    #[inline]
    pub(crate) fn fast_line(
        &mut self,
        start: usize,
        end: usize,
        mark: Option<usize>,
    ) -> Option<LineUse> {
        let padded = self.padded;
        let (pid, time, next) = leader::parse_common(padded.get(PAD + start..)?.first_chunk()?)?;
        let at = start + next;
        let event: &[u8; 32] = padded.get(PAD + at..)?.first_chunk()?;
        if event[0] == b'<' {
            return self.fast_second_half(event, (pid, time, at), end, mark?);
        }
        // At most 15 bytes of name are searched.
        let len = nearest(event.first_chunk()?, b'(')?;
        let (key, sys) = self.grammar.names.known(padded, PAD + at, len)?;
        let args = at + len + 1;
        if sys == ODD_NAME {
            return None;
        }
        if let Some(mark) = mark
            && let Some(ended) = CallEnd::read(padded, args, end, mark)
        {
            let makes_fd = syscalls::shape(sys).makes_fd;
            if matches!(ended.shown, ResultForm::Noted(..)) && !makes_fd {
                return None;
            }
            let ts = self.fast_time(time);
            self.touch(Some(pid), LossReason::Elsewhere);
            let row = self.parsed.rows.push();
            let view = self.view(args, ended.close);
            let rows = &mut self.parsed.rows;
            rows.line[row] = self.line;
            rows.tid[row] = pid;
            rows.ts[row] = ts;
            rows.name[row] = key;
            rows.args[row] = view;
            let ret = self.write_end(row, &ended);
            let source = self.source(args, ended.close);
            fields::fill(&mut self.parsed.rows, &mut self.parsed.side, row, source, sys, ret);
            return Some(LineUse::Events);
        }
        if self.text.get(args..end)?.ends_with(b" <unfinished ...>") {
            let leader = Leader { pid: Some(pid), time: Some(time), next, ..Leader::default() };
            let line = Line { start, end, mark, leader };
            self.open_call(&line, (key, sys), (args, end - 17), Some(pid));
            return Some(LineUse::Events);
        }
        None
    }

    /// Parses `<... read resumed>"x", 1) = 1 <0.000017>`, which starts at `event`.
    #[inline]
    fn fast_second_half(
        &mut self,
        event: &[u8; 32],
        (pid, time, at): (i32, i64, usize),
        end: usize,
        mark: usize,
    ) -> Option<LineUse> {
        let name = event.strip_prefix(b"<... ")?;
        let len = nearest(name.first_chunk()?, b' ')?;
        let rest = at + 5 + len + 9;
        if !name[len..].starts_with(b" resumed>") {
            return None;
        }
        // Versions up to 4.26 print a blank here, which may or may not belong to the arguments.
        if self.text.get(rest) == Some(&b' ') {
            return None;
        }
        let (_, second) = self.grammar.names.known(self.padded, PAD + at + 5, len)?;
        if syscalls::shape(second).classes.has(Classes::EXECS) {
            return None;
        }
        let ended = CallEnd::read(self.padded, rest, end, mark)?;
        let open = self.grammar.calls.get(Some(pid)).filter(|open| has_only_its_line(open, pid))?;
        let (sys, head) = (open.sys, (open.args.0 as usize, open.args.1 as usize));
        let makes_fd = syscalls::shape(sys).makes_fd;
        if second == ODD_NAME || matches!(ended.shown, ResultForm::Noted(..)) && !makes_fd {
            return None;
        }
        let (entry, line, name, ts) = (open.entry, open.line, open.name, open.ts?);
        self.fast_time(time);
        self.grammar.calls.end(Some(pid));
        let row = self.parsed.rows.push();
        self.parsed.entries[entry as usize].target = EntryTarget::Row(row as u32);
        let rows = &mut self.parsed.rows;
        rows.line[row] = line;
        rows.tid[row] = pid;
        rows.ts[row] = ts;
        rows.name[row] = name;
        rows.effect[row].begun = true;
        let ret = self.write_end(row, &ended);
        if ended.close == rest {
            // All arguments are in the first half.
            self.parsed.rows.args[row] = self.view(head.0, head.1);
            let source = self.source(head.0, head.1);
            fields::fill(&mut self.parsed.rows, &mut self.parsed.side, row, source, sys, ret);
        } else {
            let parsed = &mut *self.parsed;
            let joined = &mut parsed.scratch;
            joined.clear();
            joined.extend_from_slice(&self.text[head.0..head.1]);
            joined.extend_from_slice(&self.text[rest..ended.close]);
            let base = parsed.side.bytes.len();
            parsed.side.bytes.extend_from_slice(joined);
            parsed.rows.args[row] = string_view::pack(joined, Place::Side, base);
            let source = ViewSource { bytes: joined, place: Place::Side, base, utf8: true };
            fields::fill(&mut parsed.rows, &mut parsed.side, row, source, sys, ret);
        }
        Some(LineUse::Resumed)
    }

    /// Called once the line is known to be an event: its time on the clock of the block.
    #[inline]
    fn fast_time(&mut self, time: i64) -> i64 {
        self.above = Above::Nothing;
        self.table = false;
        self.clock.read(time, &mut self.parsed.oddities)
    }

    /// Writes the end of the call into the row and marks all columns written so far as valid.
    /// Returns the return value if the call succeeded.
    #[inline]
    fn write_end(&mut self, row: usize, ended: &CallEnd) -> Option<i64> {
        self.owner = Owner::Row(row);
        let mut valid = COLUMNS;
        let mut ret = Some(ended.ret);
        match ended.shown {
            ResultForm::Value => {}
            ResultForm::Noted(start, end) => {
                let source = self.source(0, end);
                let parsed = &mut *self.parsed;
                let (rows, side) = (&mut parsed.rows, &mut parsed.side);
                valid |= row::write_new_descriptor(rows, side, row, source, (start, end), true);
            }
            ResultForm::Error(start, end) => {
                ret = None;
                let name = &self.text[start..end];
                let (key, _) = self.grammar.errnos.key(name, &mut self.parsed.errnos, |_| 0);
                self.parsed.rows.errno[row] = key;
                valid |= C::Errno.bit();
            }
        }
        let rows = &mut self.parsed.rows;
        rows.ret[row] = ended.ret;
        rows.dur[row] = ended.dur;
        rows.kind[row] = EventKind::Syscall as u8;
        rows.status[row] = Status::Complete as u8;
        rows.valid[row] = valid;
        ret
    }
}

/// Whether nothing but its own line belongs to the call, and the task kept its id.
#[inline]
fn has_only_its_line(open: &OpenCall, pid: i32) -> bool {
    open.tid == Some(pid)
        && open.comm.is_none()
        && open.extra.is_none()
        && open.context.is_none()
        && open.frames.is_none()
        && open.clock == RowClock::Log
        && !open.torn
        && !open.headless
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::events::parsed_block::Parsed;
    use crate::strace::{Format, Grammar};
    use crate::text::block::Block;
    use crate::text::string_view::unpack;

    /// Events after pid and time: of the common form, and some that only look like it.
    const EVENTS: &[&str] = &[
        r#"read(3</etc/passwd>, "root:x:0:0:"..., 4096) = 11 <0.000017>"#,
        r#"read(3</d/a) = 0 <0.1>, ") = 0 <0.100000>"..., 40) = 11 <0.000017>"#,
        r#"write(1<pipe:[12]>, "a = b", 5) = 5 <0.000017>"#,
        r#"write(1, ") = 5 <0.000017>", 40 <unfinished ...>"#,
        r#"write(1, "cut) = 5 <0.000017>"#,
        r#"write(1, "cut"..., 7) = 5 <0.0000"#,
        r#"pread64(3</x (deleted)>, "", 8192, 4096)     = 0 <1.000017>"#,
        r"close(3)                                = 0 <0.000006>",
        r"close(3</memfd:x>) = -1 EBADF (Bad file descriptor) <0.000006>",
        r"close(3) = -1 EIO (Input/output error) (INJECTED) <0.000006>",
        r"close(3) = -1 EIO (INJECTED) <0.000006>",
        r"close(3) = -1 EIO (DELAYED) <0.000006>",
        r"close(3) = -1 E (x) <0.000006>",
        r"close(3) = -1 ENOENT (a (b) c) <0.000006>",
        r"close(3) = -1 ENOENT (a) b) <0.000006>",
        r"close(3) = ? <0.000006>",
        r"close(3 <unfinished ...>) = ?",
        r"close(3 <unfinished ...>) = 0 <0.000006>",
        r#"openat(AT_FDCWD</w>, "/a", O_RDONLY|O_CLOEXEC) = 3</a> <0.000011>"#,
        r#"openat(AT_FDCWD, "b\n", O_RDWR|O_CREAT, 0644) = 4</w/b\n> <0.000011>"#,
        r#"openat(AT_FDCWD, "b", O_RDWR) = 4</w/b>(deleted) <0.000011>"#,
        r#"openat(AT_FDCWD, "b", O_RDWR) = 4</dev/null<char 1:3>> <0.000011>"#,
        r#"openat(3</w>, "long"..., O_RDWR) = 4</w/> b> <0.000011>"#,
        r"socket(AF_INET, SOCK_STREAM|SOCK_CLOEXEC, IPPROTO_TCP) = 3<TCP:[55]> <0.000018>",
        r"dup(3</a>) = 4</a> <0.000004>",
        r#"newfstatat(AT_FDCWD</w>, "x", {st_mode=S_IFREG|0644, st_size=12, ...}, 0) = 0 <0.000003>"#,
        r#"newfstatat(3</w>, "", {st_mode=S_IFDIR|0755, st_size=4096, ...}, AT_EMPTY_PATH) = 0 <0.000003>"#,
        r#"newfstatat(3, "/y", {st_mode=S_IFREG|0644, st_size=7, x={st_mode=S_IFIFO}}, 0) = 0 <0.000003>"#,
        r#"stat("/x{st_mode=S_IFREG", {st_mode=S_IFREG|0600, st_size=3, ...}) = 0 <0.000003>"#,
        r#"stat("/x", {st_mode=S_IFREG|0600, st_size=3, ...}) = 0 <0.000003>"#,
        r"mmap(NULL, 8192, PROT_READ|PROT_WRITE, MAP_PRIVATE, 3</lib/x.so>, 0x29000) = 0x7f21cb6b2000 <0.000010>",
        r"mprotect(0x7f21cb6b2000, 4096, PROT_READ) = 0 <0.000010>",
        r"lseek(3</x>, -60, SEEK_END) = 0755 <0.000010>",
        r"rt_sigaction(SIGRT_4, NULL, {sa_handler=SIG_DFL, sa_mask=[], sa_flags=0}, 8) = 0 <0.000007>",
        r"futex(0x7f01, FUTEX_WAIT_PRIVATE, 2, NULL <unfinished ...>",
        r"<... futex resumed>) = 0 <0.000061>",
        r"<... futex resumed>) = -1 EAGAIN (Resource temporarily unavailable) <0.000061>",
        r"<... futex resumed> )  = 0 <0.000061>",
        r"<... futex resumed> <unfinished ...>) = ?",
        r"read(5<pipe:[7]>,  <unfinished ...>",
        r#"<... read resumed>"abc", 16) = 3 <0.000020>"#,
        r#"<... read resumed>") = 0 <0.000001>"..., 16) = 16 <0.000020>"#,
        r"<... read resumed>0x7f, 16) = ? ERESTARTSYS (To be restarted if SA_RESTART is set) <0.1>",
        r"<... clone3 resumed> => {parent_tid=[7]}, 88) = 7 <0.000100>",
        r"<... x y resumed>) = 0 <0.000061>",
        r"x y(3) = 0 <0.000061>",
        r#"execve("/bin/true", ["true"], 0x7f /* 9 vars */ <unfinished ...>"#,
        r"<... execve resumed>) = 0 <0.000300>",
        r"wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 12 <0.000010>",
        r"poll([{fd=3, events=POLLIN}], 1, 5) = 1 ([{fd=3, revents=POLLIN}]) <0.000005>",
        r"brk(NULL) = 0x55d0 <0.000003>",
        r"getpid() = 12 <10.000003>",
        r"getpid() = 99999999999 <0.000003>",
        r"clone(child_stack=NULL, flags=CLONE_VM <pid changed to 8 ...>",
        r"exit_group(0) = ?",
        r"+++ exited with 0 +++",
        r"--- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=9} ---",
        r"restart_syscall(<... resuming interrupted read ...>) = 0 <0.000003>",
        " | 00000  72 6f 6f 74                      root |",
    ];

    fn parse(text: &[u8]) -> Parsed {
        let layout = leader::COMMON_LAYOUT;
        let format = Format { layout, times_calls: true, ..Format::default() };
        let mut parsed = Parsed::default();
        Grammar::default().parse(&format, &mut Block::from_text(text), &mut parsed);
        parsed
    }

    /// Formats the first rows and the other output of a block.
    fn shown(parsed: &Parsed, text: &[u8], rows: usize) -> Vec<String> {
        let r = &parsed.rows;
        let mut out = Vec::new();
        for row in 0..rows {
            let valid = r.valid[row];
            let mut line = format!("{valid:x} {:?}", r.effect[row]);
            let name = |names: &[Arc<str>], key: u32| names[key as usize].to_string();
            let view = |view: &u128| {
                String::from_utf8_lossy(unpack(view, text, &parsed.side.bytes)).into_owned()
            };
            let mut put = |column, value: &dyn Fn() -> String| {
                if r.has(row, column) {
                    let _ = write!(line, " {column:?}={}", value());
                }
            };
            put(C::Line, &|| r.line[row].to_string());
            put(C::Ts, &|| r.ts[row].to_string());
            put(C::DurNs, &|| r.dur[row].to_string());
            put(C::Tid, &|| r.tid[row].to_string());
            put(C::Kind, &|| r.kind[row].to_string());
            put(C::Name, &|| name(&parsed.names, r.name[row]));
            put(C::Args, &|| view(&r.args[row]));
            put(C::Ret, &|| r.ret[row].to_string());
            put(C::Errno, &|| name(&parsed.errnos, r.errno[row]));
            put(C::Result, &|| view(&r.result[row]));
            put(C::Status, &|| r.status[row].to_string());
            put(C::Fd, &|| r.fd[row].to_string());
            put(C::Fd2, &|| r.fd2[row].to_string());
            put(C::Path, &|| view(&r.path[row]));
            put(C::Path2, &|| view(&r.path2[row]));
            put(C::File, &|| r.file[row].to_string());
            put(C::FileType, &|| r.file_type[row].to_string());
            put(C::Size, &|| r.size[row].to_string());
            put(C::Offset, &|| r.offset[row].to_string());
            put(C::Requested, &|| r.requested[row].to_string());
            put(C::Bytes, &|| r.bytes[row].to_string());
            put(C::Extra, &|| view(&r.extra[row]));
            out.push(line);
        }
        let deferred = parsed.deferred.iter().map(|touch| format!("{touch:?}"));
        out.extend(deferred.filter(|touch| !touch.contains("tid: Some(4999)")));
        out.push(format!("{:?}", parsed.entries));
        // Their views of the working directory point at different places.
        out.push(parsed.side.details.len().to_string());
        out.push(format!("{:?}", parsed.oddities));
        out
    }

    /// Checks that both paths produce the same rows. A line at the end that is not UTF-8 forces the
    /// complete path.
    fn compare(text: &[u8]) {
        let usual = parse(text);
        let last = b"4999  1795175299.999999 close(\"\xff\") = 0 <0.000001>\n";
        let other = [text, last].concat();
        let complete = parse(&other);
        let rows = usual.rows.len;
        assert_eq!(complete.rows.len, rows + 1, "{}", String::from_utf8_lossy(text));
        let (a, b) = (shown(&usual, text, rows), shown(&complete, &other, rows));
        assert_eq!(a, b, "{}", String::from_utf8_lossy(text));
        assert_eq!(complete.names[..usual.names.len()], usual.names);
    }

    /// One line for each name: the fast path only knows names that the block has already used.
    fn names() -> String {
        let names = EVENTS.iter().filter_map(|event| event.split_once('('));
        let called = names.filter(|(name, _)| !name.contains(['<', '|', '-', '+']));
        called.map(|(name, _)| line(3, 0, &format!("{name}() = 0 <0.000001>"))).collect()
    }

    fn line(pid: u8, time: u32, event: &str) -> String {
        if event.starts_with(' ') {
            // Belongs to the line above.
            return format!("{event}\n");
        }
        format!("{:<5} 1795175299.{time:06} {event}\n", 9 + 4000 * u32::from(pid))
    }

    #[test]
    fn both_paths_read_every_line_alike() {
        for event in EVENTS {
            // The first line makes the name known.
            let event = line(0, 7, event);
            compare(event.repeat(2).as_bytes());
            let between = line(0, 9, "read(5,  <unfinished ...>");
            compare(format!("{event}{between}{event}").as_bytes());
            let frame = " > /lib/libc.so.6(read+0x1) [0x2]\n";
            let second = line(0, 11, r#"<... read resumed>"abc", 16) = 3 <0.000020>"#);
            compare(format!("{event}{between}{frame}{event}{second}").as_bytes());
            compare(format!("{event}{between}{frame}{second}{frame}").as_bytes());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

        #[test]
        fn lines_with_another_byte_are_read_alike(
            lines in proptest::collection::vec(
                (0u8..3, 0..EVENTS.len(), any::<prop::sample::Index>(), 0usize..64), 1..16),
        ) {
            let mut text = names().into_bytes();
            for (time, (pid, event, at, byte)) in lines.into_iter().enumerate() {
                let mut line = line(pid, time as u32, EVENTS[event]).into_bytes();
                let at = at.index(line.len() - 1);
                if let Some(&byte) = br#"()<>[]{}",=\ 0x-./EA"#.get(byte) {
                    line[at] = byte;
                }
                text.extend_from_slice(&line);
            }
            compare(&text);
        }
    }
}
