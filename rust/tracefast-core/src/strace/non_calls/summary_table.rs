//! The tables of `-c` and `-C` (`src/count.c` of strace): any columns in any order, numbers in the
//! format of any locale.

const COLUMNS: [&str; 12] = [
    "% time",
    "seconds",
    "usecs/call",
    "calls",
    "errors",
    "syscall",
    "shortest",
    "longest",
    "wall-total",
    "wall-min",
    "wall-max",
    "wall-avg",
];

/// What a line is in a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TableLine {
    /// The names of the columns, or the title above them: a table starts.
    Head,
    /// A row that can be nothing else.
    Sure,
    /// A row or a rule, if a table has started.
    Row,
    /// Not part of a table.
    None,
}

/// Classifies `line`.
pub(crate) fn table_line(line: &[u8]) -> TableLine {
    let text = line.trim_ascii();
    if line.starts_with(b"System call usage summary for ") || is_head(text) {
        return TableLine::Head;
    }
    if text.starts_with(b"------") && text.iter().all(|b| matches!(b, b'-' | b' ')) {
        // A program may print a rule, too.
        return TableLine::Row;
    }
    let (mut names, mut numbers) = (0, 0);
    for word in text.split(|&b| b == b' ').filter(|word| !word.is_empty()) {
        if is_number(word) {
            numbers += 1;
        } else if is_name(word) {
            names += 1;
        } else {
            return TableLine::None;
        }
    }
    match (names, numbers) {
        // `  0.00    0.000000           0         2           read`
        (1, 4..) if is_share(text) => TableLine::Sure,
        (1, _) => TableLine::Row,
        _ => TableLine::None,
    }
}

/// Whether the text is nothing but names of columns: several, or `syscall` alone.
fn is_head(text: &[u8]) -> bool {
    let mut rest = text;
    let mut found = 0;
    while !rest.is_empty() {
        let Some(name) = COLUMNS.iter().find(|name| rest.starts_with(name.as_bytes())) else {
            return false;
        };
        rest = &rest[name.len()..];
        if !rest.is_empty() && rest[0] != b' ' {
            return false;
        }
        rest = rest.trim_ascii_start();
        found += 1;
    }
    found > 1 || text == b"syscall"
}

/// Whether the row starts with a share of two decimals and a time of six.
fn is_share(text: &[u8]) -> bool {
    let mut words = text.split(|&b| b == b' ').filter(|word| !word.is_empty());
    let decimals = |word: &[u8], digits: usize| {
        word.len() > digits && matches!(word[word.len() - digits - 1], b'.' | b',')
    };
    words.next().is_some_and(|share| decimals(share, 2) || share.ends_with(b"nan"))
        && words.next().is_some_and(|seconds| decimals(seconds, 6))
}

/// Whether the word is digits with at most one point or comma, or `nan`.
fn is_number(word: &[u8]) -> bool {
    let points = word.iter().filter(|b| matches!(b, b'.' | b',')).count();
    matches!(word, b"nan" | b"-nan")
        || points <= 1
            && word[0].is_ascii_digit()
            && word.iter().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b','))
}

fn is_name(word: &[u8]) -> bool {
    (word[0].is_ascii_alphabetic() || matches!(word[0], b'_' | b'?'))
        && word.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'?' | b':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_all_columns() {
        for (line, expected) in [
            ("% time     seconds  usecs/call     calls    errors syscall", TableLine::Head),
            (" usecs/call    wall-avg     calls syscall", TableLine::Head),
            ("syscall             calls    errors", TableLine::Head),
            ("System call usage summary for 32 bit mode:", TableLine::Head),
            ("------ ----------- ----------- --------- --------- ----------------", TableLine::Row),
            ("-------- --------- ----------------", TableLine::Row),
            ("  0.00    0.000000           0         2           read", TableLine::Sure),
            ("100,00    0,000592          74         8         1 total", TableLine::Sure),
            ("  -nan    0.000000           0         1           read", TableLine::Sure),
            ("          0     1000907         1 nanosleep", TableLine::Row),
            ("read                    1         1", TableLine::Row),
            ("calls of mine", TableLine::None),
            ("a 1.2.3", TableLine::None),
            ("--------", TableLine::Row),
            ("-----", TableLine::None),
            ("", TableLine::None),
        ] {
            assert_eq!(table_line(line.as_bytes()), expected, "{line}");
        }
    }
}
