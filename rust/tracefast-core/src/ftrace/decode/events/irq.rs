//! Interrupts, exceptions, calls between processors.

use crate::ftrace::decode::events::Event;

pub(crate) const EVENTS: &[Event] = &[
    Event {
        names: &["csd_function_entry", "csd_function_exit"],
        forms: &["func={func:symbol}, csd={csd:x64}"],
    },
    Event {
        names: &["csd_queue_cpu"],
        forms: &["cpu={cpu:u32} callsite={callsite:symbol} func={func:symbol} csd={csd:x64}"],
    },
    Event {
        names: &["page_fault_user"],
        forms: &["address={address:x64} ip={ip:x64} error_code={error_code:u64}"],
    },
    // The code that faulted has a name, and so may what it touched.
    Event {
        names: &["page_fault_kernel"],
        forms: &["address={address:x64} ip={ip:symbol} error_code={error_code:u64}"],
    },
    Event {
        names: &["ipi_send_cpu"],
        forms: &["cpu={cpu:u32} callsite={callsite:symbol} callback={callback:symbol}"],
    },
    Event {
        names: &["ipi_send_cpumask"],
        forms: &[
            "cpumask={cpumask:text} callsite={callsite:symbol} callback={callback:symbol}",
            "callsite={callsite} callback={callback}",
        ],
    },
    Event {
        names: &["irq_handler_entry"],
        forms: &["irq={irq:i32} name={name:text}", "irq={irq} handler={name}"],
    },
    Event {
        names: &["irq_handler_exit"],
        forms: &["irq={irq:i32} ret={ret:text}", "irq={irq} return={ret}"],
    },
    Event {
        names: &["softirq_entry", "softirq_exit", "softirq_raise"],
        forms: &[
            "vec={vec:u32} [action={action:text}]",
            "vec={vec}",
            "softirq={vec} action={action}",
        ],
    },
    Event {
        names: &["tasklet_entry", "tasklet_exit"],
        forms: &[
            "tasklet={tasklet:symbol} function={function:symbol}",
            "tasklet={tasklet} func={function}",
        ],
    },
    Event {
        names: &[
            "call_function_entry",
            "call_function_exit",
            "call_function_single_entry",
            "call_function_single_exit",
            "error_apic_entry",
            "error_apic_exit",
            "irq_work_entry",
            "irq_work_exit",
            "local_timer_entry",
            "local_timer_exit",
            "reschedule_entry",
            "reschedule_exit",
            "spurious_apic_entry",
            "spurious_apic_exit",
            "thermal_apic_entry",
            "thermal_apic_exit",
            "x86_platform_ipi_entry",
            "x86_platform_ipi_exit",
        ],
        forms: &["vector={vector:i32}"],
    },
    Event {
        names: &["vector_activate", "vector_deactivate"],
        forms: &[
            "irq={irq:u32} is_managed={is_managed:bool} can_reserve={can_reserve:bool} reserve={reserve:bool}",
        ],
    },
    Event {
        names: &["vector_alloc"],
        forms: &["irq={irq:u32} vector={vector:u32} reserved={reserved:bool} ret={ret:i32}"],
    },
    Event {
        names: &["vector_alloc_managed"],
        forms: &["irq={irq:u32} vector={vector:u32} ret={ret:i32}"],
    },
    Event {
        names: &["vector_clear", "vector_update"],
        forms: &[
            "irq={irq:u32} vector={vector:u32} cpu={cpu:u32} prev_vector={prev_vector:u32} prev_cpu={prev_cpu:u32}",
        ],
    },
    Event {
        names: &["vector_config"],
        forms: &["irq={irq:u32} vector={vector:u32} cpu={cpu:u32} apicdest={apicdest:u32}"],
    },
    Event {
        names: &["vector_free_moved"],
        forms: &["irq={irq:u32} cpu={cpu:u32} vector={vector:u32} is_managed={is_managed:bool}"],
    },
    Event {
        names: &["vector_reserve", "vector_reserve_managed"],
        forms: &["irq={irq:u32} ret={ret:i32}"],
    },
    Event {
        names: &["vector_setup"],
        forms: &["irq={irq:u32} is_legacy={is_legacy:bool} ret={ret:i32}"],
    },
    Event {
        names: &["vector_teardown"],
        forms: &["irq={irq:u32} is_managed={is_managed:bool} has_reserved={has_reserved:bool}"],
    },
    Event {
        names: &["tlb_flush"],
        forms: &[
            "pages:{pages:u64} reason:{reason:flags} ({reason_id:i32})",
            "reason={reason_id} pages={pages}",
        ],
    },
    Event { names: &["ipi_raise"], forms: &["target_mask={target_mask:text} ({reason:flags})"] },
    Event { names: &["ipi_entry", "ipi_exit"], forms: &["({reason:flags})", "reason={reason}"] },
];
