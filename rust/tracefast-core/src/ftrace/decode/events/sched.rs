//! Scheduling, processes, signals.

use crate::ftrace::decode::events::Event;

pub(crate) const EVENTS: &[Event] = &[
    Event {
        names: &["sched_switch"],
        forms: &[
            "prev_comm={prev_comm:comm} prev_pid={prev_pid:i32} prev_prio={prev_prio:i32} prev_state={prev_state:state} ==> next_comm={next_comm:comm} next_pid={next_pid:i32} next_prio={next_prio:i32}",
            "{prev_comm}:{prev_pid} [{prev_prio}] {prev_state} ==> {next_comm}:{next_pid} [{next_prio}]",
            "prev_comm={prev_comm} prev_pid={prev_pid} prev_prio={prev_prio} prev_state={prev_state} next_comm={next_comm} next_pid={next_pid} next_prio={next_prio}",
            "task {prev_comm}:{prev_pid} [{prev_prio}] ({prev_state}) ==> {next_comm}:{next_pid} [{next_prio}]",
        ],
    },
    Event {
        names: &["sched_wakeup", "sched_wakeup_new", "sched_waking"],
        forms: &[
            "comm={comm:comm} pid={pid:i32} prio={prio:i32} target_cpu={target_cpu:i32}",
            "{comm}:{pid} [{prio}] CPU:{target_cpu}",
            "{comm}:{pid} [{prio}] success={success:i32} CPU:{target_cpu}",
            "{comm}:{pid} [{prio}] success={success}",
            "{comm}:{pid} [{prio}]",
            "comm={comm} pid={pid} prio={prio} success={success} target_cpu={target_cpu}",
            "task {comm}:{pid} [{prio}] success={success} [{target_cpu}]",
        ],
    },
    Event {
        names: &["sched_migrate_task"],
        forms: &[
            "comm={comm:comm} pid={pid:i32} prio={prio:i32} orig_cpu={orig_cpu:i32} dest_cpu={dest_cpu:i32}",
            "task {comm}:{pid} [{prio}] from: {orig_cpu}  to: {dest_cpu}",
        ],
    },
    Event {
        names: &["sched_process_fork"],
        forms: &[
            "comm={parent_comm:comm} pid={parent_pid:i32} child_comm={child_comm:comm} child_pid={child_pid:i32}",
            "parent_comm={parent_comm} parent_pid={parent_pid} child_comm={child_comm} child_pid={child_pid}",
            "parent {parent_comm}:{parent_pid}  child {child_comm}:{child_pid}",
        ],
    },
    Event {
        names: &["sched_process_exec"],
        forms: &["filename={filename:text} pid={pid:i32} old_pid={old_pid:i32}"],
    },
    Event {
        names: &["sched_prepare_exec"],
        forms: &["interp={interp:text} filename={filename:text} pid={pid:i32} comm={comm:comm}"],
    },
    Event {
        names: &["sched_process_exit"],
        forms: &[
            "comm={comm:comm} pid={pid:i32} prio={prio:i32} group_dead={group_dead:bool}",
            "comm={comm} pid={pid} prio={prio}",
            "task {comm}:{pid} [{prio}]",
        ],
    },
    Event {
        names: &["sched_process_wait", "sched_process_free", "sched_wait_task"],
        forms: &["comm={comm:comm} pid={pid:i32} prio={prio:i32}", "task {comm}:{pid} [{prio}]"],
    },
    Event {
        names: &["sched_process_hang", "sched_kthread_stop"],
        forms: &["comm={comm:comm} pid={pid:i32}", "task {comm}:{pid}"],
    },
    Event { names: &["sched_kthread_stop_ret"], forms: &["ret={ret:i32}", "ret {ret}"] },
    Event {
        names: &["sched_stat_runtime"],
        forms: &[
            "comm={comm:comm} pid={pid:i32} runtime={runtime:u64} [ns]",
            "comm={comm} pid={pid} runtime={runtime} [ns] vruntime={vruntime:u64} [ns]",
            "comm={comm} pid={pid} runtime={runtime} vruntime={vruntime}",
            "comm={comm} pid={pid} runtime={runtime}",
            "task: {comm}:{pid} runtime: {runtime} [ns], vruntime: {vruntime} [ns]",
        ],
    },
    Event {
        names: &["sched_stat_wait", "sched_stat_sleep", "sched_stat_blocked", "sched_stat_iowait"],
        forms: &[
            "comm={comm:comm} pid={pid:i32} delay={delay:u64} [ns]",
            "comm={comm} pid={pid} delay={delay}",
            "task: {comm}:{pid} wait: {delay} [ns]",
            "task: {comm}:{pid} sleep: {delay} [ns]",
            "task: {comm}:{pid} iowait: {delay} [ns]",
        ],
    },
    Event {
        names: &["sched_blocked_reason"],
        forms: &[
            "pid={pid:i32} iowait={io_wait:i32} caller={caller:symbol}",
            "pid={pid} caller={caller} io_wait={io_wait}",
        ],
    },
    Event {
        names: &["sched_pi_setprio"],
        forms: &["comm={comm:comm} pid={pid:i32} oldprio={oldprio:i32} newprio={newprio:i32}"],
    },
    Event {
        names: &["sched_move_numa"],
        forms: &[
            "pid={pid:i32} tgid={tgid:i32} ngid={ngid:i32} src_cpu={src_cpu:i32} src_nid={src_nid:i32} dst_cpu={dst_cpu:i32} dst_nid={dst_nid:i32}",
        ],
    },
    Event {
        names: &["sched_stick_numa", "sched_swap_numa"],
        forms: &[
            "src_pid={src_pid:i32} src_tgid={src_tgid:i32} src_ngid={src_ngid:i32} src_cpu={src_cpu:i32} src_nid={src_nid:i32} dst_pid={dst_pid:i32} dst_tgid={dst_tgid:i32} dst_ngid={dst_ngid:i32} dst_cpu={dst_cpu:i32} dst_nid={dst_nid:i32}",
        ],
    },
    // Its `cpu` is the one that was woken.
    Event { names: &["sched_wake_idle_without_ipi"], forms: &["cpu={cpu:i32}"] },
    Event {
        names: &["task_newtask"],
        forms: &[
            "pid={pid:i32} comm={comm:comm} clone_flags={clone_flags:x64} oom_score_adj={oom_score_adj:i32}",
        ],
    },
    Event {
        names: &["task_rename"],
        forms: &[
            "pid={pid:i32} oldcomm={oldcomm:comm} newcomm={newcomm:comm} oom_score_adj={oom_score_adj:i32}",
            "oldcomm={oldcomm} newcomm={newcomm} oom_score_adj={oom_score_adj}",
        ],
    },
    Event {
        names: &["task_prctl_unknown"],
        forms: &[
            "option={option:i32} arg2={arg2:u64} arg3={arg3:u64} arg4={arg4:u64} arg5={arg5:u64}",
        ],
    },
    Event {
        names: &["oom_score_adj_update"],
        forms: &["pid={pid:i32} comm={comm:comm} oom_score_adj={oom_score_adj:i32}"],
    },
    Event {
        names: &["signal_generate"],
        forms: &[
            "sig={sig:i32} errno={errno:i32} code={code:i32} comm={comm:comm} pid={pid:i32} grp={grp:i32} res={res:i32}",
            "sig={sig} errno={errno} code={code} comm={comm} pid={pid} group={grp} result={res}",
            "sig={sig} errno={errno} code={code} comm={comm} pid={pid}",
        ],
    },
    Event {
        names: &["signal_deliver"],
        forms: &[
            "sig={sig:i32} errno={errno:i32} code={code:i32} sa_handler={sa_handler:x64} sa_flags={sa_flags:x64}",
        ],
    },
];
