//! The journal of ext4.

use crate::ftrace::decode::events::Event;

pub(crate) const EVENTS: &[Event] = &[
    Event { names: &["jbd2_checkpoint"], forms: &["dev {dev:dev} result {result:i32}"] },
    Event {
        names: &["jbd2_checkpoint_stats"],
        forms: &[
            "dev {dev:dev} tid {tid:u32} chp_time {chp_time:u64} forced_to_close {forced_to_close:u32} written {written:u32} dropped {dropped:u32}",
        ],
    },
    Event {
        names: &[
            "jbd2_commit_flushing",
            "jbd2_commit_locking",
            "jbd2_commit_logging",
            "jbd2_drop_transaction",
            "jbd2_start_commit",
        ],
        forms: &[
            "dev {dev:dev} transaction {transaction:u32} sync {sync:i32}",
            "dev={dev} sync_commit={sync} transaction={transaction}",
        ],
    },
    Event {
        names: &["jbd2_end_commit"],
        forms: &[
            "dev {dev:dev} transaction {transaction:u32} sync {sync:i32} head {head:u32}",
            "dev={dev} sync_commit={sync} transaction={transaction} head={head}",
        ],
    },
    Event {
        names: &["jbd2_handle_extend"],
        forms: &[
            "dev {dev:dev} tid {tid:u32} type {type:u32} line_no {line_no:u32} buffer_credits {buffer_credits:i32} requested_blocks {requested_blocks:i32}",
        ],
    },
    Event {
        names: &["jbd2_handle_restart", "jbd2_handle_start"],
        forms: &[
            "dev {dev:dev} tid {tid:u32} type {type:u32} line_no {line_no:u32} requested_blocks {requested_blocks:i32}",
        ],
    },
    Event {
        names: &["jbd2_handle_stats"],
        forms: &[
            "dev {dev:dev} tid {tid:u32} type {type:u32} line_no {line_no:u32} interval {interval:i32} sync {sync:i32} requested_blocks {requested_blocks:i32} dirtied_blocks {dirtied_blocks:i32}",
        ],
    },
    Event { names: &["jbd2_lock_buffer_stall"], forms: &["dev {dev:dev} stall_ms {stall_ms:u64}"] },
    Event {
        names: &["jbd2_run_stats"],
        forms: &[
            "dev {dev:dev} tid {tid:u32} wait {wait:u64} request_delay {request_delay:u64} running {running:u64} locked {locked:u64} flushing {flushing:u64} logging {logging:u64} handle_count {handle_count:u32} blocks {blocks:u32} blocks_logged {blocks_logged:u32}",
        ],
    },
    Event {
        names: &["jbd2_shrink_checkpoint_list"],
        forms: &[
            "dev {dev:dev} shrink transaction {first_tid:u32}-{tid:u32}({last_tid:u32}) freed {freed:u64} next transaction {next_tid:u32}",
            "dev={dev} first_tid={first_tid} tid={tid} last_tid={last_tid} nr_freed={freed} next_tid={next_tid}",
        ],
    },
    Event {
        names: &["jbd2_shrink_count", "jbd2_shrink_scan_enter"],
        forms: &["dev {dev:dev} nr_to_scan {nr_to_scan:u64} count {count:u64}"],
    },
    Event {
        names: &["jbd2_shrink_scan_exit"],
        forms: &[
            "dev {dev:dev} nr_to_scan {nr_to_scan:u64} nr_shrunk {nr_shrunk:u64} count {count:u64}",
        ],
    },
    Event { names: &["jbd2_submit_inode_data"], forms: &["dev {dev:dev} ino {ino:u64}"] },
    Event {
        names: &["jbd2_update_log_tail"],
        forms: &[
            "dev {dev:dev} from {from:u32} to {to:u32} offset {offset:u64} freed {freed:u64}",
            "dev={dev} tail_sequence={to} first_tid={from} block_nr={offset} freed={freed}",
        ],
    },
    Event {
        names: &["jbd2_write_superblock"],
        forms: &["dev {dev:dev} write_flags {write_flags:x32}"],
    },
];
