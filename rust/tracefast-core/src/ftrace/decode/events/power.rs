//! Processors at rest, registers, and what is done about a lack of memory.

use crate::ftrace::decode::events::Event;

pub(crate) const EVENTS: &[Event] = &[
    Event {
        names: &["cpu_idle", "cpu_frequency"],
        forms: &["state={state:u32} cpu_id={cpu_id:u32}"],
    },
    Event {
        names: &["cpu_frequency_limits"],
        forms: &[
            "min={min:u32} max={max:u32} cpu_id={cpu_id:u32}",
            "min_freq={min} max_freq={max} cpu_id={cpu_id}",
        ],
    },
    Event {
        names: &["cpu_idle_miss"],
        forms: &[
            "cpu_id={cpu_id:u32} state={state:u32} type={type:flags}",
            "cpu_id={cpu_id} state={state} below={below:bool}",
        ],
    },
    Event {
        names: &["guest_halt_poll_ns"],
        forms: &[
            "halt_poll_ns {halt_poll_ns:u32} ({change:word} {old:u32})",
            "grow={grow:bool} new={halt_poll_ns} old={old}",
        ],
    },
    Event {
        names: &["pstate_sample"],
        forms: &[
            "core_busy={core_busy:u32} scaled={scaled:u32} from={from:u32} to={to:u32} mperf={mperf:u64} aperf={aperf:u64} tsc={tsc:u64} freq={freq:u32} io_boost={io_boost:u32}",
            "core_busy={core_busy} scaled_busy={scaled} from={from} to={to} mperf={mperf} aperf={aperf} tsc={tsc} freq={freq} io_boost={io_boost}",
        ],
    },
    Event { names: &["suspend_resume"], forms: &["{action:text}[{val:i32}] {phase:word}"] },
    Event {
        names: &["wakeup_source_activate", "wakeup_source_deactivate"],
        forms: &["{name:text} state={state:u64}"],
    },
    Event {
        names: &["read_msr", "write_msr", "rdpmc"],
        forms: &[
            "{msr:x32}, value {value:x64}",
            "{msr}, value {value} {failed:text}",
            "msr={msr} val={value} failed={failed}",
        ],
    },
    Event {
        names: &["mark_victim"],
        forms: &[
            "pid={pid:i32} comm={comm:comm} total-vm={total_vm:u64}kB anon-rss={anon_rss:u64}kB file-rss:{file_rss:u64}kB shmem-rss:{shmem_rss:u64}kB uid={uid:u32} pgtables={pgtables:u64}kB oom_score_adj={oom_score_adj:i32}",
            "pid={pid}",
        ],
    },
    Event {
        names: &["start_task_reaping", "finish_task_reaping", "skip_task_reaping", "wake_reaper"],
        forms: &["pid={pid:i32}"],
    },
    Event {
        names: &["compact_retry"],
        forms: &[
            "order={order:i32} priority={priority:text} compaction_result={compaction_result:text} retries={retries:i32} max_retries={max_retries:i32} should_retry={should_retry:bool}",
            "order={order} priority={priority} result={compaction_result} retries={retries} max_retries={max_retries} ret={should_retry}",
        ],
    },
    Event {
        names: &["reclaim_retry_zone"],
        forms: &[
            "node={node:i32} zone={zone:text} order={order:i32} reclaimable={reclaimable:u64} available={available:u64} min_wmark={min_wmark:u64} no_progress_loops={no_progress_loops:i32} wmark_check={wmark_check:bool}",
            "node={node} zone_idx={zone} order={order} reclaimable={reclaimable} available={available} min_wmark={min_wmark} no_progress_loops={no_progress_loops} wmark_check={wmark_check}",
        ],
    },
];
