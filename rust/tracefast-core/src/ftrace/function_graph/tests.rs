//! Lines in every combination of columns, of the kernels from 2.6.30 on.

use crate::ftrace::function_graph::{GraphEvent, Separator, parse, parse_record, separator};

/// A line in words: its columns, then what follows them.
fn shown(line: &str, bare: bool) -> String {
    let Some(found) = parse(line.as_bytes(), bare) else { return "none".to_owned() };
    let clock = if found.relative { "+" } else { "@" };
    let flags = &line[found.flags.0..found.flags.1];
    let columns = [
        found.time.map(|time| format!("{clock}{time}")),
        found.cpu.map(|cpu| format!("cpu{cpu}")),
        found.task.map(|task| format!("{}/{}", &line[task.comm.0..task.comm.1], task.tid)),
        (!flags.is_empty()).then(|| flags.to_owned()),
        found.dur.map(|dur| format!("{dur}ns")),
        Some(text_of(line, &found.what)),
    ];
    columns.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn text_of(line: &str, what: &GraphEvent) -> String {
    let text = |span: (usize, usize)| Some(line[span.0..span.1].to_owned());
    let value = |ret: Option<i64>| ret.map(|ret| format!("= {ret}"));
    let parts = match *what {
        GraphEvent::Enter(call) | GraphEvent::Leaf(call) => {
            let kind = if matches!(what, GraphEvent::Enter(_)) { "enter" } else { "leaf" };
            let head = Some(format!("{kind} {}", call.depth));
            let [rest, caller] =
                [call.rest, call.caller].map(|part| text(part).filter(|part| !part.is_empty()));
            [head, text(call.name), rest, caller, value(call.ret)]
        }
        GraphEvent::Exit(end) => {
            let head = Some(format!("exit {}", end.depth));
            [head, end.name.and_then(text), value(end.ret), None, None]
        }
        GraphEvent::Comment { text, closed } => {
            let kind = if closed { "comment" } else { "open" };
            [Some(format!("{kind} {:?}", &line[text.0..text.1])), None, None, None, None]
        }
        GraphEvent::Interrupt => [Some("interrupt".to_owned()), None, None, None, None],
    };
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn check(lines: &[(&str, &str)]) {
    for (line, expected) in lines {
        assert_eq!(shown(line, false), *expected, "{line:?}");
    }
}

#[test]
fn functions_and_their_ends() {
    check(&[
        (" 0)               |  sys_open() {", "cpu0 enter 0 sys_open"),
        (" 0)   1.382 us    |          __might_sleep();", "cpu0 1382ns leaf 4 __might_sleep"),
        (" 0)   2.478 us    |        }", "cpu0 2478ns exit 3"),
        (" 0)   0.541 us    |  } /* fput */", "cpu0 541ns exit 0 fput"),
        (
            " 0)   1.757 us    |        } /* kmem_cache_free() */",
            "cpu0 1757ns exit 3 kmem_cache_free",
        ),
        (" 1)               |    ext4_x [ext4]() {", "cpu1 enter 1 ext4_x [ext4]"),
        (" 1)   0.100 us    |  } /* ext4_x [ext4] */", "cpu1 100ns exit 0 ext4_x"),
        (" 1)               |  0xffffffffc0001234() {", "cpu1 enter 0 0xffffffffc0001234"),
        (" 1)   0.100 us    |  foo.constprop.0();", "cpu1 100ns leaf 0 foo.constprop.0"),
        ("112)   0.100 us    |  f();", "cpu112 100ns leaf 0 f"),
        ("  7)   0.100 us    |  f();", "cpu7 100ns leaf 0 f"),
        // Blanks that a text may lose or gain when it is copied.
        ("0) 0.198 us | f();", "cpu0 198ns leaf 0 f"),
        (" 0)   2.478 us    |        }  ", "cpu0 2478ns exit 3"),
    ]);
}

#[test]
fn durations_of_any_length() {
    check(&[
        (" 1) + 61.770 us   |            }", "cpu1 61770ns exit 5"),
        (" 1) ! 227.812 us  |      }", "cpu1 227812ns exit 2"),
        (" 3) # 1837.709 us |  } /* f */", "cpu3 1837709ns exit 0 f"),
        (" 3) * 33998.59 us |  }", "cpu3 33998590ns exit 0"),
        (" 1) @ 119760.2 us |  }", "cpu1 119760200ns exit 0"),
        (" 2) $ 3594274 us  |  }", "cpu2 3594274000ns exit 0"),
        (" 2) $ 12345678 us |  }", "cpu2 12345678000ns exit 0"),
        // `nofuncgraph-overhead`
        (" 2)   12345678 us |  }", "cpu2 12345678000ns exit 0"),
        (" 2)   99999999999999999 us |  }", "none"),
        (" 2)   1.2345 us |  }", "none"),
        (" 2)   1. us |  }", "none"),
        (" 2)   1.5 ms |  }", "none"),
    ]);
}

#[test]
fn values_callers_and_arguments() {
    check(&[
        (" 1)   0.380 us    |  f(); /* = 0x0 */", "cpu1 380ns leaf 0 f = 0"),
        (" 1)   2.335 us    |    } /* f = -22 */", "cpu1 2335ns exit 1 f = -22"),
        (" 1)   2.335 us    |    } /* f = 0xffffffea */", "cpu1 2335ns exit 1 f = 4294967274"),
        (
            " 1)   0.7 us      |  f(); /* = 0xffff93fcfd346c00 */",
            "cpu1 700ns leaf 0 f = -118760187597824",
        ),
        (" 1)   0.7 us      |  } /* f [ext4] = 0x1 */", "cpu1 700ns exit 0 f = 1"),
        (" 1)   0.7 us      |  } /* f ret=0x5 */", "cpu1 700ns exit 0 f = 5"),
        (" 1)   0.7 us      |  } /* f ret=-2 */", "cpu1 700ns exit 0 f = -2"),
        (" 1)   0.7 us      |  } /* f ret=false */", "cpu1 700ns exit 0 f = 0"),
        (" 1)   0.7 us      |  f(); /* ret=true */", "cpu1 700ns leaf 0 f = 1"),
        (
            " 1)   0.7 us      |  } /* f ret=0x69380649(trunc) */",
            "cpu1 700ns exit 0 f = 1765279305",
        ),
        (" 1)               |  f() { /* <-g+0xa/0x20 */", "cpu1 enter 0 f <-g+0xa/0x20"),
        (
            " 1)   0.7 us      |  f(); /* <-g+0xa/0x20 <ffffffff81> ret=0x0 */",
            "cpu1 700ns leaf 0 f <-g+0xa/0x20 <ffffffff81> = 0",
        ),
        (
            " 1)               |  f [m](a=0x1, b=(union)[0x1:0x2], ...) { /* <-g+0x1/0x2 [m] */",
            "cpu1 enter 0 f [m](a=0x1, b=(union)[0x1:0x2], ...) <-g+0x1/0x2 [m]",
        ),
        (" 1)   0.7 us      |  f(fd=3); /* ret=0x0 */", "cpu1 700ns leaf 0 f (fd=3) = 0"),
    ]);
}

#[test]
fn columns_in_every_combination() {
    check(&[
        ("  360.774522 |   1)   0.541 us    |  f();", "@360774522000 cpu1 541ns leaf 0 f"),
        ("  360.774522 |   1)               |    f() {", "@360774522000 cpu1 enter 1 f"),
        // Without processor; without duration; without both.
        ("  360.774522 |    0.541 us    |  f();", "@360774522000 541ns leaf 0 f"),
        ("  360.774522 |   1)     f() {", "@360774522000 cpu1 enter 2 f"),
        ("  360.774522 |    f();", "@360774522000 leaf 1 f"),
        (" 0) f() {", "cpu0 enter 0 f"),
        (" 0)   f();", "cpu0 leaf 1 f"),
        (" 0)   } /* f */", "cpu0 exit 1 f"),
        ("   0.541 us    |    f();", "541ns leaf 1 f"),
        ("               |    f() {", "enter 1 f"),
        (" + 61.770 us   |  }", "61770ns exit 0"),
        ("# 1837.709 us |  }", "1837709ns exit 0"),
        // Tasks.
        (" 0)    sh-4802     |   0.616 us    |    f();", "cpu0 sh/4802 616ns leaf 1 f"),
        (" 0)    sh-4802     |               |  f() {", "cpu0 sh/4802 enter 0 f"),
        (" 0)    sh-4802     | + 49.370 us   |  }", "cpu0 sh/4802 49370ns exit 0"),
        (" 0)    sh-4802     |   f();", "cpu0 sh/4802 leaf 1 f"),
        ("   sh-4802     |               |  f() {", "sh/4802 enter 0 f"),
        ("   sh-4802     | f() {", "sh/4802 enter 0 f"),
        (" 1)  kworker-123456789 |   0.616 us    |  f();", "cpu1 kworker/123456789 616ns leaf 0 f"),
        (" 1)    a b-7       |               |  f() {", "cpu1 a b/7 enter 0 f"),
        (" 1)    a-1-7       |               |  f() {", "cpu1 a-1/7 enter 0 f"),
        (" 1)    a|b-7       |               |  f() {", "cpu1 a|b/7 enter 0 f"),
        (" 1)     <idle>-0   |               |  f() {", "cpu1 <idle>/0 enter 0 f"),
        // The latency tracers and `latency-format`.
        (
            "        4 us |   0)   bash-1507    |  d..2 |   1.107 us    |    }",
            "+4000 cpu0 bash/1507 d..2 1107ns exit 1",
        ),
        (
            "     3750 us |   0)   bash-1507    |  d..1 |               |  f() {",
            "+3750000 cpu0 bash/1507 d..1 enter 0 f",
        ),
        (" 0)  d..1. |               |  f() {", "cpu0 d..1. enter 0 f"),
        (" 0)  dNh2... |   0.100 us    |  f();", "cpu0 dNh2... 100ns leaf 0 f"),
        ("  1.000000 |   0)  .... |   f();", "@1000000000 cpu0 .... leaf 1 f"),
    ]);
}

#[test]
fn comments_and_interrupts() {
    check(&[
        (
            " 1)               |    /* sched_wakeup: comm=a pid=1 */",
            "cpu1 comment \"sched_wakeup: comm=a pid=1\"",
        ),
        (" 1)               |  /*   a note */", "cpu1 comment \"  a note\""),
        (" 1)               |  /* a */ b */", "cpu1 comment \"a */ b\""),
        (" 1)               |  /*  */", "cpu1 comment \"\""),
        (" 1)               |  /* a", "cpu1 open \"a\""),
        (" 1)               |  /* */", "cpu1 open \"*/\""),
        (" 1)               |  /* x-1 | y */", "cpu1 comment \"x-1 | y\""),
        (" 0)   ==========> |", "cpu0 interrupt"),
        (" 0)   <========== |", "cpu0 interrupt"),
        (" 0)    sh-4802     |   ==========> |", "cpu0 sh/4802 interrupt"),
        (" 0) ==========>", "cpu0 interrupt"),
    ]);
}

#[test]
fn lines_without_any_column() {
    for (line, expected) in [
        ("sys_open() {", "enter 0 sys_open"),
        ("    f(a=1);", "leaf 2 f (a=1)"),
        ("  }", "exit 1"),
        ("  } /* f = 0x0 */", "exit 1 f = 0"),
        ("  /* a note */", "comment \"a note\""),
        ("==========>", "interrupt"),
        ("a text", "none"),
        ("a text();", "none"),
        ("a-b();", "none"),
        ("} else {", "none"),
    ] {
        assert_eq!(shown(line, true), expected, "{line}");
        assert_eq!(shown(line, false), "none", "{line}");
    }
}

#[test]
fn other_text_is_none() {
    for line in [
        "",
        " ",
        "|",
        " 0)",
        " 0) ",
        " 0)   1.382 us    |",
        " 0)   1.382 us    |  f",
        " 0)   1.382 us    |  f;",
        " 0)   1.382 us    |  f(;",
        " 0)   1.382 us    |  f g();",
        " 0)   1.382 us    |  f [m();",
        " 0)   1.382 us    |  } f",
        " 0)   1.382 us    |  } /* */",
        " 0)   1.382 us    |  ();",
        " 0)   1.382 us    |  f()",
        " 0)   1.382 us    f();",
        "1.5",
        "            bash-2101    [001] .....  2881.878957: sys_write -> 0x2",
        "    bash-2101      1..... 25321us : sys_write -> 0x2",
        "write(1, \"x\", 1) = 1",
        "   sh-4802     |   x",
    ] {
        assert_eq!(shown(line, false), "none", "{line:?}");
    }
    let long = format!(" 0)   1.382 us    |  {}();", "f".repeat(2000));
    assert_eq!(shown(&long, false), "none");
}

#[test]
fn records_of_trace_cmd() {
    for (text, expected) in [
        ("funcgraph_entry:                   |  f() {", "enter 0 f"),
        ("funcgraph_entry: |  f() {", "enter 0 f"),
        ("funcgraph_entry:        0.237 us   |    f();", "237ns leaf 1 f"),
        ("funcgraph_entry:      !2485684 us |    f();", "2485684000ns leaf 1 f"),
        ("funcgraph_entry:        0.237 us   |    f(); (1)", "237ns leaf 1 f"),
        ("funcgraph_entry:                   |    f() { (1)", "enter 1 f"),
        ("funcgraph_entry:                   |    ffffffff8123() {", "enter 1 ffffffff8123"),
        ("funcgraph_exit:       # 36754.817 us |        }", "36754817ns exit 3"),
        ("funcgraph_exit:         0.6 us     |  } /* f */ (0)", "600ns exit 0 f"),
        ("funcgraph_entry:      --> f (3)", "enter 3 f"),
        ("fgraph_retaddr_entry: --> f (3) <- g", "enter 3 f <- g"),
        ("funcgraph_exit:       <-- f (3) (start: 1f  end: 2f) over: 0", "16ns exit 3 f"),
        ("funcgraph_entry:       func=0xffffffff8123 depth=2", "enter 2 0xffffffff8123"),
        (
            "funcgraph_exit:        func=0xff8123 depth=2 overrun=0 calltime=0x10 rettime=0x30",
            "32ns exit 2 0xff8123",
        ),
    ] {
        let (what, dur) = parse_record(text.as_bytes()).unwrap_or_else(|| panic!("{text}"));
        let dur = dur.map_or(String::new(), |dur| format!("{dur}ns "));
        assert_eq!(dur + &text_of(text, &what), expected, "{text}");
    }
    for text in [
        "funcgraph_entry:",
        "funcgraph_entry: x",
        "funcgraph_entry:       |  }",
        "funcgraph_exit:        |  f() {",
        "funcgraph_entry:       |  /* x */",
        "funcgraph_entry: --> f",
        "funcgraph_entry: --> f (x)",
        "funcgraph_entry: func= depth=1",
        "funcgraph: |  f() {",
        "f: |  f() {",
    ] {
        assert_eq!(parse_record(text.as_bytes()), None, "{text}");
    }
}

#[test]
fn switches_and_overruns() {
    let switch = |line: &str| match separator(line.as_bytes()) {
        Some(Separator::Switch { cpu, from, to }) => {
            let name = |span: (usize, usize)| line[span.0..span.1].to_owned();
            Some((cpu, name(from.comm), from.tid, name(to.comm), to.tid))
        }
        _ => None,
    };
    let expected = |from: &str, a, to: &str, b| Some((Some(0), from.into(), a, to.into(), b));
    for (line, expected) in [
        (" 0)    sh-4802    =>    top-12    ", expected("sh", 4802, "top", 12)),
        (" 0)   <idle>-0    =>   a b-7      ", expected("<idle>", 0, "a b", 7)),
        (" 0)  migrati-11   =>    a=>b-7", expected("migrati", 11, "a=>b", 7)),
        (" 0)   a-1=>b-2    =>     sh-7", expected("a-1=>b", 2, "sh", 7)),
        (" | 0)  sh-11  =>  sshd-1755", expected("sh", 11, "sshd", 1755)),
        (" 0)    sh-4802    =>    top", None),
        (" 0)    sh    =>    top-12", None),
        (" x)    sh-1    =>    top-12", None),
    ] {
        assert_eq!(switch(line), expected, "{line}");
    }
    assert_eq!(separator(b" (Overruns: 3)"), Some(Separator::Overruns));
    assert_eq!(separator(b" (Overruns: x)"), None);
    assert_eq!(separator(b" ------------------------------------------"), Some(Separator::Rule));
    assert_eq!(separator(b"----"), None);
    assert_eq!(separator(b""), None);
}

#[test]
fn hostile_lines_take_no_longer_than_others() {
    for part in ["|", "/*", "*/", "=>", "-1 ", " ", "(", ") ", "a-1|", "<-", "ret="] {
        let line = " 0) ".to_owned() + &part.repeat(300_000);
        parse(line.as_bytes(), true);
        parse(format!("{line}*/").as_bytes(), true);
        separator(line.as_bytes());
        parse_record(format!("funcgraph_exit: {line}").as_bytes());
    }
}
