//! Dirty pages and inodes on their way to the disk.

use crate::ftrace::decode::events::Event;

pub(crate) const EVENTS: &[Event] = &[
    Event {
        names: &["balance_dirty_pages"],
        forms: &[
            "bdi {bdi:text}: limit={limit:u64} setpoint={setpoint:u64} dirty={dirty:u64} wb_setpoint={wb_setpoint:u64} wb_dirty={wb_dirty:u64} dirty_ratelimit={dirty_ratelimit:u64} task_ratelimit={task_ratelimit:u64} dirtied={dirtied:u32} dirtied_pause={dirtied_pause:u32} paused={paused:u64} pause={pause:i64} period={period:u64} think={think:i64} cgroup_ino={cgroup_ino:u64}",
        ],
    },
    Event {
        names: &["bdi_dirty_ratelimit"],
        forms: &[
            "bdi {bdi:text}: write_bw={write_bw:u64} awrite_bw={awrite_bw:u64} dirty_rate={dirty_rate:u64} dirty_ratelimit={dirty_ratelimit:u64} task_ratelimit={task_ratelimit:u64} balanced_dirty_ratelimit={balanced_dirty_ratelimit:u64} cgroup_ino={cgroup_ino:u64}",
            "bdi={bdi} write_bw={write_bw} avg_write_bw={awrite_bw} dirty_rate={dirty_rate} dirty_ratelimit={dirty_ratelimit} task_ratelimit={task_ratelimit} balanced_dirty_ratelimit={balanced_dirty_ratelimit} cgroup_ino={cgroup_ino}",
        ],
    },
    Event {
        names: &["flush_foreign"],
        forms: &[
            "bdi {bdi:text}: cgroup_ino={cgroup_ino:u64} frn_bdi_id={frn_bdi_id:u32} frn_memcg_id={frn_memcg_id:u32}",
            "name={bdi} cgroup_ino={cgroup_ino} frn_bdi_id={frn_bdi_id} frn_memcg_id={frn_memcg_id}",
        ],
    },
    Event {
        names: &["folio_wait_writeback", "writeback_dirty_folio", "writeback_dirty_page"],
        forms: &[
            "bdi {bdi:text}: ino={ino:u64} index={index:u64}",
            "name={bdi} ino={ino} index={index}",
        ],
    },
    Event {
        names: &["global_dirty_state"],
        forms: &[
            "dirty={dirty:u64} writeback={writeback:u64} bg_thresh={bg_thresh:u64} thresh={thresh:u64} limit={limit:u64} dirtied={dirtied:u64} written={written:u64}",
            "nr_dirty={dirty} nr_writeback={writeback} background_thresh={bg_thresh} dirty_thresh={thresh} dirty_limit={limit} nr_dirtied={dirtied} nr_written={written}",
        ],
    },
    Event {
        names: &["inode_foreign_history"],
        forms: &[
            "bdi {bdi:text}: ino={ino:u64} cgroup_ino={cgroup_ino:u64} history={history:u32}",
            "name={bdi} ino={ino} cgroup_ino={cgroup_ino} history={history}",
        ],
    },
    Event {
        names: &["inode_switch_wbs"],
        forms: &[
            "bdi {bdi:text}: ino={ino:u64} old_cgroup_ino={old_cgroup_ino:u64} new_cgroup_ino={new_cgroup_ino:u64}",
            "name={bdi} ino={ino} old_cgroup_ino={old_cgroup_ino} new_cgroup_ino={new_cgroup_ino}",
        ],
    },
    Event {
        names: &["inode_switch_wbs_queue"],
        forms: &[
            "bdi {bdi:text}: old_cgroup_ino={old_cgroup_ino:u64} new_cgroup_ino={new_cgroup_ino:u64} count={count:u32}",
            "name={bdi} old_cgroup_ino={old_cgroup_ino} new_cgroup_ino={new_cgroup_ino} count={count}",
        ],
    },
    Event {
        names: &[
            "sb_clear_inode_writeback",
            "sb_mark_inode_writeback",
            "writeback_dirty_inode_enqueue",
            "writeback_lazytime",
            "writeback_lazytime_iput",
        ],
        forms: &[
            "dev {dev:dev} ino {ino:u64} dirtied {dirtied:u64} state {state:flags} mode {mode:o32}",
            "dev={dev} ino={ino} state={state} mode={mode} dirtied_when={dirtied}",
        ],
    },
    Event {
        names: &["track_foreign_dirty"],
        forms: &[
            "bdi {bdi:text}[{bdi_id:u64}]: ino={ino:u64} memcg_id={memcg_id:u32} cgroup_ino={cgroup_ino:u64} page_cgroup_ino={page_cgroup_ino:u64}",
            "name={bdi} bdi_id={bdi_id} ino={ino} memcg_id={memcg_id} cgroup_ino={cgroup_ino} page_cgroup_ino={page_cgroup_ino}",
        ],
    },
    Event {
        names: &["wbc_writepage"],
        forms: &[
            "bdi {bdi:text}: towrt={towrt:i64} skip={skip:i64} mode={mode:i32} kupd={kupd:i32} bgrd={bgrd:i32} cyclic={cyclic:i32} start={start:u64} end={end:u64} cgroup_ino={cgroup_ino:u64}",
            "name={bdi} nr_to_write={towrt} pages_skipped={skip} sync_mode={mode} for_kupdate={kupd} for_background={bgrd} range_cyclic={cyclic} range_start={start} range_end={end} cgroup_ino={cgroup_ino}",
        ],
    },
    Event { names: &["writeback_bdi_register"], forms: &["bdi {bdi:text}", "name={bdi}"] },
    Event {
        names: &[
            "writeback_dirty_inode",
            "writeback_dirty_inode_start",
            "writeback_mark_inode_dirty",
        ],
        forms: &[
            "bdi {bdi:text}: ino={ino:u64} state={state:flags} flags={flags:flags}",
            "name={bdi} ino={ino} state={state} flags={flags}",
        ],
    },
    Event {
        names: &[
            "writeback_exec",
            "writeback_queue",
            "writeback_start",
            "writeback_wait",
            "writeback_written",
        ],
        forms: &[
            "bdi {bdi:text}: sb_dev {sb_dev:dev} nr_pages={nr_pages:i64} sync_mode={sync_mode:i32} kupdate={kupdate:i32} range_cyclic={range_cyclic:i32} background={background:i32} reason={reason:flags} cgroup_ino={cgroup_ino:u64}",
            "name={bdi} nr_pages={nr_pages} sb_dev={sb_dev} sync_mode={sync_mode} for_kupdate={kupdate} range_cyclic={range_cyclic} for_background={background} reason={reason} cgroup_ino={cgroup_ino}",
        ],
    },
    Event { names: &["writeback_pages_written"], forms: &["{pages:i64}"] },
    Event {
        names: &["writeback_queue_io"],
        forms: &[
            "bdi {bdi:text}: older={older:u64} age={age:i64} enqueue={enqueue:i32} reason={reason:flags} cgroup_ino={cgroup_ino:u64}",
            "name={bdi} older={older} age={age} moved={enqueue} reason={reason} cgroup_ino={cgroup_ino}",
        ],
    },
    Event {
        names: &["writeback_sb_inodes_requeue"],
        forms: &[
            "bdi {bdi:text}: ino={ino:u64} state={state:flags} dirtied_when={dirtied_when:u64} age={age:u64} cgroup_ino={cgroup_ino:u64}",
            "name={bdi} ino={ino} state={state} dirtied_when={dirtied_when} cgroup_ino={cgroup_ino}",
        ],
    },
    Event {
        names: &["writeback_single_inode", "writeback_single_inode_start"],
        forms: &[
            "bdi {bdi:text}: ino={ino:u64} state={state:flags} dirtied_when={dirtied_when:u64} age={age:u64} index={index:u64} to_write={to_write:i64} wrote={wrote:u64} cgroup_ino={cgroup_ino:u64}",
            "name={bdi} ino={ino} state={state} dirtied_when={dirtied_when} writeback_index={index} nr_to_write={to_write} wrote={wrote} cgroup_ino={cgroup_ino}",
        ],
    },
    Event {
        names: &["writeback_wake_background"],
        forms: &[
            "bdi {bdi:text}: cgroup_ino={cgroup_ino:u64}",
            "name={bdi} cgroup_ino={cgroup_ino}",
        ],
    },
    Event {
        names: &["writeback_write_inode", "writeback_write_inode_start"],
        forms: &[
            "bdi {bdi:text}: ino={ino:u64} sync_mode={sync_mode:i32} cgroup_ino={cgroup_ino:u64}",
            "name={bdi} ino={ino} sync_mode={sync_mode} cgroup_ino={cgroup_ino}",
        ],
    },
];
