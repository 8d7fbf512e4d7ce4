//! Block devices: requests on their way to the disk and back.
//!
//! Kernels before 6.10 print no priority; trace-cmd prints its class as a number.

use crate::ftrace::decode::events::Event;

pub(crate) const EVENTS: &[Event] = &[
    Event {
        names: &[
            "block_rq_issue",
            "block_rq_insert",
            "block_rq_merge",
            "block_io_start",
            "block_io_done",
            "blk_zone_append_update_request_bio",
        ],
        forms: &[
            "{dev:dev} {rwbs:word} {bytes:u32} ({cmd:text}) {sector:u64} + {nr_sector:u32} {ioprio:ioprio} [{comm:comm}]",
            "{dev} {rwbs} {bytes} ({cmd}) {sector} + {nr_sector} [{comm}]",
            "dev={dev} sector={sector} nr_sector={nr_sector} bytes={bytes} ioprio={ioprio} rwbs={rwbs} comm={comm} cmd={cmd}",
            "dev={dev} sector={sector} nr_sector={nr_sector} bytes={bytes} rwbs={rwbs} comm={comm} cmd={cmd}",
        ],
    },
    Event {
        names: &["block_rq_complete", "block_rq_requeue", "block_rq_error", "block_rq_abort"],
        forms: &[
            "{dev:dev} {rwbs:word} ({cmd:text}) {sector:u64} + {nr_sector:u32} {ioprio:ioprio} [{error:i32}]",
            "{dev} {rwbs} ({cmd}) {sector} + {nr_sector} [{error}]",
            "dev={dev} sector={sector} nr_sector={nr_sector} error={error} ioprio={ioprio} rwbs={rwbs} cmd={cmd}",
            "dev={dev} sector={sector} nr_sector={nr_sector} error={error} rwbs={rwbs} cmd={cmd}",
            "dev={dev} sector={sector} nr_sector={nr_sector} ioprio={ioprio} rwbs={rwbs} cmd={cmd}",
            "dev={dev} sector={sector} nr_sector={nr_sector} errors={error} rwbs={rwbs} cmd={cmd}",
        ],
    },
    Event {
        names: &[
            "block_bio_queue",
            "block_bio_backmerge",
            "block_bio_frontmerge",
            "block_bio_bounce",
            "block_getrq",
            "block_sleeprq",
        ],
        forms: &[
            "{dev:dev} {rwbs:word} {sector:u64} + {nr_sector:u32} [{comm:comm}]",
            "dev={dev} sector={sector} nr_sector={nr_sector} rwbs={rwbs} comm={comm}",
        ],
    },
    Event {
        names: &["block_bio_complete"],
        forms: &[
            "{dev:dev} {rwbs:word} {sector:u64} + {nr_sector:u32} [{error:i32}]",
            "dev={dev} sector={sector} nr_sector={nr_sector} error={error} rwbs={rwbs}",
        ],
    },
    Event {
        names: &["block_split"],
        forms: &[
            "{dev:dev} {rwbs:word} {sector:u64} / {new_sector:u64} [{comm:comm}]",
            "dev={dev} sector={sector} new_sector={new_sector} rwbs={rwbs} comm={comm}",
        ],
    },
    Event {
        names: &["block_bio_remap", "block_remap"],
        forms: &[
            "{dev:dev} {rwbs:word} {sector:u64} + {nr_sector:u32} <- ({old_dev:dev}) {old_sector:u64}",
            "dev={dev} sector={sector} nr_sector={nr_sector} old_dev={old_dev} old_sector={old_sector} rwbs={rwbs}",
        ],
    },
    Event {
        names: &["block_rq_remap"],
        forms: &[
            "{dev:dev} {rwbs:word} {sector:u64} + {nr_sector:u32} <- ({old_dev:dev}) {old_sector:u64} {nr_bios:u32}",
            "{dev} {rwbs} {sector} + {nr_sector} <- ({old_dev}) {old_sector}",
            "dev={dev} sector={sector} nr_sector={nr_sector} old_dev={old_dev} old_sector={old_sector} nr_bios={nr_bios} rwbs={rwbs}",
        ],
    },
    Event {
        names: &["block_touch_buffer", "block_dirty_buffer"],
        forms: &[
            "{dev:dev} sector={sector:u64} size={size:u64}",
            "dev={dev} sector={sector} size={size}",
        ],
    },
    Event { names: &["block_plug"], forms: &["[{comm:comm}]", "comm={comm}"] },
    Event {
        names: &["block_unplug", "block_unplug_io", "block_unplug_timer"],
        forms: &["[{comm:comm}] {nr_rq:i32}", "nr_rq={nr_rq} comm={comm}"],
    },
    Event {
        names: &["blk_zone_wplug_bio", "disk_zone_wplug_add_bio"],
        forms: &[
            "{dev:dev} zone {zno:u32}, BIO {sector:u64} + {nr_sectors:u32}",
            "dev={dev} zno={zno} sector={sector} nr_sectors={nr_sectors}",
        ],
    },
    Event {
        names: &["blkdev_zone_mgmt"],
        forms: &[
            "{dev:dev} {rwbs:word} {sector:u64} + {nr_sectors:u64}",
            "dev={dev} sector={sector} nr_sectors={nr_sectors} rwbs={rwbs}",
        ],
    },
];
