//! Timers and work queues.

use crate::ftrace::decode::events::Event;

pub(crate) const EVENTS: &[Event] = &[
    Event {
        names: &["hrtimer_setup", "hrtimer_init"],
        forms: &["hrtimer={hrtimer:x64} clockid={clockid:flags} mode={mode:flags}"],
    },
    Event {
        names: &["hrtimer_start"],
        forms: &[
            "hrtimer={hrtimer:x64} function={function:symbol} expires={expires:i64} softexpires={softexpires:i64} mode={mode:flags} was_armed={was_armed:bool}",
            "hrtimer={hrtimer} function={function} expires={expires} softexpires={softexpires} mode={mode}",
            "hrtimer={hrtimer} function={function} expires={expires} softexpires={softexpires}",
        ],
    },
    Event {
        names: &["hrtimer_expire_entry"],
        forms: &[
            "hrtimer={hrtimer:x64} function={function:symbol} now={now:i64}",
            "hrtimer={hrtimer} now={now} function={function}",
            "hrtimer={hrtimer} now={now}",
        ],
    },
    Event { names: &["hrtimer_cancel", "hrtimer_expire_exit"], forms: &["hrtimer={hrtimer:x64}"] },
    Event { names: &["itimer_expire"], forms: &["which={which:i32} pid={pid:i32} now={now:u64}"] },
    Event {
        names: &["itimer_state"],
        forms: &[
            "which={which:i32} expires={expires:u64} it_value={value_sec:i64}.{value_usec:i64} it_interval={interval_sec:i64}.{interval_usec:i64}",
        ],
    },
    Event {
        names: &["tick_stop"],
        forms: &[
            "success={success:i32} dependency={dependency:flags}",
            "success={success} msg={dependency}",
        ],
    },
    Event { names: &["timer_base_idle"], forms: &["is_idle={is_idle:bool} cpu={cpu:u32}"] },
    Event {
        names: &["timer_init", "timer_cancel", "timer_expire_exit"],
        forms: &["timer={timer:x64}"],
    },
    Event {
        names: &["timer_start"],
        forms: &[
            "timer={timer:x64} function={function:symbol} expires={expires:u64} [timeout={timeout:i64}] bucket_expiry={bucket_expiry:u64} cpu={cpu:u32} idx={idx:u32} flags={flags:flags}",
            "timer={timer} function={function} expires={expires} [timeout={timeout}] cpu={cpu} idx={idx} flags={flags}",
            "timer={timer} function={function} expires={expires} [timeout={timeout}] flags={flags}",
            "timer={timer} function={function} expires={expires} [timeout={timeout}]",
            "timer={timer} function={function} expires={expires} bucket_expiry={bucket_expiry} now={now:u64} flags={flags}",
        ],
    },
    Event {
        names: &["timer_expire_entry"],
        forms: &[
            "timer={timer:x64} function={function:symbol} now={now:u64} baseclk={baseclk:u64}",
            "timer={timer} function={function} now={now}",
            "timer={timer} now={now} function={function} baseclk={baseclk}",
        ],
    },
    Event {
        names: &["workqueue_queue_work"],
        forms: &[
            "work struct={work:x64} function={function:symbol} workqueue={workqueue:text} req_cpu={req_cpu:i32} cpu={cpu:i32}",
            "work={work} function={function} workqueue={workqueue} req_cpu={req_cpu} cpu={cpu}",
        ],
    },
    Event {
        names: &["workqueue_activate_work"],
        forms: &[
            "work struct {work:x64} function={function:symbol} ",
            "work struct {work}",
            "work={work} function={function}",
        ],
    },
    Event {
        names: &["workqueue_execute_start", "workqueue_execute_end"],
        forms: &[
            "work struct {work:x64}: function {function:symbol}",
            "work struct {work}",
            "work={work} function={function}",
        ],
    },
];
