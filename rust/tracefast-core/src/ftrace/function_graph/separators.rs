//! Lines of `function_graph` that stand between its functions.

use crate::ftrace::function_graph::line::{Party, cpu, party};
use crate::ftrace::function_graph::trim_end;
use crate::text::number;

/// Such a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Special {
    /// Dashes around a switch.
    Rule,
    /// The processor goes from one task to another.
    Switch {
        /// Which one.
        cpu: Option<u16>,
        /// The task that ran until now.
        from: Party,
        /// The one that runs now.
        to: Party,
    },
    /// How many functions were too deep to be traced.
    Overruns,
}

/// What `line` is, if it is one of them.
pub(crate) fn special(line: &[u8]) -> Option<Special> {
    let text = line.trim_ascii();
    match text.first()? {
        b'-' if text.len() >= 20 && text.iter().all(|&b| b == b'-') => Some(Special::Rule),
        b'(' => {
            let number = text.strip_prefix(b"(Overruns: ")?;
            let (_, n) = number::digits(number);
            (n > 0 && number[n..] == *b")").then_some(Special::Overruns)
        }
        b'0'..=b'9' | b'|' => switch(line),
        _ => None,
    }
}

/// ` 0)    sh-4802    =>    top-12    `
fn switch(line: &[u8]) -> Option<Special> {
    let (cpu, at) = cpu(line, 0).or_else(|| cpu(line, memchr::memchr(b'|', line)? + 1))?;
    let end = trim_end(line, at, line.len());
    // Names are short, and may hold an arrow.
    let head = &line[at..end.min(at + 64)];
    memchr::memmem::find_iter(head, b"=>").find_map(|arrow| {
        let from = party(line, at, at + arrow)?;
        let to = party(line, at + arrow + 2, end)?;
        Some(Special::Switch { cpu, from, to })
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn example_of_special() {
        use crate::ftrace::function_graph::{Special, special};
        let Some(Special::Switch { cpu, from, to }) =
            special(b" 0)    sh-4802    =>    top-12    ")
        else {
            panic!("a switch")
        };
        assert_eq!((cpu, from.tid, to.tid), (Some(0), 4802, 12));
    }
}
