//! The fast parser of ftrace's text beside the slow one that only tests use.

#![allow(clippy::print_stderr)] // What differs is shown.

#[path = "../../fuzz/src/bodies.rs"]
#[allow(dead_code, unused_imports)] // Another test uses the rest.
mod fuzz;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fuzz::compared_ftrace;
use tracefast_core::format::{Format, Wanted};

/// Reads every log under the folder that `TRACEFAST_LOGS` names in both ways, and shows every line
/// on which they differ:
/// `TRACEFAST_LOGS=logs cargo test --test reference_ftrace -- --ignored --nocapture`.
#[test]
#[ignore = "needs a folder of logs"]
fn real_logs_are_read_alike() {
    let folder = std::env::var_os("TRACEFAST_LOGS").expect("TRACEFAST_LOGS names a folder");
    let mut files = Vec::new();
    collect(Path::new(&folder), &mut files);
    files.sort();
    assert!(!files.is_empty(), "no log in {}", folder.display());
    let mut differ = 0;
    for file in &files {
        let text = std::fs::read(file).expect("readable");
        let format = Format::detect(&text, Some(Wanted::Ftrace));
        let format = format.unwrap_or(Format::insisted(Wanted::Ftrace));
        let compared = std::panic::catch_unwind(|| compared_ftrace(format, &text));
        let Some(found) = compared.unwrap_or_else(|_| Some("panicked\n".to_owned())) else {
            continue;
        };
        differ += 1;
        eprintln!("{}: {} differences", file.display(), found.lines().count());
        let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
        for what in found.lines() {
            let kind = what.split_once(", ").map_or(what, |(_, rest)| rest);
            let kind = kind.split_once(':').map_or(kind, |(kind, _)| kind).to_owned();
            let seen = kinds.entry(kind).or_default();
            *seen += 1;
            if *seen > 3 {
                continue;
            }
            let number: usize = what
                .trim_start_matches("line ")
                .split(|c: char| !c.is_ascii_digit())
                .next()
                .and_then(|number| number.parse().ok())
                .unwrap_or(0);
            let line = text.split(|&b| b == b'\n').nth(number.wrapping_sub(1)).unwrap_or_default();
            let line = line[..line.len().min(300)].escape_ascii();
            eprintln!("  {}\n    {line}", &what[..what.len().min(600)]);
        }
        eprintln!("  {kinds:?}");
    }
    eprintln!("{} logs, {differ} differ", files.len());
    assert_eq!(differ, 0, "they differ");
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_file() {
        files.push(path.to_owned());
        return;
    }
    for entry in std::fs::read_dir(path).expect("a folder") {
        let path = entry.expect("an entry").path();
        let named = |end: &str| path.to_string_lossy().ends_with(end);
        if path.is_dir() || named(".txt") || named(".log") || named(".ftrace") {
            collect(&path, files);
        }
    }
}

#[test]
fn made_logs() {
    fuzz::mutants::run(30000, |numbers| numbers.bytes(120), fuzz::ftrace);
}
