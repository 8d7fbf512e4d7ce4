//! Records of tracers that print them in columns of their own, and of system calls by number.

use crate::ftrace::decode::events::Event;

pub(crate) const EVENTS: &[Event] = &[
    // `C` is the completion: in brackets stands an error, else a command. The option `blk_classic`
    // puts columns of the record between the device and the action.
    Event {
        names: &["blk"],
        forms: &[
            "{dev:dev}~{action:word}~{rwbs:word} {sector:u64} / {new_sector:u64} [{comm:comm}]",
            "{dev}~{action=C}~{rwbs} {sector} + {nr_sector:u32} [{error:i32}]",
            "{dev}~{action}~{rwbs} {sector} + {nr_sector} [{comm}]",
            "{dev}~{action}~{rwbs} [{comm}]",
            "{dev}~{action}~{rwbs} [{comm}] {nr_rq:i32}",
            "{dev}~{action}~{rwbs} {sector} + {nr_sector} <- ({old_dev:dev}) {old_sector:u64}",
            "{dev}~{action=m}~{rwbs} {text:text}",
            "{dev}~{_}~{_}~{_}~{action=C}~{rwbs} {sector} + {nr_sector} [{error}]",
            "{dev}~{_}~{_}~{_}~{action}~{rwbs} {sector} + {nr_sector} [{comm}]",
            "{dev}~{_}~{_}~{_}~{action}~{rwbs} [{comm}]",
            "{dev}~{_}~{_}~{_}~{action}~{rwbs} [{comm}] {nr_rq}",
            "{dev}~{_}~{_}~{_}~{action}~{rwbs} {sector} / {new_sector} [{comm}]",
            "{dev}~{_}~{_}~{_}~{action}~{rwbs} {sector} + {nr_sector} <- ({old_dev}) {old_sector}",
            "{dev}~{_}~{_}~{_}~{action=m}~{rwbs} {text}",
        ],
    },
    Event {
        names: &["context_switch"],
        forms: &[
            "{prev_pid:i32}:{prev_prio:i32}:{prev_state:word}~==> [{next_cpu:i32}]~{next_pid:i32}:{next_prio:i32}:{next_state:word} {next_comm:comm}",
            "{prev_pid}:{prev_prio}:{prev_state}~==> {next_pid}:{next_prio}:{next_state} [{next_cpu}]",
        ],
    },
    Event {
        names: &["wakeup"],
        forms: &[
            "{prev_pid:i32}:{prev_prio:i32}:{prev_state:word}~+ [{next_cpu:i32}]~{next_pid:i32}:{next_prio:i32}:{next_state:word} {next_comm:comm}",
            "{prev_pid}:{prev_prio}:{prev_state}~==+ {next_pid}:{next_prio}:{next_state} [{next_cpu}]",
        ],
    },
    Event {
        names: &["hwlat"],
        forms: &[
            "#{seq:u32}~inner/outer(us):~{inner:u64}/{outer:u64}~ts:{time:word} count:{count:u32}",
            "#{seq}~inner/outer(us):~{inner}/{outer}~ts:{time} count:{count} nmi-total:{nmi_total:u64} nmi-count:{nmi_count:u32}",
            "#{seq}~inner/outer(us):~{inner}/{outer}~ts:{time}",
            "cnt:{seq}\tts:{time}\tinner:{inner}\touter:{outer}\tcount:{count}\tnmi-ts:{nmi_total}\tnmi-count:{nmi_count}",
        ],
    },
    Event {
        names: &["timerlat"],
        forms: &["#{seq:u32}~context~{context:word}~timer_latency~{timer_latency:u64} ns"],
    },
    Event {
        names: &["raw_data"],
        forms: &["# {id:x32} buf: {buf:text}", "# {id} buf:", "id:{id} {buf}"],
    },
    // Where the log has the same calls by name as well, these are events.
    Event { names: &["sys_enter"], forms: &["NR {id:i64} ({args:text})"] },
    Event { names: &["sys_exit"], forms: &["NR {id:i64} = {ret:i64}"] },
];
