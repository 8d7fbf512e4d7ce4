//! Explains what was expected on a line that was not understood, for `parse --explain`.

use crate::strace::arguments::args_end;
use crate::strace::call::{ending, result};
use crate::strace::format::Format;
use crate::strace::leader::{Delta, Layout, Pid, Time};
use crate::strace::line_start::{begins_event, call_name, is_continuation};
use crate::text::colour;
use crate::text::escape::escape_invalid;

/// Says what `line` should have been in a log of this format.
pub(crate) fn explain(format: &Format, line: &[u8]) -> String {
    let plain;
    let line = if memchr::memchr(0x1b, line).is_some() {
        let mut text = line.to_vec();
        let len = colour::strip(&mut text);
        text.truncate(len);
        plain = text;
        &plain
    } else {
        line
    };
    if is_continuation(line) {
        return "an event on the previous line: a dump or stack frame must follow one".to_owned();
    }
    if [&b")"[..], b", ", b" => ", b" <"].iter().any(|rest| line.starts_with(rest)) {
        return "an unfinished call above: this looks like the rest of one".to_owned();
    }
    let Some(leader) = format.layout.leader(line) else {
        return explain_leader(&format.layout, line);
    };
    let rest = &line[leader.next..];
    if rest.starts_with(b"<... ") && !contains(rest, b" resumed>") {
        return "\" resumed>\" after \"<... \" and the name of a call".to_owned();
    }
    if rest.starts_with(b"+++ ") {
        return "\"+++ exited with N +++\", \"+++ killed by SIGNAL +++\" or \
                \"+++ superseded by execve in pid N +++\""
            .to_owned();
    }
    if rest.starts_with(b"--- ") {
        return "\"--- SIGNAL {…} ---\" or \"--- stopped by SIGNAL ---\"".to_owned();
    }
    match call_name(rest).filter(|_| begins_event(rest)) {
        Some(n) => explain_call(&rest[..n], &rest[n + 1..]),
        None => expected_event(format.layout == Layout::default()),
    }
}

fn expected_event(bare: bool) -> String {
    let place = if bare { "" } else { " after the columns" };
    format!(
        "an event{place}: NAME(…) = RESULT, <... NAME resumed>, --- SIGNAL {{…}} ---, \
         +++ exited with N +++"
    )
}

/// What is missing in a call. `args` is all that follows its `(`.
fn explain_call(name: &[u8], args: &[u8]) -> String {
    let name = escape_invalid(name);
    let Some(end) = args_end(args, 0) else {
        return format!("\") = RESULT\" after the arguments of {name}: its \"(\" is not closed");
    };
    let after = &args[end + 1..];
    let blanks = after.iter().take_while(|&&b| b == b' ').count();
    if blanks == 0 || !after[blanks..].starts_with(b"= ") {
        return format!("\" = RESULT\" after \"{name}(…)\"");
    }
    if result::parse(args, end + 1 + blanks + 2).is_none() {
        return "a result after \" = \": a number, \"?\", or -1 and the name of an error"
            .to_owned();
    }
    if ending::ending(args).is_none() {
        return format!("a single call: where {name} ends is not clear");
    }
    format!("an event: {name} is not a system call, and no column precedes it")
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    crate::text::search::find(text, part, part.len() - 1).is_some()
}

/// One column of a leader.
struct LeaderColumn {
    name: &'static str,
    example: &'static str,
    /// Copies the column from one layout to another.
    put: fn(&mut Layout, &Layout),
}

/// The columns of `layout`, in the order in which they are printed.
fn columns(layout: &Layout) -> Vec<LeaderColumn> {
    let mut out = Vec::new();
    let mut column = |wanted: bool, name, example, put| {
        if wanted {
            out.push(LeaderColumn { name, example, put });
        }
    };
    column(layout.pid == Pid::Plain, "pid", "12345 ", |to, from| to.pid = from.pid);
    column(layout.context, "security context", "[unconfined_t] ", |to, from| {
        to.context = from.context;
    });
    column(layout.time == Time::Day, "time of day", "12:34:59.690276 ", |to, from| {
        to.time = from.time;
    });
    column(layout.time == Time::Epoch, "seconds since 1970", "1795175299.690276 ", |to, from| {
        to.time = from.time;
    });
    column(layout.delta == Delta::Plain, "seconds since the previous line", "     0.000123 ", {
        |to, from| to.delta = from.delta
    });
    column(layout.delta == Delta::Paren, "seconds since the previous line", "(+     0.000123) ", {
        |to, from| to.delta = from.delta
    });
    column(layout.number, "number of the call", "[   3] ", |to, from| to.number = from.number);
    column(layout.pointer, "instruction pointer", "[00007f050fce1e67] ", |to, from| {
        to.pointer = from.pointer;
    });
    out
}

/// An example of a leader with this layout.
pub(crate) fn example(layout: &Layout) -> String {
    columns(layout).iter().map(|column| column.example).collect()
}

/// What is wrong before the event.
fn explain_leader(layout: &Layout, line: &[u8]) -> String {
    let columns = columns(layout);
    if columns.is_empty() {
        return "\"[pid 12345] \" or nothing before the event".to_owned();
    }
    let names: Vec<_> = columns.iter().map(|column| column.name).collect();
    // Add the columns of the layout one by one: the first that does not match is missing.
    let mut sofar = Layout::default();
    let missing = columns.iter().find(|column| {
        (column.put)(&mut sofar, layout);
        sofar.leader(line).is_none()
    });
    let missing = missing.map_or("the blank after them", |column| column.name);
    format!(
        "the columns of this log, such as \"{}\" ({}); missing: {missing}",
        example(layout),
        names.join(", "),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strace::detect;

    fn explained(log: &str, line: &str) -> String {
        let format = detect(log.as_bytes()).expect("a log of strace");
        explain(&format, line.as_bytes())
    }

    const EPOCH: &str = "7     1795175299.690276 close(3) = 0\n";

    #[test]
    fn a_line_without_the_leader() {
        let such = "the columns of this log, such as";
        for (log, line, expected) in [
            (
                EPOCH,
                "hello",
                "\"12345 1795175299.690276 \" (pid, seconds since 1970); missing: pid",
            ),
            (
                EPOCH,
                "7     close(3) = 0",
                "\"12345 1795175299.690276 \" (pid, seconds since 1970); missing: seconds since \
                 1970",
            ),
            (
                "12:12:49 (+     0.000017) [   3] [00007f050fce1e67] close(3) = 0\n",
                "12:12:49 (+     0.000017) close(3) = 0",
                "\"12:34:59.690276 (+     0.000123) [   3] [00007f050fce1e67] \" (time of day, \
                 seconds since the previous line, number of the call, instruction pointer); missing: number \
                 of the call",
            ),
            (
                "     0.000123 close(3) = 0\n",
                "close(3) = 0",
                "\"     0.000123 \" (seconds since the previous line); missing: seconds since the \
                 previous line",
            ),
        ] {
            assert_eq!(explained(log, line), format!("{such} {expected}"), "{line}");
        }
        assert_eq!(
            explained("close(3) = 0\n", "[pid x] close(3) = 0"),
            "\"[pid 12345] \" or nothing before the event"
        );
    }

    #[test]
    fn every_example_is_a_leader_of_its_layout() {
        for log in [
            EPOCH,
            "12:12:49 close(3) = 0\n",
            "7 12:12:49.1 (+     0.000017) [   3] [00007f050fce1e67] close(3) = 0\n",
            "7          0.000123 close(3) = 0\n",
            "7 [user_t] 1795175299 close(3) = 0\n",
            "close(3) = 0\n",
        ] {
            let layout = detect(log.as_bytes()).expect("a log of strace").layout;
            let line = example(&layout) + "close(3) = 0";
            let leader = layout.leader(line.as_bytes()).expect(log);
            assert_eq!(&line[leader.next..], "close(3) = 0", "{log}");
        }
    }

    #[test]
    fn lines_without_an_event() {
        for (rest, expected) in [
            ("hello", "an event after the columns: NAME(…) = RESULT,"),
            ("<... read res", "\" resumed>\" after \"<... \""),
            ("+++ exited", "\"+++ exited with N +++\","),
            ("--- SIGCHLD", "\"--- SIGNAL {…} ---\""),
            ("read(3, \"a", "\") = RESULT\" after the arguments of read: its \"(\" is not closed"),
            ("read(3, [1, 2) = 3", "\") = RESULT\" after the arguments of read"),
            ("read(3) and more", "\" = RESULT\" after \"read(…)\""),
            ("read(3)= 3", "\" = RESULT\" after \"read(…)\""),
            ("read(3) = three", "a result after \" = \": a number, \"?\""),
            ("read(3) = -", "a result after \" = \": a number, \"?\""),
        ] {
            let said = explained(EPOCH, &format!("7     1795175299.690276 {rest}"));
            assert!(said.starts_with(expected), "{rest}: {said}");
        }
        assert!(explained("close(3) = 0\n", "hello").starts_with("an event: NAME(…)"));
        assert_eq!(
            explained(EPOCH, " | 00000  61 62"),
            "an event on the previous line: a dump or stack frame must follow one"
        );
    }

    #[test]
    fn torn_calls_and_colours() {
        let rest = "an unfinished call above: this looks like the rest of one";
        for line in [")            = 12", ", 0x7f) = 3", " => {parent_tid=[1]}, 88) = 1"] {
            assert_eq!(explained(EPOCH, line), rest, "{line}");
        }
        assert_eq!(explained("close(3) = 0\n", " <unfinished ...>"), rest);
        let coloured = explained(EPOCH, "7     1795175299.690276 \x1b[33mclose\x1b[0m(3");
        assert_eq!(
            coloured,
            "\") = RESULT\" after the arguments of close: its \"(\" is not closed"
        );
    }

    #[test]
    fn hostile_lines_are_explained_quickly() {
        let format = detect(EPOCH.as_bytes()).expect("a log of strace");
        for part in ["(", "[", "/* ", ") = ", "<... ", "\"", "[pid "] {
            let line = format!("7     1795175299.690276 f({}", part.repeat(1_000_000));
            assert!(explain(&format, line.as_bytes()).len() < 200);
            assert!(explain(&format, &line.as_bytes()[24..]).len() < 200);
        }
    }

    #[test]
    fn example_of_explain() {
        use crate::strace::explain::explain;
        let format = detect(b"7     1795175299.690276 close(3) = 0\n").unwrap();
        assert_eq!(
            explain(&format, b"hello"),
            "the columns of this log, such as \"12345 1795175299.690276 \" (pid, seconds since 1970); \
             missing: pid"
        );
        assert_eq!(
            explain(&format, b"7     1795175299.690276 close(3"),
            "\") = RESULT\" after the arguments of close: its \"(\" is not closed"
        );
    }
}
