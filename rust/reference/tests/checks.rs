//! The bodies of the fuzz targets, on inputs that are made up by mutation of real lines: the same
//! ones in every run, enough of them to find what a careless change breaks.

use tracefast_reference::checks;
use tracefast_reference::mutants::ftrace as mutants_ftrace;
use tracefast_reference::mutants::{Numbers, PIECES, SEEDS, mutant, run};

#[test]
fn every_line_counts_once_and_blocks_do_not_matter() {
    run(4000, mutant, checks::accounting);
}

#[test]
fn doubts_about_older_descriptions_do_not_depend_on_blocks() {
    for first in ["\"abc\", 3) = 3 <0.000010>", "\"abc\", 3) = ?", "\"\\177ELF.00>"] {
        let log = format!(
            "1003  1795229587.200101 read(0,  <unfinished ...>\n\
             3215  1795229587.100101 read(3</etc/ld.so.cache>, {first}\n\
             3215  1795229587.100201 read(3</etc/ld.so.cache>,  <unfinished ...>\n\
             3215  1795229587.100701 <... read resumed>\"\", 4096) = 0 <0.000500>\n"
        );
        checks::accounting(log.as_bytes());
    }
}

#[test]
fn the_same_holds_for_ftrace() {
    run(3000, mutants_ftrace::mutant, checks::accounting);
    run(300, |numbers| checks::made_ftrace_log(&numbers.bytes(150)), checks::accounting);
}

#[test]
fn seeds_themselves_hold() {
    for seed in SEEDS.iter().chain(&mutants_ftrace::SEEDS) {
        checks::accounting(seed.as_bytes());
    }
}

#[test]
fn arguments_end_where_they_end() {
    run(4000, |numbers| numbers.bytes(60), checks::strace_arguments);
}

#[test]
fn arguments_of_pieces_end_where_the_tokenizer_says() {
    let pieces = |numbers: &mut Numbers| {
        let count = numbers.below(10);
        (0..count).flat_map(|_| PIECES[numbers.below(PIECES.len())]).copied().collect()
    };
    run(4000, pieces, checks::strace_arguments);
}

#[test]
fn lines_are_read_as_the_reference_reads_them() {
    run(6000, |numbers| numbers.bytes(150), checks::strace_lines);
}

#[test]
fn halves_are_joined_to_what_the_call_would_have_been() {
    run(3000, |numbers| numbers.bytes(90), checks::strace_halves);
}

#[test]
fn logs_of_ftrace_are_read_as_the_reference_reads_them() {
    run(1500, |numbers| numbers.bytes(120), checks::ftrace_logs);
}

#[test]
fn columns_of_ftrace_are_found_as_the_reference_finds_them() {
    run(20_000, |numbers| numbers.bytes(40), checks::ftrace_headers);
}

#[test]
fn halves_of_ftrace_are_joined_wherever_blocks_begin() {
    run(2000, |numbers| numbers.bytes(150), checks::ftrace_calls);
}

#[test]
fn functions_are_those_that_simulated_tasks_called() {
    run(2000, |numbers| numbers.bytes(100), checks::ftrace_functions);
}

#[test]
fn fields_of_any_text_lose_nothing() {
    let texts = |numbers: &mut Numbers| {
        let names: Vec<_> = tracefast_core::ftrace::decode::known().collect();
        let mut data = names[numbers.below(names.len())].as_bytes().to_vec();
        let pieces: [&[u8]; 16] = [
            b"\n",
            b" pid=",
            b"7",
            b"0x1f",
            b"comm=a b",
            b" ==> ",
            b"-1",
            b" ",
            b"dev 254,0",
            b"(f+0x1/0x2)",
            b"\"",
            b" [dd]",
            b"{",
            b"\xff",
            b"flags=A|B",
            b": ",
        ];
        for _ in 0..numbers.below(30) {
            data.extend_from_slice(pieces[numbers.below(pieces.len())]);
        }
        data
    };
    run(2000, texts, checks::ftrace_fields);
}

#[test]
fn escapes_are_undone_as_the_reference_undoes_them() {
    run(3000, |numbers| numbers.bytes(40), checks::strace_escapes);
    // Mostly escapes, whole and broken.
    let dense = |numbers: &mut Numbers| {
        let count = numbers.below(30);
        let bytes = b"\\\\\\01378xnatfvrcF\"\xff\xc3";
        (0..count).map(|_| bytes[numbers.below(bytes.len())]).collect()
    };
    run(6000, dense, checks::strace_escapes);
}
