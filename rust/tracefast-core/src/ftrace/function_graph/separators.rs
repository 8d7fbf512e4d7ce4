//! Lines of `function_graph` between its functions.

use crate::ftrace::function_graph::line::{LineTask, cpu, party};
use crate::ftrace::scan::trim_end;
use crate::text::number;

/// A line that is neither a function nor a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Separator {
    /// Dashes around a switch.
    Rule,
    /// The processor goes from one task to another.
    Switch {
        /// Which one.
        cpu: Option<u16>,
        /// The task that ran until now.
        from: LineTask,
        /// The one that runs now.
        to: LineTask,
    },
    /// How many functions were too deep to be traced.
    Overruns,
}

/// What `line` is, if it is one of them.
pub(crate) fn separator(line: &[u8]) -> Option<Separator> {
    let text = line.trim_ascii();
    match text.first()? {
        b'-' if text.len() >= 20 && text.iter().all(|&b| b == b'-') => Some(Separator::Rule),
        b'(' => {
            let number = text.strip_prefix(b"(Overruns: ")?;
            let (_, n) = number::digits(number);
            (n > 0 && number[n..] == *b")").then_some(Separator::Overruns)
        }
        b'0'..=b'9' | b'|' => switch(line),
        _ => None,
    }
}

/// ` 0)    sh-4802    =>    top-12    `
fn switch(line: &[u8]) -> Option<Separator> {
    let (cpu, at) = cpu(line, 0).or_else(|| cpu(line, memchr::memchr(b'|', line)? + 1))?;
    let end = trim_end(line, at, line.len());
    // Names are short, and may hold an arrow.
    let head = &line[at..end.min(at + 64)];
    memchr::memmem::find_iter(head, b"=>").find_map(|arrow| {
        let from = party(line, at, at + arrow)?;
        let to = party(line, at + arrow + 2, end)?;
        Some(Separator::Switch { cpu, from, to })
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn example_of_special() {
        use crate::ftrace::function_graph::{Separator, separator};
        let Some(Separator::Switch { cpu, from, to }) =
            separator(b" 0)    sh-4802    =>    top-12    ")
        else {
            panic!("a switch")
        };
        assert_eq!((cpu, from.tid, to.tid), (Some(0), 4802, 12));
    }
}
