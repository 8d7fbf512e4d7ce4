//! What holds for any text: borders of blocks do not show, every line counts once, nothing panics.

use proptest::prelude::*;

use crate::events::line_counts::LineUse;
use crate::events::parsed_block::{Parsed, key_in};
use crate::events::schema::Column as C;
use crate::events::split_calls::SecondHalf;
use crate::events::split_calls::{Deferred, OpenCall};
use crate::events::vocabulary::Op;
use crate::ftrace::tests::{Log, parse_as};
use crate::ftrace::{Clock, Format, Grammar, abandon, detect, finish};
use crate::serial::join_across_blocks::UnfinishedCalls;
use crate::text::block::Block;

/// A call with its halves in two blocks, joined as the serial stage does.
fn stitched(enter: &[u8], exit: &[u8], format: Format) -> (Log, usize) {
    let first = parse_as(enter, format);
    let mut second = parse_as(exit, format);
    let open: &OpenCall = first
        .parsed
        .deferred
        .iter()
        .find_map(|touch| match touch {
            Deferred::Open { open, .. } => Some(open),
            _ => None,
        })
        .expect("left open");
    let Some(&Deferred::Resume { row, rest, .. }) = second.parsed.deferred.first() else {
        panic!("an exit without its entry");
    };
    let row = row as usize;
    let part = |range: (u32, u32)| &first.text[range.0 as usize..range.1 as usize];
    let half = SecondHalf {
        head: Some(part(open.args)),
        partial: false,
        sys: open.sys,
        entry: open.ts,
        rest,
        gap: true,
        mark: None,
        utf8: false,
    };
    let text = second.text.clone();
    let name = &first.parsed.names[open.name as usize];
    second.parsed.rows.name[row] = key_in(&mut second.parsed.names, name);
    finish(&mut second.parsed, &text, row, &format, half);
    let extra = open.extra.map(|range| second.parsed.side.put(part(range)));
    if let Some(extra) = extra {
        second.parsed.rows.extra[row] = extra;
        second.parsed.rows.valid[row] |= C::Extra.bit();
    }
    (second, row)
}

const CALLS: &[(&str, &str)] = &[
    ("sys_read(fd: 3, buf: 0x7f, count: 0x340)", "sys_read -> 0x33"),
    (
        "sys_openat(dfd: 0x12, filename: 0x7f \"/a/b/c/d/e/f/g\", flags: 0x80000)",
        "sys_openat -> 0x3",
    ),
    ("sys_openat(dfd: 12, filename: 99 \"caf\u{e9}\"..., flags: O_RDONLY)", "sys_openat -> 0x3"),
    ("sys_clone(clone_flags: 0x1200011, newsp: 0)", "sys_clone -> 0x85b"),
    ("sys_vfork()", "sys_vfork -> 0x85b"),
    ("sys_access(filename: 0x1 \"x\", mode: 1)", "sys_access -> 0xfffffffffffffffe"),
    (
        "sys_mmap(addr: 0, len: 0x2000, prot: 3, flags: 0x22, fd: 4, off: 0x1000)",
        "sys_mmap -> 0x7fc0",
    ),
    ("sys_enter: NR 17 (3, 7ffc, 310, 40, 0, 0)", "sys_exit: NR 17 = 784"),
    ("sys_enter_dup2: __syscall_nr=0x21 (33) oldfd=0xb (11) newfd=0x1 (1)", "sys_exit_dup2: 0x1"),
    (
        "sys_newfstatat(dfd: 8, filename: 0x55 \"\", statbuf: 0x1, flag: 0x1000)",
        "sys_newfstatat -> 0x0",
    ),
    ("sys_fcntl(fd: 8, cmd: 0x406, arg: 3)", "sys_fcntl -> 0x9"),
    ("sys_pause()", "sys_pause -> 0xfffffffffffffe00"),
    (
        "sys_execveat(fd: 3, filename: 0x7f \"\", argv: 0, envp: 0, flags: 0x1000)",
        "sys_execve -> 0x0",
    ),
    ("sys_memfd_create(uname: 0x7f \"x\", flags: 1)", "sys_memfd_create -> 0x3"),
    (
        "sys_enter_openat: __syscall_nr=0x101 (257) dfd=0xc (12) filename=0x7f0 (2032) flags=0x0 (0) mode=0x0 (0) __filename_val=/a/b c",
        "sys_exit_openat: __syscall_nr=0x101 (257) ret=0x3 (3)",
    ),
];

fn line(payload: &[u8], time: u32) -> Vec<u8> {
    let mut line = format!("             cat-7       [001] d..1.     1.{time:06}: ").into_bytes();
    line.extend_from_slice(payload);
    line.push(b'\n');
    line
}

#[test]
fn a_border_between_halves_does_not_show() {
    for bad in [false, true] {
        for (enter, exit) in CALLS {
            let mut enter = enter.as_bytes().to_vec();
            if bad {
                // A byte that is not UTF-8, within the string if there is one.
                let at = enter.iter().rposition(|&b| b == b'"').unwrap_or(enter.len() - 1);
                enter.insert(at, 0xff);
            }
            let (enter, exit) = (line(&enter, 1), line(exit.as_bytes(), 2));
            let format = Format::default();
            let (log, row) = stitched(&enter, &exit, format);
            let whole = parse_as(&[enter, exit].concat(), format);
            assert_eq!(log.show(row), whole.show(whole.only()));
        }
    }
}

#[test]
fn a_call_without_an_exit_is_the_same_anywhere() {
    for (enter, _) in CALLS {
        let enter = line(enter.as_bytes(), 1);
        let log = parse_as(&[enter.clone(), enter.clone()].concat(), Format::default());
        let first = parse_as(&enter, Format::default());
        let Some(Deferred::Open { open, .. }) = first.parsed.deferred.last() else {
            panic!("left open");
        };
        let mut later = parse_as(b"\n", Format::default());
        let row = later.parsed.rows.push();
        abandon(
            &mut later.parsed,
            row,
            &Format::default(),
            &first.text[open.args.0 as usize..open.args.1 as usize],
            open.sys,
        );
        let here = log.rows()[0];
        assert_eq!(later.args(row), log.args(here));
        assert_eq!(later.path(row), log.path(here));
        assert_eq!(later.fd(row), log.fd(here));
        let (a, b) = (later.parsed.rows.effect[row], log.parsed.rows.effect[here]);
        assert_eq!((a.op, a.flags, a.at, a.relative), (b.op, b.flags, b.at, b.relative));
        // Effects at entry follow the first half alone.
        assert_eq!(open.head.op == Op::Fork, b.op == Op::Fork);
    }
}

const SEAM: &str = "             cat-7       [001] d..1.     1.000264: sys_read -> 0x1\n";

#[test]
fn a_record_that_parts_what_stacks_belong_to() {
    let format = Format { stacks: true, ..Format::default() };
    assert!(format.stands_alone(SEAM.trim_end().as_bytes()));
    assert!(!format.stands_alone(SEAM.trim_end().replace("264", "265").as_bytes()));
}

/// Lines of every kind, some with bytes changed, some cut.
fn some_line() -> impl Strategy<Value = Vec<u8>> {
    let real = prop_oneof![
        (0..CALLS.len(), any::<bool>(), 0..20u32).prop_map(|(i, enter, time)| {
            let (a, b) = CALLS[i];
            line(if enter { a } else { b }.as_bytes(), time)
        }),
        prop::sample::select(vec![
            "# tracer: nop\n",
            "#\n",
            "\n",
            " => schedule+0x23/0xa0\n",
            "CPU:0 [LOST 104 EVENTS]\n",
            "prose\n",
            "# a heading\n",
            "    bash-2101      1..... 25321us : sys_read -> 0x2\n",
            "2101 1 2881878957473 type: 839\n",
            "sys_read -> 0x2\n",
            "      new\nline w-8       [000] d..2.  2924.355888: tracing_mark_write: multi\nline\n",
            "             \n\na-8       [000] d..2.  2924.355888: sys_write(fd: 1)\n",
            "           <...>-8     (-------) [000] d..2.  2924.355888: <stack trace>\n => a\n",
            "             cat-7       [001] d..1.     1.000003: <stack trace>\n => schedule\n",
            "             cat-7       [001] d..1.     1.000004: <user stack trace>\n =>  <7f>\n",
            // Seams.
            SEAM,
            "      x-12 [000]-9     (     12) [001]   2999.950796: tracing_mark_write: a\n",
            "             cat-7       [001] .....     1.000009: sys_exit_group(error_code: 0)\n",
            "             cat-7       [001] .....     1.000009: sched_process_exit: comm=c pid=7 prio=1\n",
            "             cat-7       [001] .....     1.000009: tracing_mark_write: \0",
            "             cat-7       [001] .....     1.000009: _raw_spin_lock <-__schedule\n",
        ])
        .prop_map(|line| line.as_bytes().to_vec()),
    ];
    (real, proptest::option::of((any::<prop::sample::Index>(), any::<u8>())), any::<bool>())
        .prop_map(|(mut line, change, cut)| {
            if let Some((at, byte)) = change {
                let at = at.index(line.len());
                if cut {
                    line.truncate(at);
                }
                line.insert(at.min(line.len()), byte);
            }
            line
        })
}

fn accounted(text: &[u8], format: Format) -> Result<(), TestCaseError> {
    let log = parse_as(text, format);
    let lines =
        text.split(|&b| b == b'\n').count() - usize::from(text.is_empty() || text.ends_with(b"\n"));
    // Halves on a line of their own.
    let resume = |touch: &&Deferred| matches!(touch, Deferred::Resume { bytes: 1.., .. });
    let resumes = log.parsed.deferred.iter().filter(resume).count();
    let shared = |touch: &&Deferred| matches!(touch, Deferred::Resume { bytes: 0, .. });
    let shared = log.parsed.oddities.shared_lines as usize
        + log.parsed.deferred.iter().filter(shared).count();
    let opens = log.parsed.deferred.iter().filter(|t| matches!(t, Deferred::Open { .. })).count();
    let counts = log.parsed.counts;
    prop_assert_eq!(counts.total() as usize + resumes, lines);
    let halves = log.parsed.deferred.iter().map(|touch| match touch {
        Deferred::Resume { bytes, .. } => *bytes,
        _ => 0,
    });
    prop_assert_eq!(counts.total_bytes() + halves.sum::<u64>(), text.len() as u64);
    let rows = log.rows();
    // Every line that begins an event has a row here, or one that is still open.
    prop_assert_eq!(
        rows.len() + opens,
        (counts.lines(LineUse::Events) + counts.lines(LineUse::Unparsed)) as usize
            + resumes
            + shared
    );
    for &row in &rows {
        prop_assert!(log.has(row, C::Line));
        prop_assert!(log.parsed.rows.line[row] < lines as i64);
        // Reads every view, which must be UTF-8.
        let _ = log.show(row);
    }
    prop_assert!(std::str::from_utf8(&log.parsed.side.bytes).is_ok());
    Ok(())
}

proptest! {
    #[test]
    fn all_lines_are_accounted_for(
        lines in proptest::collection::vec(some_line(), 0..40),
        clock in any::<bool>(),
        aligned in any::<bool>(),
    ) {
        let clock = if clock { Clock::Ticks } else { Clock::Uptime };
        let width = if aligned { 16 } else { 0 };
        accounted(&lines.concat(), Format { width, clock, ..Format::default() })?;
    }

    #[test]
    fn no_bytes_panic(text in proptest::collection::vec(
        prop_oneof![
            any::<u8>(),
            prop::sample::select(b" \n[]()-.:0123456789,\"=sys_read->#<>".to_vec()),
        ], 0..300)
    ) {
        accounted(&text, detect(&text).unwrap_or_default())?;
    }
}

fn stands_alone(line: &[u8], format: &crate::format::Format) -> bool {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    format.stands_alone(&line[..line.len().min(crate::text::block::LINE_START)])
}

/// What grammar and serial stage make of a log that is cut into blocks of so many lines.
fn in_blocks(lines: &[Vec<u8>], sizes: &[usize], format: Format) -> Vec<String> {
    let wrapped = crate::format::Format::Ftrace(format);
    let mut stitch = UnfinishedCalls::default();
    let mut grammar = Grammar::default();
    let mut shown = Vec::new();
    let (mut at, mut sizes) = (0, sizes.iter().cycle());
    let mut show =
        |log: &Log, line: usize| {
            shown.extend(log.rows().iter().map(|&row| {
                format!("{} {}", log.parsed.rows.line[row] + line as i64, log.show(row))
            }));
        };
    while at < lines.len() {
        let mut end = (at + sizes.next().copied().unwrap_or(usize::MAX).max(1)).min(lines.len());
        while end < lines.len() && !stands_alone(&lines[end], &wrapped) {
            end += 1;
        }
        let text = lines[at..end].concat();
        let mut log = Log { parsed: Parsed::default(), text };
        grammar.parse(&format, &mut Block::from_text(&log.text), &mut log.parsed);
        stitch.run(&mut log.parsed, &log.text, &wrapped, at as i64);
        show(&log, at);
        at = end;
    }
    let mut log = Log { parsed: Parsed::default(), text: Vec::new() };
    stitch.finish(&mut log.parsed, &wrapped, at as i64);
    show(&log, at);
    shown
}

proptest! {
    #[test]
    fn blocks_do_not_show(
        lines in proptest::collection::vec(some_line(), 1..40),
        sizes in proptest::collection::vec(1usize..6, 1..5),
        aligned in any::<bool>(),
        stacks in any::<bool>(),
    ) {
        // Whole lines only: a cut one would swallow the next.
        let lines: Vec<Vec<u8>> = lines
            .concat()
            .split(|&b| b == b'\n')
            .map(|line| [line, b"\n"].concat())
            .collect();
        let width = if aligned { 16 } else { 0 };
        let format = Format { width, stacks, ..Format::default() };
        let whole = in_blocks(&lines, &[usize::MAX], format);
        let cut = in_blocks(&lines, &sizes, format);
        for (cut, whole) in cut.iter().zip(&whole) {
            prop_assert_eq!(cut, whole, "{}", String::from_utf8_lossy(&lines.concat()));
        }
        prop_assert_eq!(cut.len(), whole.len());
    }
}
