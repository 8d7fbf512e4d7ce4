//! The page cache: pages that come and go, reads ahead, faults.
//!
//! Offsets are bytes where the text prints them; the fields as they are count pages instead, of a
//! size that the text does not say: these are columns of their own.

use crate::ftrace::decode::events::Event;

pub(crate) const EVENTS: &[Event] = &[
    Event {
        names: &["mm_filemap_add_to_page_cache", "mm_filemap_delete_from_page_cache"],
        forms: &[
            "dev {dev:dev} ino {ino:x64} pfn={pfn:u64} ofs={ofs:u64} order={order:u32}",
            "dev {dev} ino {ino} page={page:x64} pfn={pfn} ofs={ofs} order={order}",
            "dev {dev} ino {ino} page={page} pfn={pfn} ofs={ofs}",
            "dev {dev} ino {ino} pfn={pfn} ofs={ofs}",
            "pfn={pfn} i_ino={ino} index={index:u64} s_dev={dev} order={order}",
            "pfn={pfn} i_ino={ino} index={index} s_dev={dev}",
        ],
    },
    Event {
        names: &["mm_filemap_get_pages", "mm_filemap_map_pages"],
        forms: &[
            "dev={dev:dev} ino={ino:x64} ofs={ofs:u64}-{ofs_end:u64}",
            "i_ino={ino} s_dev={dev} index={index:u64} last_index={last_index:u64}",
        ],
    },
    Event {
        names: &["mm_filemap_fault"],
        forms: &[
            "dev={dev:dev} ino={ino:x64} ofs={ofs:u64}",
            "i_ino={ino} s_dev={dev} index={index:u64}",
        ],
    },
    Event {
        names: &["filemap_set_wb_err"],
        forms: &[
            "dev={dev:dev} ino={ino:x64} errseq={errseq:x32}",
            "i_ino={ino} s_dev={dev} errseq={errseq}",
        ],
    },
    Event {
        names: &["file_check_and_advance_wb_err"],
        forms: &[
            "file={file:x64} dev={dev:dev} ino={ino:x64} old={old:x32} new={new:x32}",
            "file={file} i_ino={ino} s_dev={dev} old={old} new={new}",
        ],
    },
    Event {
        names: &["page_cache_sync_ra", "page_cache_async_ra"],
        forms: &[
            "dev={dev:dev} ino={ino:x64} index={index:u64} req_count={req_count:u64} order={order:u32} size={size:u32} async_size={async_size:u32} ra_pages={ra_pages:u32} mmap_miss={mmap_miss:u32} prev_pos={prev_pos:i64}",
            "i_ino={ino} s_dev={dev} index={index} order={order} size={size} async_size={async_size} ra_pages={ra_pages} mmap_miss={mmap_miss} prev_pos={prev_pos} req_count={req_count}",
        ],
    },
    Event {
        names: &["page_cache_ra_order"],
        forms: &[
            "dev={dev:dev} ino={ino:x64} index={index:u64} order={order:u32} size={size:u32} async_size={async_size:u32} ra_pages={ra_pages:u32}",
            "i_ino={ino} s_dev={dev} index={index} order={order} size={size} async_size={async_size} ra_pages={ra_pages}",
        ],
    },
    Event {
        names: &["page_cache_ra_unbounded"],
        forms: &[
            "dev={dev:dev} ino={ino:x64} index={index:u64} nr_to_read={nr_to_read:u64} lookahead_size={lookahead_size:u64}",
            "i_ino={ino} s_dev={dev} index={index} nr_to_read={nr_to_read} lookahead_size={lookahead_size}",
        ],
    },
    // Phones' kernels have had it for long; mainline has not.
    Event {
        names: &["readahead"],
        forms: &[
            "dev={dev:dev} ino={ino:x64} index={index:u64} nr_to_read={nr_to_read:u64}",
            "dev {dev} ino {ino} index {index} nr_to_read {nr_to_read}",
        ],
    },
    Event {
        names: &["mm_lru_insertion"],
        forms: &[
            "folio={folio:x64} pfn={pfn:u64} lru={lru:i32} flags={flags:flags}",
            "page={folio} pfn={pfn} lru={lru} flags={flags}",
        ],
    },
    Event {
        names: &["mm_lru_activate"],
        forms: &["folio={folio:x64} pfn={pfn:u64}", "page={folio} pfn={pfn}"],
    },
];
