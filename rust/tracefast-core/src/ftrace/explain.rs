//! What was expected on a line that was not understood, in words.

use crate::ftrace::format::{Format, Graph};
use crate::ftrace::header::{Clock, layouts};
use crate::ftrace::non_records::classify::is_continuation;

/// Says what `line` should have been in a log of this format.
pub(crate) fn explain(format: &Format, line: &[u8]) -> String {
    if is_continuation(line) {
        return "a record on the previous line: stack frames must follow one".to_owned();
    }
    if layouts::default::parse(line).is_none() && layouts::default::has_columns(line) {
        return "a record that starts the line: there is other text before its columns".to_owned();
    }
    if layouts::default::parse(line).is_some() {
        return "an event after the columns".to_owned();
    }
    if format.graph != Graph::No {
        return "a function, such as \" 0)   1.382 us    |    getname();\" or \" 0)               |  \
                sys_open() {\", its end (\"}\"), or a comment (\"/* … */\"), after the log's columns"
            .to_owned();
    }
    let mut such = "bash-12345 ".to_owned();
    let mut names = vec!["command and pid"];
    if format.tgid {
        such += "(  12345) ";
        names.push("thread group");
    }
    such += "[001] ";
    names.push("processor");
    if format.flags > 0 {
        such.extend(std::iter::repeat_n('.', format.flags.into()));
        such.push(' ');
        names.push("flags");
    }
    let (time, unit) = match format.clock {
        Clock::Uptime | Clock::Start | Clock::None => ("2881.878957: ", "seconds"),
        Clock::Ticks => ("321623902270: ", "ticks"),
    };
    such += time;
    names.push(unit);
    format!(
        "the columns of a record, such as \"{such}\" ({}); missing: {}",
        names.join(", "),
        missing(line)
    )
}

/// The first column that the line lacks.
fn missing(line: &[u8]) -> &'static str {
    let cpu = memchr::memchr_iter(b'[', line).find(|open| {
        let digits = line[open + 1..].iter().take_while(|b| b.is_ascii_digit()).count();
        digits > 0 && line.get(open + 1 + digits) == Some(&b']')
    });
    let Some(cpu) = cpu else { return "[CPU]" };
    // `-PID` right before, or before the thread group.
    let before = line[..cpu].trim_ascii_end();
    let before = match before.strip_suffix(b")") {
        Some(group) => match memchr::memrchr(b'(', group) {
            Some(open) => before[..open].trim_ascii_end(),
            None => before,
        },
        None => before,
    };
    let digits = before.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    if digits == 0 || !before[..before.len() - digits].ends_with(b"-") {
        return "\"-PID\" before [CPU]";
    }
    "time and colon after [CPU]"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ftrace::detect;

    #[test]
    fn what_a_line_lacks() {
        let logs = [
            "            bash-2101    (   2101) [001] d..2.  2881.878957: x: y\n",
            "            bash-2101    [001]            2: x: y\n",
        ];
        let such = [
            "the columns of a record, such as \"bash-12345 (  12345) [001] ..... 2881.878957: \" \
             (command and pid, thread group, processor, flags, seconds); missing: ",
            "the columns of a record, such as \"bash-12345 [001] 321623902270: \" \
             (command and pid, processor, ticks); missing: ",
        ];
        for (log, such) in logs.into_iter().zip(such) {
            let format = detect(log.as_bytes()).expect("ftrace's");
            for (line, missing) in [
                ("hello", "[CPU]"),
                ("bash [x]: y", "[CPU]"),
                ("bash [001] 1.000000: x: y", "\"-PID\" before [CPU]"),
                ("bash (12) [001] 1.000000: x: y", "\"-PID\" before [CPU]"),
                ("bash-12 [001] ..... x: y", "time and colon after [CPU]"),
                ("bash-12 (   12) [001] ..... x: y", "time and colon after [CPU]"),
                ("bash-12 [001] ..... 12.5", "time and colon after [CPU]"),
            ] {
                let said = explain(&format, line.as_bytes());
                assert_eq!(said, format!("{such}{missing}"), "{line}");
            }
        }
        let quoted = format!("#  as said {}", &logs[0][..logs[0].len() - 1]);
        let said = explain(&Format::default(), quoted.as_bytes());
        assert!(said.starts_with("a record that starts the line"), "{said}");
        let format = Format { graph: Graph::Columns, ..Format::default() };
        assert!(explain(&format, b"hello").starts_with("a function, such as "));
        let format = Format::default();
        let frame = explain(&format, b" => schedule+0x23/0xa0");
        assert_eq!(frame, "a record on the previous line: stack frames must follow one");
    }

    #[test]
    fn every_example_is_a_record() {
        for (tgid, flags, clock) in
            [(false, 0, Clock::Uptime), (true, 5, Clock::Uptime), (false, 7, Clock::Ticks)]
        {
            let format = Format { tgid, flags, clock, ..Format::default() };
            let said = explain(&format, b"hello");
            let such = said.split('"').nth(1).expect("an example");
            let header =
                layouts::default::parse(format!("{such}x: y").as_bytes()).expect("a record");
            assert_eq!((header.has_tgid, header.pid), (tgid, Some(12345)), "{such}");
            assert_eq!(header.flags.1 - header.flags.0, usize::from(flags), "{such}");
            assert_eq!(header.clock, clock, "{such}");
        }
    }

    #[test]
    fn hostile_lines_are_explained_soon() {
        for part in ["[", "[1", "(", "-1 ", "[1] "] {
            let line = part.repeat(1_000_000);
            assert!(explain(&Format::default(), line.as_bytes()).len() < 300);
        }
    }

    #[test]
    fn example_of_explain() {
        use crate::ftrace::explain::explain;
        let format = detect(b"  bash-7  [001] d..2.  2881.878957: sys_read -> 0x2\n").unwrap();
        assert_eq!(
            explain(&format, b"hello"),
            "the columns of a record, such as \"bash-12345 [001] ..... 2881.878957: \" (command and \
             pid, processor, flags, seconds); missing: [CPU]"
        );
    }
}
