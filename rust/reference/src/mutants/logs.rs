//! Mutants of recorded logs, the same ones in every run: parts of logs with lines that are cut,
//! lost, doubled, torn or spoiled.

use std::path::Path;

use crate::mutants::{Numbers, PIECES, ftrace};

/// Numbers at the edges of types, and beyond them.
const EDGES: [&str; 18] = [
    "0",
    "-1",
    "-0",
    "4095",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "4611686018427387904",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "18446744073709551615",
    "99999999999999999999",
    "0x7fffffffffffffff",
    "0xffffffffffffffff",
    "9223372036.854775807",
];

/// Most lines of a log that a mutant starts with.
const LINES: usize = 70;

/// The logs with these extensions below a folder, in the order of their paths.
///
/// # Panics
/// If a log cannot be read.
pub fn recorded(folder: &Path, extensions: &[&str]) -> Vec<Vec<u8>> {
    let mut folders = vec![folder.to_owned()];
    let mut paths = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let extension = path.extension().and_then(|extension| extension.to_str());
            if path.is_dir() {
                folders.push(path);
            } else if extension.is_some_and(|extension| extensions.contains(&extension)) {
                paths.push(path);
            }
        }
    }
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).expect("readable")).collect()
}

/// A part of one of the logs, changed in up to five ways.
pub fn mutant(logs: &[Vec<u8>], numbers: &mut Numbers) -> Vec<u8> {
    let mut lines = part(logs, numbers);
    for _ in 0..=numbers.below(5) {
        change(&mut lines, logs, numbers);
    }
    lines.concat()
}

/// Lines of a log, often its first ones, with their ends.
fn part(logs: &[Vec<u8>], numbers: &mut Numbers) -> Vec<Vec<u8>> {
    let log = &logs[numbers.below(logs.len())];
    let lines: Vec<&[u8]> = log.split_inclusive(|&b| b == b'\n').collect();
    let start = if numbers.below(2) == 0 { 0 } else { numbers.below(lines.len()) };
    let count = 1 + numbers.below(LINES);
    // The columns of a log are found by its first lines.
    let head = numbers.below(3).min(start);
    let chosen = lines[..head].iter().chain(lines[start..].iter().take(count));
    // Long lines say little that short ones do not.
    chosen.map(|line| if line.len() > 4000 { &line[..700] } else { line }.to_vec()).collect()
}

fn change(lines: &mut Vec<Vec<u8>>, logs: &[Vec<u8>], numbers: &mut Numbers) {
    if lines.is_empty() {
        return;
    }
    let at = numbers.below(lines.len());
    let count = (1 + numbers.below(4)).min(lines.len() - at);
    match numbers.below(16) {
        0 => flip(&mut lines[at], numbers),
        1 => drop(lines.drain(at..at + count)),
        2 => {
            let copy = lines[at..at + count].to_vec();
            let to = numbers.below(lines.len() + 1);
            drop(lines.splice(to..to, copy));
        }
        3 => {
            let other = numbers.below(lines.len());
            lines.swap(at, other);
        }
        4 => {
            // Cut, with or without its end.
            let cut = numbers.below(lines[at].len() + 1);
            lines[at].truncate(cut);
            if numbers.below(2) == 0 {
                lines[at].push(b'\n');
            }
        }
        5 => drop(lines[at].pop()),
        6 | 7 => exchange(lines, at, numbers),
        8..=10 => edge(&mut lines[at], numbers),
        11 => {
            let other = part(logs, numbers);
            drop(lines.splice(at..at, other));
        }
        12 => coloured(lines, numbers),
        13 => half_numbered(lines, numbers),
        14 => {
            let piece = match numbers.below(2) {
                0 => PIECES[numbers.below(PIECES.len())],
                _ => ftrace::PIECES[numbers.below(ftrace::PIECES.len())],
            };
            let line = &mut lines[at];
            let to = numbers.below(line.len() + 1);
            drop(line.splice(to..to, piece.iter().copied()));
        }
        _ => drop(lines.drain(..at)),
    }
}

fn flip(line: &mut [u8], numbers: &mut Numbers) {
    if line.is_empty() {
        return;
    }
    for _ in 0..=numbers.below(6) {
        let at = numbers.below(line.len());
        line[at] = if numbers.below(2) == 0 { line[at] ^ 1 } else { numbers.below(256) as u8 };
    }
}

/// The words of a line, each with the blank after it.
fn words(line: &[u8]) -> Vec<Vec<u8>> {
    line.split_inclusive(|&b| b == b' ').map(<[u8]>::to_vec).collect()
}

/// A word of a line and one of another change places.
fn exchange(lines: &mut [Vec<u8>], at: usize, numbers: &mut Numbers) {
    let other = numbers.below(lines.len());
    let (mut one, mut two) = (words(&lines[at]), words(&lines[other]));
    if one.is_empty() || two.is_empty() || at == other {
        return;
    }
    let place = numbers.below(one.len());
    // Mostly the same column of both.
    let its =
        if place < two.len() && numbers.below(4) > 0 { place } else { numbers.below(two.len()) };
    std::mem::swap(&mut one[place], &mut two[its]);
    (lines[at], lines[other]) = (one.concat(), two.concat());
}

/// One of the line's numbers becomes one that few expect.
fn edge(line: &mut Vec<u8>, numbers: &mut Numbers) {
    let starts: Vec<usize> = (0..line.len())
        .filter(|&at| line[at].is_ascii_digit() && (at == 0 || !line[at - 1].is_ascii_digit()))
        .collect();
    if starts.is_empty() {
        return;
    }
    let start = starts[numbers.below(starts.len())];
    let digits = line[start..].iter().take_while(|b| b.is_ascii_digit()).count();
    let edge = EDGES[numbers.below(EDGES.len())];
    drop(line.splice(start..start + digits, edge.bytes()));
}

/// Words of some lines in colours, as `strace --color` prints those of all.
fn coloured(lines: &mut [Vec<u8>], numbers: &mut Numbers) {
    let every = 1 + numbers.below(3);
    for line in lines.iter_mut().step_by(every) {
        let mut out = Vec::new();
        for piece in line.split_inclusive(|b| !b.is_ascii_alphanumeric()) {
            let (word, end) = piece.split_at(piece.len().saturating_sub(1));
            if word.is_empty() {
                out.extend_from_slice(piece);
                continue;
            }
            out.extend_from_slice(format!("\x1b[{}m", 30 + numbers.below(60)).as_bytes());
            out.extend_from_slice(word);
            out.extend_from_slice(b"\x1b[0m");
            out.extend_from_slice(end);
        }
        *line = out;
    }
}

/// Some lines without their pid, as strace prints those of its only task.
fn half_numbered(lines: &mut [Vec<u8>], numbers: &mut Numbers) {
    for line in lines {
        let digits = line.iter().take_while(|b| b.is_ascii_digit()).count();
        if digits == 0 || numbers.below(2) == 0 {
            continue;
        }
        let blanks = line[digits..].iter().take_while(|&&b| b == b' ').count();
        drop(line.drain(..digits + blanks));
    }
}
