//! The arguments of programs, as execve(2) shows them.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::{ListBuilder, StringBuilder};

use crate::tables::argument_parts::Parts;
use crate::text::escape::unescape_into;

/// What the text of an argument ends with if the log has only its start, and an argument of its own
/// for those that the log leaves out.
pub(crate) const CUT: &str = "...";

/// The list of arguments of `execve` or `execveat` that strace printed: `["ls", "-l"]`. None if the
/// log has only its address.
pub(crate) fn printed(args: &str) -> Option<&str> {
    // It comes after the path, which is the first string.
    let path = if args.starts_with('"') { 0 } else { args.find(", \"")? + 2 };
    let list = Parts(args.get(path..)?).nth(1)?.trim();
    // Linux takes a pointer that is NULL for an empty list: execve(2), "VERSIONS".
    (list.starts_with('[') || list == "NULL").then_some(list)
}

/// The arguments of a list that [`printed`] found, without strace's escapes.
///
/// strace cuts strings at 32 bytes, and lists at 32 arguments, unless `-s` sets another limit. What
/// is cut ends with [`CUT`].
pub(crate) fn arguments(list: &str) -> impl Iterator<Item = String> {
    let inside = list.strip_prefix('[').map(|list| list.strip_suffix(']').unwrap_or(list));
    let mut parts = Parts(inside.unwrap_or_default());
    let mut over = false;
    std::iter::from_fn(move || {
        let part = parts.next().filter(|_| !over)?.trim();
        let text = part.strip_prefix('"').and_then(|text| text.rsplit_once('"'));
        // Not a string: the rest of the list, which strace left out or could not read.
        over = text.is_none();
        let Some((text, after)) = text else { return Some(CUT.to_owned()) };
        let mut argument = Vec::with_capacity(text.len());
        unescape_into(text.as_bytes(), &mut argument);
        if after.starts_with(CUT) {
            argument.extend_from_slice(CUT.as_bytes());
        }
        String::from_utf8(argument).ok()
    })
}

/// A column of the arguments in lists that [`printed`] found.
pub(crate) fn column<'a>(lists: impl Iterator<Item = Option<&'a str>>) -> ArrayRef {
    let mut column = ListBuilder::new(StringBuilder::new());
    for list in lists {
        for argument in list.into_iter().flat_map(arguments) {
            column.values().append_value(argument);
        }
        column.append(list.is_some());
    }
    Arc::new(column.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argv(args: &str) -> Option<Vec<String>> {
        Some(arguments(printed(args)?).collect())
    }

    #[track_caller]
    fn assert_argv(args: &str, expected: &[&str]) {
        let found = argv(args).expect("a list");
        assert_eq!(found, expected, "{args}");
    }

    #[test]
    fn arguments_have_no_escapes() {
        assert_argv(
            r#""/bin/sh", ["sh", "-c", "echo \"a, b]\"\n", ""], 0x7ffd /* 39 vars */"#,
            &["sh", "-c", "echo \"a, b]\"\n", ""],
        );
        assert_argv(r#""\x2f\x61", ["\x6c\x73", "\303\251"], 0x7f /* 1 var */"#, &["ls", "é"]);
        assert_argv(r#"3</tmp/a[b>, "", ["x"], ["A=1"], AT_EMPTY_PATH"#, &["x"]);
        assert_argv(r#""/x", [], NULL"#, &[]);
        assert_argv(r#""/x", NULL, NULL"#, &[]);
    }

    #[test]
    fn what_is_cut_has_a_mark() {
        let text =
            r#""/b", ["python3", "from multiprocessing.spawn impor"..., ...], 0x7 /* 3 vars */"#;
        assert_argv(text, &["python3", "from multiprocessing.spawn impor...", "..."]);
        // strace could not read the rest of the list.
        assert_argv(r#""/b", ["a", ... /* 0x7f00 */], 0x7"#, &["a", "..."]);
        assert_argv(r#""/b", ["a", 0x7f00], 0x7"#, &["a", "..."]);
        assert_argv(r#""/b", ["a", "b"#, &["a", "..."]);
    }

    #[test]
    fn an_address_is_no_list() {
        for args in [
            r#""/x", 0x7ffd65cc94b8, ["A=[1]"]"#,
            "0x7f, 0x7f, 0x7f",
            r#"filename: 0x7f "/usr/bin/[", argv: 0x55d0, envp: 0x55e0"#,
            r#""/x""#,
            "",
        ] {
            assert_eq!(argv(args), None, "{args}");
        }
    }
}
