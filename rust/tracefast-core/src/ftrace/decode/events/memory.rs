//! Memory: pages, slabs, what processes have in core, reclaim.

use crate::ftrace::decode::events::Event;

pub(crate) const EVENTS: &[Event] = &[
    Event { names: &["kfree"], forms: &["call_site={call_site:symbol} ptr={ptr:x64}"] },
    Event {
        names: &["kmalloc", "kmalloc_node"],
        forms: &[
            "call_site={call_site:symbol} ptr={ptr:x64} bytes_req={bytes_req:u64} bytes_alloc={bytes_alloc:u64} gfp_flags={gfp_flags:flags} node={node:i32} accounted={accounted:bool}",
            "call_site={call_site} ptr={ptr} bytes_req={bytes_req} bytes_alloc={bytes_alloc} gfp_flags={gfp_flags} node={node}",
            "call_site={call_site} ptr={ptr} bytes_req={bytes_req} bytes_alloc={bytes_alloc} gfp_flags={gfp_flags}",
        ],
    },
    Event {
        names: &["kmem_cache_alloc", "kmem_cache_alloc_node"],
        forms: &[
            "call_site={call_site:symbol} ptr={ptr:x64} name={name:text} bytes_req={bytes_req:u64} bytes_alloc={bytes_alloc:u64} gfp_flags={gfp_flags:flags} node={node:i32} accounted={accounted:bool}",
            "call_site={call_site} ptr={ptr} bytes_req={bytes_req} bytes_alloc={bytes_alloc} gfp_flags={gfp_flags} node={node} accounted={accounted}",
            "call_site={call_site} ptr={ptr} bytes_req={bytes_req} bytes_alloc={bytes_alloc} gfp_flags={gfp_flags} node={node}",
            "call_site={call_site} ptr={ptr} bytes_req={bytes_req} bytes_alloc={bytes_alloc} gfp_flags={gfp_flags}",
        ],
    },
    Event {
        names: &["kmem_cache_free"],
        forms: &[
            "call_site={call_site:symbol} ptr={ptr:x64} name={name:text}",
            "call_site={call_site} ptr={ptr}",
        ],
    },
    Event {
        names: &["mm_calculate_totalreserve_pages"],
        forms: &["totalreserve_pages={totalreserve_pages:u64}"],
    },
    Event {
        names: &["mm_page_alloc"],
        forms: &[
            "page={page:x64} pfn={pfn:u64} order={order:u32} migratetype={migratetype:i32} gfp_flags={gfp_flags:flags}",
            "pfn={pfn} order={order} gfp_flags={gfp_flags} migratetype={migratetype}",
        ],
    },
    Event {
        names: &["mm_page_alloc_extfrag"],
        forms: &[
            "page={page:x64} pfn={pfn:u64} alloc_order={alloc_order:i32} fallback_order={fallback_order:i32} pageblock_order={pageblock_order:u64} alloc_migratetype={alloc_migratetype:i32} fallback_migratetype={fallback_migratetype:i32} fragmenting={fragmenting:i32} change_ownership={change_ownership:i32}",
            "pfn={pfn} alloc_order={alloc_order} fallback_order={fallback_order} alloc_migratetype={alloc_migratetype} fallback_migratetype={fallback_migratetype} change_ownership={change_ownership}",
        ],
    },
    Event {
        names: &["mm_page_alloc_zone_locked"],
        forms: &[
            "page={page:x64} pfn={pfn:u64} order={order:u32} migratetype={migratetype:i32} percpu_refill={percpu_refill:i32}",
            "pfn={pfn} order={order} migratetype={migratetype} percpu_refill={percpu_refill}",
        ],
    },
    Event {
        names: &["mm_page_free"],
        forms: &["page={page:x64} pfn={pfn:u64} order={order:u32}", "pfn={pfn} order={order}"],
    },
    Event {
        names: &["mm_page_free_batched"],
        forms: &["page={page:x64} pfn={pfn:u64} order={order:u32}", "pfn={pfn}"],
    },
    Event {
        names: &["mm_page_pcpu_drain"],
        forms: &[
            "page={page:x64} pfn={pfn:u64} order={order:u32} migratetype={migratetype:i32}",
            "pfn={pfn} order={order} migratetype={migratetype}",
        ],
    },
    Event {
        names: &["mm_setup_per_zone_lowmem_reserve"],
        forms: &[
            "node_id={node_id:i32} zone name={name:text} upper_zone name={upper_name:text} lowmem_reserve_pages={lowmem_reserve_pages:i64}",
            "node_id={node_id} name={name} upper_name={upper_name} lowmem_reserve={lowmem_reserve_pages}",
        ],
    },
    Event {
        names: &["mm_setup_per_zone_wmarks"],
        forms: &[
            "node_id={node_id:i32} zone name={name:text} watermark min={min:u64} low={low:u64} high={high:u64} promo={promo:u64}",
            "node_id={node_id} name={name} watermark_min={min} watermark_low={low} watermark_high={high} watermark_promo={promo}",
        ],
    },
    Event {
        names: &["rss_stat"],
        forms: &[
            "mm_id={mm_id:u32} curr={curr:u32} type={type:flags} size={size:i64}B",
            "mm_id={mm_id} curr={curr} member={member:i32} size={size}B",
            "mm_id={mm_id} curr={curr} member={member} size={size}",
            "member={member} size={size}B",
        ],
    },
    Event {
        names: &["mm_shrink_slab_end"],
        forms: &[
            "{shrink:symbol} {shr:x64}: nid: {nid:i32} unused scan count {unused_scan:i64} new scan count {new_scan:i64} total_scan {total_scan:i64} last shrinker return val {retval:i32}",
            "shr={shr} nid={nid} shrink={shrink} unused_scan={unused_scan} new_scan={new_scan} retval={retval} total_scan={total_scan}",
        ],
    },
    Event {
        names: &["mm_shrink_slab_start"],
        forms: &[
            "{shrink:symbol} {shr:x64}: nid: {nid:i32} objects to shrink {nr_objects_to_shrink:i64} gfp_flags {gfp_flags:flags} cache items {cache_items:i64} delta {delta:u64} total_scan {total_scan:i64} priority {priority:i32}",
            "shr={shr} nid={nid} shrink={shrink} nr_objects_to_shrink={nr_objects_to_shrink} gfp_flags={gfp_flags} cache_items={cache_items} delta={delta} total_scan={total_scan} priority={priority}",
        ],
    },
    Event {
        names: &[
            "mm_vmscan_direct_reclaim_begin",
            "mm_vmscan_memcg_reclaim_begin",
            "mm_vmscan_memcg_softlimit_reclaim_begin",
        ],
        forms: &["order={order:i32} gfp_flags={gfp_flags:flags}"],
    },
    Event {
        names: &[
            "mm_vmscan_direct_reclaim_end",
            "mm_vmscan_memcg_reclaim_end",
            "mm_vmscan_memcg_softlimit_reclaim_end",
            "mm_vmscan_node_reclaim_end",
        ],
        forms: &["nr_reclaimed={nr_reclaimed:u64}"],
    },
    Event { names: &["mm_vmscan_kswapd_sleep"], forms: &["nid={nid:i32}"] },
    Event { names: &["mm_vmscan_kswapd_wake"], forms: &["nid={nid:i32} order={order:i32}"] },
    Event {
        names: &["mm_vmscan_lru_isolate"],
        forms: &[
            "classzone={classzone:i32} order={order:i32} nr_requested={nr_requested:u64} nr_scanned={nr_scanned:u64} nr_skipped={nr_skipped:u64} nr_taken={nr_taken:u64} lru={lru:flags}",
            "highest_zoneidx={classzone} order={order} nr_requested={nr_requested} nr_scanned={nr_scanned} nr_skipped={nr_skipped} nr_taken={nr_taken} lru={lru}",
        ],
    },
    Event {
        names: &["mm_vmscan_lru_shrink_active"],
        forms: &[
            "nid={nid:i32} nr_taken={nr_taken:u64} nr_active={nr_active:u64} nr_deactivated={nr_deactivated:u64} nr_referenced={nr_referenced:u64} priority={priority:i32} flags={flags:flags}",
            "nid={nid} nr_taken={nr_taken} nr_active={nr_active} nr_deactivated={nr_deactivated} nr_referenced={nr_referenced} priority={priority} reclaim_flags={flags}",
        ],
    },
    Event {
        names: &["mm_vmscan_lru_shrink_inactive"],
        forms: &[
            "nid={nid:i32} nr_scanned={nr_scanned:u64} nr_reclaimed={nr_reclaimed:u64} nr_dirty={nr_dirty:u64} nr_writeback={nr_writeback:u64} nr_congested={nr_congested:u64} nr_immediate={nr_immediate:u64} nr_activate_anon={nr_activate_anon:u32} nr_activate_file={nr_activate_file:u32} nr_ref_keep={nr_ref_keep:u64} nr_unmap_fail={nr_unmap_fail:u64} priority={priority:i32} flags={flags:flags}",
            "nid={nid} nr_scanned={nr_scanned} nr_reclaimed={nr_reclaimed} nr_dirty={nr_dirty} nr_writeback={nr_writeback} nr_congested={nr_congested} nr_immediate={nr_immediate} nr_activate0={nr_activate_anon} nr_activate1={nr_activate_file} nr_ref_keep={nr_ref_keep} nr_unmap_fail={nr_unmap_fail} priority={priority} reclaim_flags={flags}",
        ],
    },
    Event {
        names: &["mm_vmscan_node_reclaim_begin", "mm_vmscan_wakeup_kswapd"],
        forms: &["nid={nid:i32} order={order:i32} gfp_flags={gfp_flags:flags}"],
    },
    Event {
        names: &["mm_vmscan_reclaim_pages"],
        forms: &[
            "nid={nid:i32} nr_scanned={nr_scanned:u64} nr_reclaimed={nr_reclaimed:u64} nr_dirty={nr_dirty:u64} nr_writeback={nr_writeback:u64} nr_congested={nr_congested:u64} nr_immediate={nr_immediate:u64} nr_activate_anon={nr_activate_anon:u32} nr_activate_file={nr_activate_file:u32} nr_ref_keep={nr_ref_keep:u64} nr_unmap_fail={nr_unmap_fail:u64}",
            "nid={nid} nr_scanned={nr_scanned} nr_reclaimed={nr_reclaimed} nr_dirty={nr_dirty} nr_writeback={nr_writeback} nr_congested={nr_congested} nr_immediate={nr_immediate} nr_activate0={nr_activate_anon} nr_activate1={nr_activate_file} nr_ref_keep={nr_ref_keep} nr_unmap_fail={nr_unmap_fail}",
        ],
    },
    Event {
        names: &["mm_vmscan_throttled"],
        forms: &[
            "nid={nid:i32} usec_timeout={usec_timeout:i32} usect_delayed={usect_delayed:i32} reason={reason:flags}",
            "nid={nid} usec_timeout={usec_timeout} usec_delayed={usect_delayed} reason={reason}",
        ],
    },
    Event {
        names: &["mm_vmscan_write_folio"],
        forms: &[
            "page={page:x64} pfn={pfn:u64} flags={flags:flags}",
            "pfn={pfn} reclaim_flags={flags}",
        ],
    },
    Event {
        names: &["count_memcg_events"],
        forms: &[
            "memcg_id={memcg_id:u64} item={item:i32} val={val:u64}",
            "id={memcg_id} item={item} val={val}",
        ],
    },
    Event {
        names: &["memcg_flush_stats"],
        forms: &[
            "memcg_id={memcg_id:u64} stats_updates={stats_updates:i64} force={force:bool} needs_flush={needs_flush:bool}",
            "id={memcg_id} stats_updates={stats_updates} force={force} needs_flush={needs_flush}",
        ],
    },
    Event {
        names: &["mod_memcg_lruvec_state", "mod_memcg_state"],
        forms: &[
            "memcg_id={memcg_id:u64} item={item:i32} val={val:i32}",
            "id={memcg_id} item={item} val={val}",
        ],
    },
    Event {
        names: &["percpu_alloc_percpu"],
        forms: &[
            "call_site={call_site:symbol} reserved={reserved:bool} is_atomic={is_atomic:bool} size={size:u64} align={align:u64} base_addr={base_addr:x64} off={off:i32} ptr={ptr:x64} bytes_alloc={bytes_alloc:u64} gfp_flags={gfp_flags:flags}",
        ],
    },
    Event {
        names: &["percpu_alloc_percpu_fail"],
        forms: &[
            "reserved={reserved:bool} is_atomic={is_atomic:bool} size={size:u64} align={align:u64}",
        ],
    },
    Event {
        names: &["percpu_create_chunk", "percpu_destroy_chunk"],
        forms: &["base_addr={base_addr:x64}"],
    },
    Event {
        names: &["percpu_free_percpu"],
        forms: &["base_addr={base_addr:x64} off={off:i32} ptr={ptr:x64}"],
    },
];
