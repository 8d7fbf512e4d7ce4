//! The events whose fields are known, and how kernels and tools print them.
//!
//! Each subsystem has a text file in this folder. The names of one or more events start a
//! paragraph; each indented line after them is a form, one way in which these events are printed
//! (see [`form`] for how forms are written). A line that starts with `#` is a comment.
//!
//! ```text
//! # Only in the kernels of phones, not in mainline.
//! readahead
//!     dev={dev:dev} ino={ino:x64} index={index:u64} nr_to_read={nr_to_read:u64}
//!     dev {dev} ino {ino} index {index} nr_to_read {nr_to_read}
//! ```
//!
//! The forms of an event cover all kernels and tools: first the text of tracefs, as `TP_printk` in
//! the kernel's `include/trace/events/*.h` has it, then what older kernels print, then the text of
//! trace-cmd's plugins, then the raw fields (`trace-cmd report -R`, the option `fields`). A field
//! is named as the text names it, or, where the text does not, as the event's `format` file does.
//! The order of files and events is that of docs/events.md.

mod form;

use std::sync::LazyLock;

pub(crate) use form::{EventColumn, Form, Row};

/// Events that are printed alike.
#[derive(Debug)]
pub(crate) struct KnownEvent {
    names: Vec<&'static str>,
    /// In the order in which they are tried.
    pub forms: Vec<&'static str>,
}

macro_rules! files {
    ($($name:literal),* $(,)?) => { &[$(($name, include_str!($name))),*] };
}

/// Name and text of each file.
const FILES: &[(&str, &str)] = files![
    "sched.txt",
    "block.txt",
    "filemap.txt",
    "ext4.txt",
    "jbd2.txt",
    "writeback.txt",
    "memory.txt",
    "irq.txt",
    "timer.txt",
    "power.txt",
    "tracers.txt",
];

/// All known events. The files are read when the first event is asked for: neither starting the
/// program nor parsing a log needs them.
static EVENTS: LazyLock<Vec<KnownEvent>> = LazyLock::new(|| {
    let mut events: Vec<KnownEvent> = Vec::new();
    for (_, line) in FILES.iter().flat_map(|(_, text)| lines(text)) {
        match (line, events.last_mut()) {
            (Line::Form(form), Some(event)) => event.forms.push(form),
            // A unit test catches this.
            (Line::Form(_), None) => {}
            (Line::Names(names), Some(event)) if event.forms.is_empty() => {
                event.names.extend(names.split_ascii_whitespace());
            }
            (Line::Names(names), _) => {
                let names = names.split_ascii_whitespace().collect();
                events.push(KnownEvent { names, forms: Vec::new() });
            }
        }
    }
    events
});

enum Line<'a> {
    /// Names of events; the lines up to the first form add up.
    Names(&'a str),
    Form(&'a str),
}

/// The lines of a file, with their numbers, without comments and blank lines.
fn lines(text: &str) -> impl Iterator<Item = (usize, Line<'_>)> {
    text.lines().enumerate().filter_map(|(at, line)| {
        let form = line.trim_start();
        let line = match line.as_bytes().first()? {
            b'#' => return None,
            b' ' | b'\t' if form.is_empty() => return None,
            b' ' | b'\t' => Line::Form(form),
            _ => Line::Names(line),
        };
        Some((at + 1, line))
    })
}

/// The event of that name.
pub(crate) fn find(name: &str) -> Option<&'static KnownEvent> {
    EVENTS.iter().find(|event| event.names.contains(&name))
}

/// The names of all events.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    EVENTS.iter().flat_map(|event| &event.names).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is wrong with a file, as `file:line: reason`.
    fn faults(file: &str, text: &'static str) -> Vec<String> {
        let mut faults = Vec::new();
        let mut columns = Vec::new();
        let mut seen = Vec::new();
        // The line of names that no form follows yet.
        let mut names_at = None;
        for (number, line) in lines(text) {
            let mut fault = |what: String| faults.push(format!("{file}:{number}: {what}"));
            match line {
                Line::Form(_) if seen.is_empty() => fault("a form before any name".to_owned()),
                Line::Form(form) => {
                    names_at = None;
                    if form.ends_with(' ') {
                        fault("a blank at the end is written `\\s`".to_owned());
                    }
                    if Form::new(form, &mut columns).is_none() {
                        fault(format!("not a form: {form}"));
                    }
                }
                Line::Names(names) => {
                    if names_at.is_none() {
                        columns.clear();
                    }
                    names_at = Some(number);
                    for name in names.split_ascii_whitespace() {
                        if seen.contains(&name) {
                            fault(format!("`{name}` a second time"));
                        }
                        if !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
                            fault(format!("not a name of an event: `{name}`"));
                        }
                        seen.push(name);
                    }
                }
            }
        }
        if let Some(number) = names_at {
            faults.push(format!("{file}:{number}: no form follows"));
        }
        faults
    }

    #[test]
    fn every_file_is_well_formed() {
        for (file, text) in FILES {
            let faults = faults(file, text);
            assert!(faults.is_empty(), "{}", faults.join("\n"));
            assert!(lines(text).count() > 1, "{file} is empty");
        }
    }

    #[test]
    fn every_file_of_the_folder_is_read() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/ftrace/decode/forms");
        let mut found: Vec<String> = std::fs::read_dir(folder)
            .expect("the folder of this file")
            .map(|entry| entry.expect("an entry").path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
            .map(|path| path.file_name().unwrap_or_default().to_string_lossy().into_owned())
            .collect();
        found.sort_unstable();
        let mut read: Vec<_> = FILES.iter().map(|(name, _)| *name).collect();
        read.sort_unstable();
        assert_eq!(found, read);
    }

    #[test]
    fn a_malformed_file_is_reported_with_its_line() {
        for (text, expected) in [
            ("a\n    x={x:i32}\n\n# c\nb\n    y={y:i33}\n", "f:6: not a form: y={y:i33}"),
            ("a\n    x={x:i32}\n    x={x:u32}\n", "f:3: not a form: x={x:u32}"),
            ("a\n    x={x}\n", "f:2: not a form: x={x}"),
            ("a\n    x={x:i32\n", "f:2: not a form: x={x:i32"),
            ("a\n    x={x:i32} \n", "f:2: a blank at the end is written `\\s`"),
            ("    x={x:i32}\n", "f:1: a form before any name"),
            ("a\n    x={x:i32}\nb a\n    y={y:i32}\n", "f:3: `a` a second time"),
            ("a, b\n    x={x:i32}\n", "f:1: not a name of an event: `a,`"),
            ("a\n    x={x:i32}\nb\nc\n", "f:4: no form follows"),
        ] {
            assert_eq!(faults("f", text), [expected], "{text}");
        }
        // Columns belong to one event only.
        assert_eq!(faults("f", "a\n    x={x:i32}\nb\n    x={x:u32}\n"), Vec::<String>::new());
    }

    #[test]
    fn no_event_is_in_two_files() {
        let mut all: Vec<_> = names().collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }

    #[test]
    fn names_on_several_lines_share_the_forms() {
        let first = find("call_function_entry").expect("a known event");
        let last = find("x86_platform_ipi_exit").expect("a known event");
        assert!(std::ptr::eq(first, last));
        assert_eq!(first.forms, ["vector={vector:i32}"]);
        assert_eq!(first.names.len(), 18);
    }
}
