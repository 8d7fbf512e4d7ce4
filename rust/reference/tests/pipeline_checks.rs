//! The bodies of the fuzz targets that need files and threads, on inputs that are made up by
//! mutation of real lines: the same ones in every run.

use tracefast_reference::checks;
use tracefast_reference::mutants::ftrace as mutants_ftrace;
use tracefast_reference::mutants::{Numbers, mutant, run};

/// Bytes that choose how, and a log.
fn log(numbers: &mut Numbers) -> Vec<u8> {
    let mut data: Vec<u8> = (0..3).map(|_| numbers.below(256) as u8).collect();
    data.extend(mutant(numbers));
    data
}

/// The same of ftrace.
fn log_of_ftrace(numbers: &mut Numbers) -> Vec<u8> {
    let mut data: Vec<u8> = (0..3).map(|_| numbers.below(256) as u8).collect();
    // This is how `split` gets the format.
    data[1] |= 16;
    data.extend(mutants_ftrace::mutant(numbers));
    data
}

#[test]
fn blocks_are_the_log_again() {
    run(1500, log, checks::blocks);
    run(1500, log_of_ftrace, checks::blocks);
    // Short lines; many of them continue others.
    let lines = |numbers: &mut Numbers| {
        let mut data = vec![numbers.below(60) as u8, (numbers.below(2) * 16) as u8];
        for _ in 0..numbers.below(60) {
            let starts = ["\n", " | ", " > ", " ", "a\n", " VCPU", " => ", "x", " = ", "long line"];
            data.extend_from_slice(starts[numbers.below(starts.len())].as_bytes());
        }
        data
    };
    run(3000, lines, checks::blocks);
}

#[test]
fn rows_do_not_depend_on_blocks_and_threads() {
    run(300, log, checks::pipeline);
    run(300, log_of_ftrace, checks::pipeline);
}
