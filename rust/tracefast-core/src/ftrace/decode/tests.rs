//! Texts as kernels and tools print them, and texts that imitate them.

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use proptest::prelude::*;

use crate::ftrace::decode::*;

/// A row as `column=value …`, without what is null.
fn row(batch: &RecordBatch, at: usize) -> String {
    use arrow_array::types::{Float64Type, Int32Type, Int64Type, UInt32Type, UInt64Type};
    let schema = batch.schema();
    let mut out = Vec::new();
    for (field, column) in schema.fields().iter().zip(batch.columns()) {
        if column.is_null(at) {
            continue;
        }
        let value = match field.data_type() {
            DataType::Int32 => column.as_primitive::<Int32Type>().value(at).to_string(),
            DataType::UInt32 => column.as_primitive::<UInt32Type>().value(at).to_string(),
            DataType::Int64 => column.as_primitive::<Int64Type>().value(at).to_string(),
            DataType::UInt64 => column.as_primitive::<UInt64Type>().value(at).to_string(),
            DataType::Float64 => column.as_primitive::<Float64Type>().value(at).to_string(),
            DataType::Boolean => column.as_boolean().value(at).to_string(),
            _ => column.as_string_view().value(at).to_owned(),
        };
        out.push(format!("{}={value}", field.name()));
    }
    out.join(" ")
}

fn fields(event: &str, text: &str) -> String {
    let decoder = Decoder::for_event(event).expect("a known event");
    row(&decoder.decode([Some(text)].into_iter()).expect("columns of one length"), 0)
}

fn generic(text: &str) -> (Vec<(String, ValueKind)>, RecordBatch) {
    use arrow_array::types::UInt32Type;
    let table = survey([Some(text)].into_iter()).expect("columns of one length");
    let classes = table.column(4).as_primitive::<UInt32Type>();
    let words = table.column(1).as_boolean();
    let mut fields = Vec::new();
    for (at, key) in table.column(0).as_string::<i32>().iter().enumerate() {
        if let Some(key) = key.filter(|_| !words.value(at)) {
            fields.push((key.to_owned(), ValueKind::from_classes(classes.value(at))));
        }
    }
    let batch = Decoder::generic(&fields, false).decode([Some(text)].into_iter());
    (fields, batch.expect("columns of one length"))
}

#[test]
fn one_schema_for_all_layouts_of_an_event() {
    let switch = "prev_comm=bash prev_pid=2330 prev_prio=120 prev_state=S next_comm=swapper/0 next_pid=0 next_prio=120";
    for text in [
        "prev_comm=bash prev_pid=2330 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120",
        "bash:2330 [120] S ==> swapper/0:0 [120]",
        "prev_comm=bash prev_pid=2330 prev_prio=120 prev_state=1 next_comm=swapper/0 next_pid=0 next_prio=120",
        "prev_comm=bash prev_pid=0x91a (2330) prev_prio=0x78 (120) prev_state=0x1 (1) next_comm=swapper/0 next_pid=0x0 (0) next_prio=0x78 (120)",
        "task bash:2330 [120] (S) ==> swapper/0:0 [120]",
    ] {
        assert_eq!(fields("sched_switch", text), switch, "{text}");
    }
    for text in [
        "comm=bash pid=2332 prio=120 target_cpu=001",
        "bash:2332 [120] CPU:001",
        "comm=bash pid=0x91c (2332) prio=0x78 (120) target_cpu=0x1 (1)",
    ] {
        assert_eq!(
            fields("sched_wakeup_new", text),
            "event_comm=bash event_pid=2332 prio=120 target_cpu=1",
            "{text}"
        );
    }
    for text in [
        "254,0 RA 4096 () 18357344 + 8 be,0,4 [bash]",
        "254,0 RA 4096 () 18357344 + 8 0x2,0,4 [bash]",
        "dev=266338304 sector=18357344 nr_sector=8 bytes=4096 ioprio=16388 rwbs=RA comm=bash cmd=",
        "dev=0xfe00000 (266338304) sector=0x11819e0 (18357344) nr_sector=0x8 (8) bytes=0x1000 (4096) ioprio=0x4004 (16388) rwbs=RA comm=bash cmd=",
    ] {
        assert_eq!(
            fields("block_rq_issue", text),
            "dev=254:0 rwbs=RA bytes=4096 cmd= sector=18357344 nr_sector=8 ioprio=be,0,4 event_comm=bash",
            "{text}"
        );
    }
    assert_eq!(
        fields("block_rq_issue", "8,0 WS 0 () 18446744073709551615 + 0 [kworker/0:1H]"),
        "dev=8:0 rwbs=WS bytes=0 cmd= sector=18446744073709551615 nr_sector=0 event_comm=kworker/0:1H"
    );
    for text in [
        "dev 254:0 ino fe00000 pfn=0x104d41 ofs=4162326528 order=0",
        "dev 254:0 ino fe00000 page=00000000a6439332 pfn=0x104d41 ofs=4162326528 order=0",
        "dev 254:0 ino fe00000 pfn=1068353 ofs=4162326528 order=0",
    ] {
        let found = fields("mm_filemap_add_to_page_cache", text);
        let found = found.replace(" page=2789446450", "");
        assert_eq!(found, "dev=254:0 ino=266338304 pfn=1068353 ofs=4162326528 order=0", "{text}");
    }
    assert_eq!(
        fields(
            "mm_filemap_delete_from_page_cache",
            "pfn=0x204ab1 i_ino=29c0b6 index=0x4e87 s_dev=266338304 order=0"
        ),
        "dev=254:0 ino=2736310 pfn=2116273 order=0 index=20103"
    );
    assert_eq!(
        fields("sched_process_exit", "comm=a pid=1 prio=120 group_dead=false"),
        "event_comm=a event_pid=1 prio=120 group_dead=false"
    );
    assert_eq!(
        fields("sched_process_exit", "comm=a pid=1 prio=120"),
        "event_comm=a event_pid=1 prio=120"
    );
}

#[test]
fn names_may_hold_anything() {
    assert_eq!(
        fields("sched_process_exec", "filename=/tmp/a b pid=7 old_pid=8\nc pid=1 old_pid=2"),
        "filename=/tmp/a b pid=7 old_pid=8\nc event_pid=1 old_pid=2"
    );
    assert_eq!(
        fields("sched_process_fork", "comm=a pid=7 pid=1 child_comm=x child_pid= child_pid=2"),
        "parent_comm=a pid=7 parent_pid=1 child_comm=x child_pid= child_pid=2"
    );
    assert_eq!(
        fields("task_rename", "pid=1 oldcomm=old newcomm=new\nline oom_score_adj=0"),
        "event_pid=1 oldcomm=old newcomm=new\nline oom_score_adj=0"
    );
    assert_eq!(
        fields(
            "sched_switch",
            "prev_comm=p-1:2 (3) prev_pid=1 prev_prio=120 prev_state=R+ ==> next_comm=a: sys_read(fd: next_pid=2 next_prio=1"
        ),
        "prev_comm=p-1:2 (3) prev_pid=1 prev_prio=120 prev_state=R+ next_comm=a: sys_read(fd: next_pid=2 next_prio=1"
    );
    assert_eq!(
        fields("sched_switch", "a:1 [2] S ==> b:3 [120] R ==> c [br]ack]:4 [120]"),
        "prev_comm=a:1 [2] S ==> b prev_pid=3 prev_prio=120 prev_state=R next_comm=c [br]ack] next_pid=4 next_prio=120"
    );
    assert_eq!(fields("block_unplug", "[a] 3] 1"), "event_comm=a] 3 nr_rq=1");
    assert_eq!(
        fields("sched_process_free", "comm= pid=1 prio=2"),
        "event_comm= event_pid=1 prio=2"
    );
}

#[test]
fn other_kernels_lack_some_fields_and_have_others() {
    // Known keys go to their columns, whatever their order; the rest is kept.
    assert_eq!(
        fields("ext4_da_write_end", "dev 254,0 ino 12 pos 0 len 5 colour red"),
        "dev=254:0 ino=12 pos=0 len=5 rest=colour red"
    );
    assert_eq!(
        fields("sched_wakeup", "comm=a b pid=7 prio=120 new=[x y] target_cpu=1"),
        "event_comm=a b event_pid=7 prio=120 target_cpu=1 rest=new=[x y]"
    );
    assert_eq!(fields("sched_switch", "what"), "rest=what");
    assert_eq!(fields("sched_switch", "prev_pid=x"), "rest=prev_pid=x");
    assert_eq!(fields("sched_switch", ""), "");
    assert_eq!(
        fields("ext4_sync_file_enter", "dev 254,0 ino 1 parent 2 datasync 0"),
        "dev=254:0 ino=1 parent=2 datasync=0"
    );
    assert_eq!(
        fields("page_fault_kernel", "address=f+0x1/0x2 ip=g error_code=0x3"),
        "ip=g error_code=3 rest=address=f+0x1/0x2"
    );
}

#[test]
fn fields_of_a_family() {
    for (event, text, expected) in [
        (
            "ext4_es_insert_delayed_extent",
            "dev 254,0 ino 3597044 es [90/1) mapped 0 status D allocated 0 0",
            "dev=254:0 ino=3597044 lblk=90 len=1 mapped=0 status=D allocated=false end_allocated=false",
        ),
        (
            "ext4_da_reserve_space",
            "dev 254,0 ino 1 mode 0100644 i_blocks 0 reserve_blocks 1reserved_data_blocks 91",
            "dev=254:0 ino=1 mode=33188 i_blocks=0 reserve_blocks=1 reserved_data_blocks=91",
        ),
        (
            "ext4_ext_map_blocks_exit",
            "dev 254,0 ino 1 flags  lblk 0 pblk 0 len 1 mflags  ret 0",
            "dev=254:0 ino=1 flags= lblk=0 pblk=0 len=1 mflags= ret=0",
        ),
        (
            "ext4_allocate_blocks",
            "dev=266338304 ino=1 block=2 len=3 logical=4 lleft=5 lright=6 goal=7 pleft=8 pright=9 flags=0x10",
            "dev=254:0 ino=1 flags=0x10 len=3 block=2 lblk=4 goal=7 lleft=5 lright=6 pleft=8 pright=9",
        ),
        (
            "ext4_es_lookup_extent_exit",
            "dev 254,0 ino 3597044 found 1 [90/4294967205) 0 HR",
            "dev=254:0 ino=3597044 found=1 lblk=90 len=4294967205 mapped=0 status=HR",
        ),
        (
            "writeback_dirty_inode",
            "bdi 254:0: ino=3 state=I_DIRTY_SYNC|I_DIRTY_PAGES flags=I_DIRTY_SYNC",
            "bdi=254:0 ino=3 state=I_DIRTY_SYNC|I_DIRTY_PAGES flags=I_DIRTY_SYNC",
        ),
        (
            "track_foreign_dirty",
            "bdi 254:0[9]: ino=3 memcg_id=1 cgroup_ino=1 page_cgroup_ino=5091",
            "bdi=254:0 bdi_id=9 ino=3 memcg_id=1 cgroup_ino=1 page_cgroup_ino=5091",
        ),
        (
            "block_bio_remap",
            "253,0 WS 5 + 8 <- (254,1) 7",
            "dev=253:0 rwbs=WS sector=5 nr_sector=8 old_dev=254:1 old_sector=7",
        ),
        (
            "block_rq_complete",
            "254,0 RM () 76027296 + 8 be,0,4 [-5]",
            "dev=254:0 rwbs=RM cmd= sector=76027296 nr_sector=8 ioprio=be,0,4 error=-5",
        ),
        (
            "rss_stat",
            "mm_id=1 curr=0 type=MM_ANONPAGES size=-4096B",
            "mm_id=1 curr=0 type=MM_ANONPAGES size=-4096",
        ),
        ("softirq_raise", "vec=7 [action=SCHED]", "vec=7 action=SCHED"),
        ("softirq_raise", "vec=7", "vec=7"),
        ("local_timer_entry", "vector=236", "vector=236"),
        (
            "signal_generate",
            "sig=17 errno=0 code=4 comm=a pid=1 b pid=9293 grp=1 res=1",
            "sig=17 errno=0 code=4 event_comm=a pid=1 b event_pid=9293 grp=1 res=1",
        ),
        (
            "signal_deliver",
            "sig=17 errno=0 code=1 sa_handler=5558507c5e40 sa_flags=14000000",
            "sig=17 errno=0 code=1 sa_handler=93837795810880 sa_flags=335544320",
        ),
        (
            "task_newtask",
            "pid=9332 comm=bash clone_flags=1200000 oom_score_adj=-17",
            "event_pid=9332 event_comm=bash clone_flags=18874368 oom_score_adj=-17",
        ),
        (
            "workqueue_activate_work",
            "work struct 000000008b0e061d function=f ",
            "work=2332952093 function=f",
        ),
        ("write_msr", "830, value 1000000fd", "msr=2096 value=4294967549"),
        ("write_msr", "830, value 1 #GP", "msr=2096 value=1 failed=#GP"),
        (
            "sched_stat_runtime",
            "comm=a pid=1 runtime=5 [ns] vruntime=6 [ns]",
            "event_comm=a event_pid=1 runtime=5 vruntime=6",
        ),
        (
            "blk",
            "254,0    C  RA 29947752 + 16 [5]",
            "dev=254:0 action=C rwbs=RA sector=29947752 nr_sector=16 error=5",
        ),
        (
            "blk",
            "254,0    D  RA 29947752 + 16 [5]",
            "dev=254:0 action=D rwbs=RA sector=29947752 event_comm=5 nr_sector=16",
        ),
        (
            "blk",
            "254,0    0  3068.686415710 25219  U   N [dd] 1",
            "dev=254:0 action=U rwbs=N event_comm=dd nr_rq=1",
        ),
        ("blk", "254,0    m   N cfq1 put a [x]", "dev=254:0 action=m rwbs=N text=cfq1 put a [x]"),
        (
            "wakeup",
            "1:120:S   + [000]    2:120:R cyclic test",
            "prev_pid=1 prev_prio=120 prev_state=S next_cpu=0 next_pid=2 next_prio=120 next_state=R next_comm=cyclic test",
        ),
        (
            "timerlat",
            "#1 context    irq timer_latency       932 ns",
            "seq=1 context=irq timer_latency=932",
        ),
        ("raw_data", "# 1 buf: 72 61 77 21", "id=1 buf=72 61 77 21"),
        ("sys_exit", "NR -1 = 0", "id=-1 ret=0"),
    ] {
        assert_eq!(fields(event, text), expected, "{event}: {text}");
    }
}

#[test]
fn a_row_does_not_depend_on_those_before() {
    let decoder = Decoder::for_event("blk").expect("a known event");
    let texts = ["254,0    D  RA 1 + 16 [5]", "254,0    C  RA 1 + 16 [5]"];
    let both = decoder.decode(texts.into_iter().map(Some)).expect("columns of one length");
    assert_eq!(row(&both, 1), fields("blk", texts[1]));
}

#[test]
fn an_unknown_event_by_its_keys() {
    let text = "(f+0x0/0x10) a=0x1 s=\"b c\" arr={0x1,0x2} pid=7 odd";
    let (_, batch) = generic(text);
    assert_eq!(row(&batch, 0), "a=1 arr={0x1,0x2} event_pid=7 probe=f+0x0/0x10 s=b c rest=odd");
}

#[test]
fn of_two_values_of_a_key_the_last_counts() {
    let (_, batch) = generic("a=1 b=x a=2");
    assert_eq!(row(&batch, 0), "a=2 b=x rest=a=1");
    // The first one is in the name of a command.
    assert_eq!(
        fields("sched_wakeup", "comm=x pid=7 pid=8 prio=120 target_cpu=1 new=1"),
        "event_comm=x event_pid=8 prio=120 target_cpu=1 rest=pid=7 new=1"
    );
}

#[test]
fn a_schema_that_somebody_chose() {
    let chosen = [("status".to_owned(), ValueKind::Text), ("n".to_owned(), ValueKind::Unsigned)];
    let decoder = Decoder::generic(&chosen, true);
    let texts = [Some("status D n=5 x=1"), Some("n=-5"), None, Some("n=00000000deadbeef")];
    let batch = decoder.decode(texts.into_iter()).expect("columns of one length");
    assert_eq!(row(&batch, 0), "status=D n=5 rest=x=1");
    assert_eq!(row(&batch, 1), "rest=n=-5");
    assert_eq!(row(&batch, 2), "");
    assert_eq!(row(&batch, 3), "n=3735928559");
}

/// Text of pieces that events are made of, and of anything.
fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-z_]{1,6}=",
        "[a-z]{1,4}: ",
        "-?[0-9]{1,20}",
        "0x[0-9a-f]{1,17}",
        "[0-9a-f]{16}",
        Just(" ".to_owned()),
        Just(", ".to_owned()),
        "[\\[\\](){}\"'=:;,<>|+.-]{1,3}",
        "\\PC{0,6}",
        Just("é\n".to_owned()),
        Just(" ==> next_comm=".to_owned()),
        Just(" pid=".to_owned()),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

/// The part of a text that the pieces must cover.
fn letters(text: &str) -> usize {
    text.chars().filter(|c| c.is_alphanumeric()).count()
}

proptest! {
    #[test]
    fn pieces_cover_the_text(text in any_text()) {
        let mut at = 0;
        let mut kept = 0;
        let mut found = Vec::new();
        key_values::pieces(&text, |word| word.len() == 2, |piece| found.push(piece));
        for piece in found {
            let span = match piece {
                key_values::Piece::Loose { span } => span,
                key_values::Piece::Item { key, value, span } => {
                    let probe = key == key_values::PROBE || key == key_values::PROBE_RETURN;
                    let part = &text[span.0..span.1];
                    prop_assert!(probe || part.starts_with(key));
                    let value = text.get(value.0..value.1);
                    prop_assert!(value.is_some_and(|value| part.contains(value)));
                    let own = value.map_or(0, letters) + if probe { 0 } else { letters(key) };
                    prop_assert_eq!(own, letters(part), "{:?}", part);
                    // A return probe has its two places in the other order.
                    if probe {
                        kept += letters(part);
                        at = at.max(span.1);
                        continue;
                    }
                    span
                }
            };
            prop_assert!(span.0 >= at && span.1 <= text.len() && span.0 < span.1, "{:?}", span);
            at = span.1;
            kept += letters(&text[span.0..span.1]);
        }
        prop_assert_eq!(kept, letters(&text));
    }

    #[test]
    fn a_generic_row_loses_nothing(text in any_text()) {
        let (fields, batch) = generic(&text);
        prop_assert_eq!(batch.num_rows(), 1);
        // Without the columns, all of the text is in `rest`.
        let none = Decoder::generic(&[], false).decode([Some(text.as_str())].into_iter());
        let none = none.expect("columns of one length");
        let rest = none.column(0).as_string_view();
        let whole = if rest.is_null(0) { "" } else { rest.value(0) };
        prop_assert_eq!(letters(whole), letters(&text));
        // With them, every key that has a column has a value there or is left.
        for (at, (key, kind)) in fields.iter().enumerate() {
            let left = batch.column(fields.len());
            let left = left.as_string_view();
            let rest = if left.is_null(0) { "" } else { left.value(0) };
            let kept = !batch.column(at).is_null(0) || rest.contains(key.as_str());
            prop_assert!(kept || *kind == ValueKind::Text, "{} of {:?}", key, text);
        }
    }

    #[test]
    fn known_events_take_any_text(text in any_text()) {
        for event in known() {
            let decoder = Decoder::for_event(event).expect("a known event");
            let batch = decoder.decode([Some(text.as_str())].into_iter());
            prop_assert_eq!(batch.expect("columns of one length").num_rows(), 1);
        }
        let batch = Decoder::function().decode([Some(text.as_str())].into_iter());
        prop_assert_eq!(batch.expect("columns of one length").num_rows(), 1);
    }

    #[test]
    fn names_of_any_bytes_come_back(
        prev in "\\PC{0,15}", next in "\\PC{0,15}", pids in any::<(u16, u16)>()
    ) {
        let cut = |name: &str| {
            let end = (0..=15).rev().find(|&n| name.is_char_boundary(n)).unwrap_or(0);
            name[..end.min(name.len())].to_owned()
        };
        let (prev, next) = (cut(&prev), cut(&next));
        let text = format!(
            "prev_comm={prev} prev_pid={} prev_prio=120 prev_state=R+ ==> next_comm={next} \
             next_pid={} next_prio=97",
            pids.0, pids.1
        );
        let expected = format!(
            "prev_comm={prev} prev_pid={} prev_prio=120 prev_state=R+ next_comm={next} \
             next_pid={} next_prio=97",
            pids.0, pids.1
        );
        prop_assert_eq!(fields("sched_switch", &text), expected);
    }
}
