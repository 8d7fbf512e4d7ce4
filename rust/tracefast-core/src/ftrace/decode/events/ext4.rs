//! ext4.

use crate::ftrace::decode::events::Event;

pub(crate) const EVENTS: &[Event] = &[
    Event {
        names: &["ext4_alloc_da_blocks"],
        forms: &[
            "dev {dev:dev} ino {ino:u64} reserved_data_blocks {reserved_data_blocks:u32}",
            "dev={dev} ino={ino} data_blocks={reserved_data_blocks}",
        ],
    },
    Event {
        names: &["ext4_allocate_blocks"],
        forms: &[
            "dev {dev:dev} ino {ino:u64} flags {flags:flags} len {len:u32} block {block:u64} lblk {lblk:u32} goal {goal:u64} lleft {lleft:u32} lright {lright:u32} pleft {pleft:u64} pright {pright:u64}",
            "dev={dev} ino={ino} block={block} len={len} logical={lblk} lleft={lleft} lright={lright} goal={goal} pleft={pleft} pright={pright} flags={flags}",
        ],
    },
    Event {
        names: &["ext4_allocate_inode"],
        forms: &["dev {dev:dev} ino {ino:u64} dir {dir:u64} mode {mode:o32}"],
    },
    Event {
        names: &["ext4_begin_ordered_truncate"],
        forms: &["dev {dev:dev} ino {ino:u64} new_size {new_size:i64}"],
    },
    Event {
        names: &["ext4_collapse_range", "ext4_insert_range"],
        forms: &["dev {dev:dev} ino {ino:u64} offset {offset:i64} len {len:i64}"],
    },
    Event {
        names: &["ext4_da_release_space"],
        forms: &[
            "dev {dev:dev} ino {ino:u64} mode {mode:o32} i_blocks {i_blocks:u64} freed_blocks {freed_blocks:i32} reserved_data_blocks {reserved_data_blocks:i32}",
        ],
    },
    Event {
        names: &["ext4_da_reserve_space"],
        forms: &[
            "dev {dev:dev} ino {ino:u64} mode {mode:o32} i_blocks {i_blocks:u64} reserve_blocks {reserve_blocks:i32}reserved_data_blocks {reserved_data_blocks:i32}",
        ],
    },
    Event {
        names: &["ext4_da_update_reserve_space"],
        forms: &[
            "dev {dev:dev} ino {ino:u64} mode {mode:o32} i_blocks {i_blocks:u64} used_blocks {used_blocks:i32} reserved_data_blocks {reserved_data_blocks:i32} quota_claim {quota_claim:i32}",
        ],
    },
    Event {
        names: &["ext4_da_write_begin", "ext4_write_begin"],
        forms: &[
            "dev {dev:dev} ino {ino:u64} pos {pos:i64} len {len:u32}",
            "dev {dev} ino {ino} pos {pos} len {len} flags {flags:u32}",
        ],
    },
    Event {
        names: &["ext4_da_write_end", "ext4_write_end", "ext4_journalled_write_end"],
        forms: &["dev {dev:dev} ino {ino:u64} pos {pos:i64} len {len:u32} copied {copied:u32}"],
    },
    Event {
        names: &["ext4_da_write_folios_end"],
        forms: &[
            "dev {dev:dev} ino {ino:u64} start_pos {start_pos:u64} next_pos {next_pos:u64} nr_to_write {nr_to_write:i64} ret {ret:i32}",
        ],
    },
    Event {
        names: &["ext4_da_write_folios_start"],
        forms: &[
            "dev {dev:dev} ino {ino:u64} start_pos {start_pos:u64} next_pos {next_pos:u64} nr_to_write {nr_to_write:i64} sync_mode {sync_mode:i32}",
        ],
    },
    Event {
        names: &["ext4_da_write_pages_extent"],
        forms: &["dev {dev:dev} ino {ino:u64} lblk {lblk:u64} len {len:u32} flags {flags:flags}"],
    },
    Event {
        names: &["ext4_discard_blocks"],
        forms: &["dev {dev:dev} blk {blk:u64} count {count:u64}"],
    },
    Event {
        names: &["ext4_discard_preallocations"],
        forms: &["dev {dev:dev} ino {ino:u64} len: {len:u32}"],
    },
    Event { names: &["ext4_drop_inode"], forms: &["dev {dev:dev} ino {ino:u64} drop {drop:i32}"] },
    Event {
        names: &["ext4_error"],
        forms: &["dev {dev:dev} function {function:text} line {line:u32}"],
    },
    Event {
        names: &["ext4_es_cache_extent", "ext4_es_find_extent_range_exit", "ext4_es_insert_extent"],
        forms: &[
            "dev {dev:dev} ino {ino:u64} es [{lblk:u32}/{len:u32}) mapped {mapped:u64} status {status:flags}",
            "dev={dev} ino={ino} lblk={lblk} len={len} pblk={mapped} status={status}",
        ],
    },
    Event {
        names: &["ext4_es_find_extent_range_enter", "ext4_es_lookup_extent_enter"],
        forms: &["dev {dev:dev} ino {ino:u64} lblk {lblk:u32}"],
    },
    Event {
        names: &["ext4_es_insert_delayed_extent"],
        forms: &[
            "dev {dev:dev} ino {ino:u64} es [{lblk:u32}/{len:u32}) mapped {mapped:u64} status {status:flags} allocated {allocated:bool} {end_allocated:bool}",
            "dev {dev} ino {ino} es [{lblk}/{len}) mapped {mapped} status {status} allocated {allocated}",
            "dev={dev} ino={ino} lblk={lblk} len={len} pblk={mapped} status={status} lclu_allocated={allocated} end_allocated={end_allocated}",
        ],
    },
    Event {
        names: &["ext4_es_lookup_extent_exit"],
        forms: &[
            "dev {dev:dev} ino {ino:u64} found {found:i32} [{lblk:u32}/{len:u32}) {mapped:u64} {status:flags}",
            "dev={dev} ino={ino} lblk={lblk} len={len} pblk={mapped} status={status} found={found}",
        ],
    },
    Event {
        names: &["ext4_es_remove_extent"],
        forms: &["dev {dev:dev} ino {ino:u64} es [{lblk:i64}/{len:i64})"],
    },
    Event {
        names: &["ext4_es_shrink"],
        forms: &[
            "dev {dev:dev} nr_shrunk {nr_shrunk:i32}, scan_time {scan_time:u64} nr_skipped {nr_skipped:i32} retried {retried:i32}",
        ],
    },
    Event {
        names: &["ext4_es_shrink_count", "ext4_es_shrink_scan_enter"],
        forms: &["dev {dev:dev} nr_to_scan {nr_to_scan:i32} cache_cnt {cache_cnt:i32}"],
    },
    Event {
        names: &["ext4_es_shrink_scan_exit"],
        forms: &["dev {dev:dev} nr_shrunk {nr_shrunk:i32} cache_cnt {cache_cnt:i32}"],
    },
    Event {
        names: &["ext4_evict_inode"],
        forms: &["dev {dev:dev} ino {ino:u64} nlink {nlink:i32}"],
    },
    Event {
        names: &["ext4_ext_convert_to_initialized_enter"],
        forms: &[
            "dev {dev:dev} ino {ino:u64} m_lblk {m_lblk:u32} m_len {m_len:u32} u_lblk {u_lblk:u32} u_len {u_len:u32} u_pblk {u_pblk:u64}",
        ],
    },
    Event {
        names: &["ext4_ext_convert_to_initialized_fastpath"],
        forms: &[
            "dev {dev:dev} ino {ino:u64} m_lblk {m_lblk:u32} m_len {m_len:u32} u_lblk {u_lblk:u32} u_len {u_len:u32} u_pblk {u_pblk:u64} i_lblk {i_lblk:u32} i_len {i_len:u32} i_pblk {i_pblk:u64} ",
        ],
    },
    Event {
        names: &["ext4_ext_handle_unwritten_extents"],
        forms: &[
            "dev {dev:dev} ino {ino:u64} m_lblk {m_lblk:u32} m_pblk {m_pblk:u64} m_len {m_len:u32} flags {flags:flags} allocated {allocated:u32} newblock {newblock:u64}",
            "dev={dev} ino={ino} flags={flags} lblk={m_lblk} pblk={m_pblk} len={m_len} allocated={allocated} newblk={newblock}",
        ],
    },
    Event {
        names: &["ext4_ext_load_extent"],
        forms: &["dev {dev:dev} ino {ino:u64} lblk {lblk:u32} pblk {pblk:u64}"],
    },
    Event {
        names: &["ext4_ext_map_blocks_enter", "ext4_ind_map_blocks_enter"],
        forms: &["dev {dev:dev} ino {ino:u64} lblk {lblk:u32} len {len:u32} flags {flags:flags}"],
    },
    Event {
        names: &["ext4_ext_map_blocks_exit", "ext4_ind_map_blocks_exit"],
        forms: &[
            "dev {dev:dev} ino {ino:u64} flags {flags:flags} lblk {lblk:u32} pblk {pblk:u64} len {len:u32} mflags {mflags:flags} ret {ret:i32}",
        ],
    },
    Event {
        names: &["ext4_ext_remove_space"],
        forms: &[
            "dev {dev:dev} ino {ino:u64} since {since:u32} end {end:u32} depth {depth:i32}",
            "dev={dev} ino={ino} start={since} end={end} depth={depth}",
        ],
    },
    Event {
        names: &["ext4_ext_remove_space_done"],
        forms: &[
            "dev {dev:dev} ino {ino:u64} since {since:u32} end {end:u32} depth {depth:i32} partial [pclu {pclu:u64} lblk {lblk:u32} state {state:i32}] remaining_entries {remaining_entries:u32}",
            "dev={dev} ino={ino} start={since} end={end} depth={depth} pc_pclu={pclu} pc_lblk={lblk} pc_state={state} eh_entries={remaining_entries}",
        ],
    },
    Event {
        names: &["ext4_ext_rm_idx"],
        forms: &[
            "dev {dev:dev} ino {ino:u64} index_pblk {index_pblk:u64}",
            "dev={dev} ino={ino} pblk={index_pblk}",
        ],
    },
    Event {
        names: &["ext4_ext_rm_leaf"],
        forms: &[
            "dev {dev:dev} ino {ino:u64} start_lblk {start_lblk:u32} last_extent [{ee_lblk:u32}({ee_pblk:u64}), {ee_len:i32}]partial [pclu {pclu:u64} lblk {lblk:u32} state {state:i32}]",
            "dev={dev} ino={ino} start={start_lblk} ee_lblk={ee_lblk} ee_pblk={ee_pblk} ee_len={ee_len} pc_pclu={pclu} pc_lblk={lblk} pc_state={state}",
        ],
    },
    Event {
        names: &["ext4_ext_show_extent"],
        forms: &["dev {dev:dev} ino {ino:u64} lblk {lblk:u32} pblk {pblk:u64} len {len:u32}"],
    },
    Event {
        names: &["ext4_fallocate_enter", "ext4_punch_hole", "ext4_zero_range"],
        forms: &["dev {dev:dev} ino {ino:u64} offset {offset:i64} len {len:i64} mode {mode:flags}"],
    },
    Event {
        names: &["ext4_fallocate_exit"],
        forms: &["dev {dev:dev} ino {ino:u64} pos {pos:i64} blocks {blocks:u32} ret {ret:i32}"],
    },
    Event {
        names: &["ext4_fc_cleanup"],
        forms: &["dev {dev:dev}, j_fc_off {j_fc_off:i32}, full {full:i32}, tid {tid:u32}"],
    },
    Event { names: &["ext4_fc_commit_start"], forms: &["dev {dev:dev} tid {tid:u32}"] },
    Event {
        names: &["ext4_fc_commit_stop"],
        forms: &[
            "dev {dev:dev} nblks {nblks:i32}, reason {reason:i32}, fc = {num_fc:i32}, ineligible = {num_fc_ineligible:i32}, agg_nblks {agg_nblks:i32}, tid {tid:u32}",
            "dev={dev} nblks={nblks} reason={reason} num_fc={num_fc} num_fc_ineligible={num_fc_ineligible} nblks_agg={agg_nblks} tid={tid}",
        ],
    },
    Event {
        names: &["ext4_fc_replay"],
        forms: &[
            "dev {dev:dev}: tag {tag:i32}, ino {ino:i32}, data1 {data1:i32}, data2 {data2:i32}",
            "dev={dev} tag={tag} ino={ino} priv1={data1} priv2={data2}",
        ],
    },
    Event {
        names: &["ext4_fc_replay_scan"],
        forms: &["dev {dev:dev} error {error:i32}, off {off:i32}"],
    },
    Event {
        names: &["ext4_fc_track_create", "ext4_fc_track_link", "ext4_fc_track_unlink"],
        forms: &[
            "dev {dev:dev}, t_tid {t_tid:u32}, ino {ino:u64}, i_sync_tid {i_sync_tid:u32}, error {error:i32}",
            "dev={dev} t_tid={t_tid} i_ino={ino} i_sync_tid={i_sync_tid} error={error}",
        ],
    },
    Event {
        names: &["ext4_fc_track_inode"],
        forms: &[
            "dev {dev:dev}, t_tid {t_tid:u32}, inode {ino:u64}, i_sync_tid {i_sync_tid:u32}, error {error:i32}",
            "dev={dev} t_tid={t_tid} i_ino={ino} i_sync_tid={i_sync_tid} error={error}",
        ],
    },
    Event {
        names: &["ext4_fc_track_range"],
        forms: &[
            "dev {dev:dev}, t_tid {t_tid:u32}, inode {ino:u64}, i_sync_tid {i_sync_tid:u32}, error {error:i32}, start {start:i64}, end {end:i64}",
            "dev={dev} t_tid={t_tid} i_ino={ino} i_sync_tid={i_sync_tid} start={start} end={end} error={error}",
        ],
    },
    Event {
        names: &["ext4_forget"],
        forms: &[
            "dev {dev:dev} ino {ino:u64} mode {mode:o32} is_metadata {is_metadata:i32} block {block:u64}",
        ],
    },
    Event {
        names: &["ext4_free_blocks"],
        forms: &[
            "dev {dev:dev} ino {ino:u64} mode {mode:o32} block {block:u64} count {count:u64} flags {flags:flags}",
        ],
    },
    Event {
        names: &["ext4_free_inode"],
        forms: &[
            "dev {dev:dev} ino {ino:u64} mode {mode:o32} uid {uid:u32} gid {gid:u32} blocks {blocks:u64}",
        ],
    },
    Event {
        names: &["ext4_get_implied_cluster_alloc_exit"],
        forms: &[
            "dev {dev:dev} m_lblk {m_lblk:u32} m_pblk {m_pblk:u64} m_len {m_len:u32} m_flags {m_flags:flags} ret {ret:i32}",
            "dev={dev} flags={m_flags} lblk={m_lblk} pblk={m_pblk} len={m_len} ret={ret}",
        ],
    },
    Event {
        names: &["ext4_invalidate_folio", "ext4_journalled_invalidate_folio"],
        forms: &[
            "dev {dev:dev} ino {ino:u64} folio_index {folio_index:u64} offset {offset:u64} length {length:u64}",
            "dev={dev} ino={ino} index={folio_index} offset={offset} length={length}",
        ],
    },
    Event {
        names: &["ext4_journal_start_inode"],
        forms: &[
            "dev {dev:dev} blocks {blocks:i32}, rsv_blocks {rsv_blocks:i32}, revoke_creds {revoke_creds:i32}, type {type:i32}, ino {ino:u64}, caller {caller:symbol}",
            "ino={ino} dev={dev} ip={caller} blocks={blocks} rsv_blocks={rsv_blocks} revoke_creds={revoke_creds} type={type}",
        ],
    },
    Event {
        names: &["ext4_journal_start_reserved"],
        forms: &[
            "dev {dev:dev} blocks, {blocks:i32} caller {caller:symbol}",
            "dev={dev} ip={caller} blocks={blocks}",
        ],
    },
    Event {
        names: &["ext4_journal_start_sb"],
        forms: &[
            "dev {dev:dev} blocks {blocks:i32}, rsv_blocks {rsv_blocks:i32}, revoke_creds {revoke_creds:i32}, type {type:i32}, caller {caller:symbol}",
            "dev={dev} ip={caller} blocks={blocks} rsv_blocks={rsv_blocks} revoke_creds={revoke_creds} type={type}",
        ],
    },
    Event {
        names: &[
            "ext4_lazy_itable_init",
            "ext4_load_inode_bitmap",
            "ext4_mb_bitmap_load",
            "ext4_mb_buddy_bitmap_load",
        ],
        forms: &["dev {dev:dev} group {group:u32}"],
    },
    Event {
        names: &["ext4_load_inode", "ext4_nfs_commit_metadata"],
        forms: &["dev {dev:dev} ino {ino:u64}"],
    },
    Event {
        names: &["ext4_mark_inode_dirty"],
        forms: &[
            "dev {dev:dev} ino {ino:u64} caller {caller:symbol}",
            "dev={dev} ino={ino} ip={caller}",
        ],
    },
    Event {
        names: &["ext4_mb_discard_preallocations"],
        forms: &["dev {dev:dev} needed {needed:i32}"],
    },
    Event {
        names: &["ext4_mb_new_group_pa", "ext4_mb_new_inode_pa"],
        forms: &[
            "dev {dev:dev} ino {ino:u64} pstart {pstart:u64} len {len:u32} lstart {lstart:u64}",
            "dev={dev} ino={ino} pa_pstart={pstart} pa_lstart={lstart} pa_len={len}",
        ],
    },
    Event {
        names: &["ext4_mb_release_group_pa"],
        forms: &[
            "dev {dev:dev} pstart {pstart:u64} len {len:u32}",
            "dev={dev} pa_pstart={pstart} pa_len={len}",
        ],
    },
    Event {
        names: &["ext4_mb_release_inode_pa"],
        forms: &["dev {dev:dev} ino {ino:u64} block {block:u64} count {count:u32}"],
    },
    Event {
        names: &["ext4_mballoc_alloc"],
        forms: &[
            "dev {dev:dev} inode {ino:u64} orig {orig_group:u32}/{orig_start:i32}/{orig_len:i32}@{orig_logical:u32} goal {goal_group:u32}/{goal_start:i32}/{goal_len:i32}@{goal_logical:u32} result {result_group:u32}/{result_start:i32}/{result_len:i32}@{result_logical:u32} blks {blks:u32} grps {grps:u32} cr {cr:flags} flags {flags:flags} tail {tail:u32} broken {broken:u32}",
            "dev={dev} ino={ino} orig_logical={orig_logical} orig_start={orig_start} orig_group={orig_group} orig_len={orig_len} goal_logical={goal_logical} goal_start={goal_start} goal_group={goal_group} goal_len={goal_len} result_logical={result_logical} result_start={result_start} result_group={result_group} result_len={result_len} found={blks} groups={grps} buddy={broken} flags={flags} tail={tail} cr={cr}",
        ],
    },
    Event {
        names: &["ext4_mballoc_discard", "ext4_mballoc_free"],
        forms: &[
            "dev {dev:dev} inode {ino:u64} extent {result_group:u32}/{result_start:i32}/{result_len:i32} ",
            "dev={dev} ino={ino} result_start={result_start} result_group={result_group} result_len={result_len}",
        ],
    },
    Event {
        names: &["ext4_mballoc_prealloc"],
        forms: &[
            "dev {dev:dev} inode {ino:u64} orig {orig_group:u32}/{orig_start:i32}/{orig_len:i32}@{orig_logical:u32} result {result_group:u32}/{result_start:i32}/{result_len:i32}@{result_logical:u32}",
            "dev={dev} ino={ino} orig_logical={orig_logical} orig_start={orig_start} orig_group={orig_group} orig_len={orig_len} result_logical={result_logical} result_start={result_start} result_group={result_group} result_len={result_len}",
        ],
    },
    Event {
        names: &["ext4_other_inode_update_time"],
        forms: &[
            "dev {dev:dev} orig_ino {orig_ino:u64} ino {ino:u64} mode {mode:o32} uid {uid:u32} gid {gid:u32}",
        ],
    },
    Event {
        names: &["ext4_prefetch_bitmaps"],
        forms: &["dev {dev:dev} group {group:u32} next {next:u32} ios {ios:u32}"],
    },
    Event {
        names: &["ext4_read_block_bitmap_load"],
        forms: &["dev {dev:dev} group {group:u32} prefetch {prefetch:bool}"],
    },
    Event {
        names: &["ext4_read_folio", "ext4_release_folio"],
        forms: &[
            "dev {dev:dev} ino {ino:u64} folio_index {folio_index:u64}",
            "dev={dev} ino={ino} index={folio_index}",
        ],
    },
    Event {
        names: &["ext4_remove_blocks"],
        forms: &[
            "dev {dev:dev} ino {ino:u64} extent [{ee_lblk:u32}({ee_pblk:u64}), {ee_len:u32}]from {from:u32} to {to:u32} partial [pclu {pclu:u64} lblk {lblk:u32} state {state:i32}]",
            "dev={dev} ino={ino} from={from} to={to} ee_pblk={ee_pblk} ee_lblk={ee_lblk} ee_len={ee_len} pc_pclu={pclu} pc_lblk={lblk} pc_state={state}",
        ],
    },
    Event {
        names: &["ext4_request_blocks"],
        forms: &[
            "dev {dev:dev} ino {ino:u64} flags {flags:flags} len {len:u32} lblk {lblk:u32} goal {goal:u64} lleft {lleft:u32} lright {lright:u32} pleft {pleft:u64} pright {pright:u64} ",
            "dev={dev} ino={ino} len={len} logical={lblk} lleft={lleft} lright={lright} goal={goal} pleft={pleft} pright={pright} flags={flags}",
        ],
    },
    Event {
        names: &["ext4_request_inode"],
        forms: &["dev {dev:dev} dir {dir:u64} mode {mode:o32}"],
    },
    Event { names: &["ext4_shutdown"], forms: &["dev {dev:dev} flags {flags:u32}"] },
    Event {
        names: &["ext4_sync_file_enter"],
        forms: &["dev {dev:dev} ino {ino:u64} parent {parent:u64} datasync {datasync:i32} "],
    },
    Event {
        names: &["ext4_sync_file_exit", "ext4_unlink_exit"],
        forms: &["dev {dev:dev} ino {ino:u64} ret {ret:i32}"],
    },
    Event { names: &["ext4_sync_fs"], forms: &["dev {dev:dev} wait {wait:i32}"] },
    Event {
        names: &["ext4_trim_all_free", "ext4_trim_extent"],
        forms: &["dev {dev:dev} group {group:u32}, start {start:i32}, len {len:i32}"],
    },
    Event {
        names: &["ext4_truncate_enter", "ext4_truncate_exit"],
        forms: &["dev {dev:dev} ino {ino:u64} blocks {blocks:u64}"],
    },
    Event {
        names: &["ext4_unlink_enter"],
        forms: &["dev {dev:dev} ino {ino:u64} size {size:i64} parent {parent:u64}"],
    },
    Event {
        names: &["ext4_update_sb"],
        forms: &["dev {dev:dev} fsblk {fsblk:u64} flags {flags:u32}"],
    },
    Event {
        names: &["ext4_writepages"],
        forms: &[
            "dev {dev:dev} ino {ino:u64} nr_to_write {nr_to_write:i64} pages_skipped {pages_skipped:i64} range_start {range_start:i64} range_end {range_end:i64} sync_mode {sync_mode:i32} for_kupdate {for_kupdate:i32} range_cyclic {range_cyclic:i32} writeback_index {writeback_index:u64}",
        ],
    },
    Event {
        names: &["ext4_writepages_result"],
        forms: &[
            "dev {dev:dev} ino {ino:u64} ret {ret:i32} pages_written {pages_written:i32} pages_skipped {pages_skipped:i64} sync_mode {sync_mode:i32} writeback_index {writeback_index:u64}",
        ],
    },
    Event {
        names: &["ext4_fsmap_low_key", "ext4_fsmap_high_key", "ext4_fsmap_mapping"],
        forms: &[
            "dev {dev:dev} keydev {keydev:dev} agno {agno:u32} bno {bno:u64} len {len:u64} owner {owner:i64}",
        ],
    },
    Event {
        names: &["ext4_getfsmap_low_key", "ext4_getfsmap_high_key", "ext4_getfsmap_mapping"],
        forms: &[
            "dev {dev:dev} keydev {keydev:dev} block {block:u64} len {len:u64} owner {owner:i64} flags {flags:x64}",
        ],
    },
    // Before folios.
    Event {
        names: &["ext4_readpage", "ext4_writepage", "ext4_releasepage"],
        forms: &["dev {dev:dev} ino {ino:u64} page_index {page_index:u64}"],
    },
    Event {
        names: &["ext4_invalidatepage", "ext4_journalled_invalidatepage"],
        forms: &[
            "dev {dev:dev} ino {ino:u64} page_index {page_index:u64} offset {offset:u32} length {length:u32}",
        ],
    },
    Event {
        names: &["ext4_da_write_pages"],
        forms: &[
            "dev {dev:dev} ino {ino:u64} first_page {first_page:u64} nr_to_write {nr_to_write:i64} sync_mode {sync_mode:i32}",
        ],
    },
];
