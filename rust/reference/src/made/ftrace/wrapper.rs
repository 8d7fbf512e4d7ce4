//! What other programs put around a log.

use crate::made::ftrace::Made;

/// What is around the lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrap {
    None,
    /// Level and time of the kernel's log.
    KernelLog,
    /// A page of HTML.
    Page,
    /// A string in a script of such a page.
    Script,
}

/// The same log as another program keeps it.
pub(crate) fn wrap_up(made: Made, wrap: Wrap) -> Made {
    let Made { text, mut rows } = made;
    let (head, before, after, tail): (&[u8], &[u8], &[u8], &[u8]) = match wrap {
        Wrap::None => return Made { text, rows },
        Wrap::KernelLog => (b"", b"<4>[   12.345678] ", b"", b""),
        Wrap::Page => (
            b"<!DOCTYPE html>\n<html>\n<style>\nbody { color: red }\n</style>\n<script>\n",
            b"",
            b"",
            b"  </script>\n</html>\n",
        ),
        Wrap::Script => (
            b"<html>\n<script>\nvar linuxPerfData = \"\\\n",
            b"",
            br"\n\",
            b"\\n\";\n</script>\n</html>\n",
        ),
    };
    let more = head.split(|&b| b == b'\n').count() as u64 - 1;
    for row in &mut rows {
        row.line += more;
        // Its text continues after what is around the lines, or not at all.
        row.args.take_if(|args| args.contains(&b'\n'));
    }
    let mut out = head.to_vec();
    for line in text.split_inclusive(|&b| b == b'\n') {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        out.extend([before, line, after, b"\n"].concat());
    }
    out.extend_from_slice(tail);
    Made { text: out, rows }
}
