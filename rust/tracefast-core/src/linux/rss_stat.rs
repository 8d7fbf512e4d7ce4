//! Resident memory by kind, as the event `rss_stat` (include/trace/events/kmem.h) reports it.

use crate::text::number;

/// What pages hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pages {
    /// Pages of mapped files.
    File,
    /// Anonymous memory.
    Anonymous,
    /// Pages that were swapped out, which are not resident.
    Swap,
    /// Shared memory.
    Shared,
}

/// One event: one number of one address space has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RssStat {
    /// The address space. Linux before 5.6 does not print it.
    pub(crate) space: Option<u32>,
    /// It is the one of the task that the event is in.
    pub(crate) own: bool,
    pub(crate) pages: Pages,
    pub(crate) bytes: i64,
}

impl RssStat {
    /// Reads `mm_id=2712 curr=1 type=MM_ANONPAGES size=4096B`; Linux before 6.0 prints `member=1`.
    pub(crate) fn parse(args: &str) -> Option<Self> {
        let (mut space, mut own, mut pages, mut bytes) = (None, true, None, None);
        for word in args.split_ascii_whitespace() {
            let Some((key, value)) = word.split_once('=') else { continue };
            let integer = || {
                let (integer, digits) = number::c_integer(value.as_bytes());
                (digits > 0).then_some(integer)
            };
            match key {
                "mm_id" => space = u32::try_from(integer()?).ok(),
                "curr" => own = integer()? != 0,
                "size" => bytes = integer(),
                "type" => pages = Self::by_name(value),
                "member" => pages = Self::by_number(integer()?),
                _ => {}
            }
        }
        Some(Self { space, own, pages: pages?, bytes: bytes? })
    }

    fn by_name(word: &str) -> Option<Pages> {
        match word {
            "MM_FILEPAGES" => Some(Pages::File),
            "MM_ANONPAGES" => Some(Pages::Anonymous),
            "MM_SWAPENTS" => Some(Pages::Swap),
            "MM_SHMEMPAGES" => Some(Pages::Shared),
            _ => None,
        }
    }

    /// The numbers of `include/linux/mm_types_task.h`.
    fn by_number(member: i64) -> Option<Pages> {
        match member {
            0 => Some(Pages::File),
            1 => Some(Pages::Anonymous),
            2 => Some(Pages::Swap),
            3 => Some(Pages::Shared),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_of_all_kernels() {
        let stat = |space, own, pages, bytes| Some(RssStat { space, own, pages, bytes });
        for (args, expected) in [
            (
                "mm_id=3461 curr=1 type=MM_ANONPAGES size=8192B",
                stat(Some(3461), true, Pages::Anonymous, 8192),
            ),
            ("mm_id=3461 curr=0 member=0 size=4096B", stat(Some(3461), false, Pages::File, 4096)),
            ("mm_id=3461 curr=1 member=3 size=12288", stat(Some(3461), true, Pages::Shared, 12288)),
            (
                "mm_id=0xb9ce65f7 (-1177655817) curr=0x1 (1) member=0x1 (1) size=0x689000 (6852608)",
                stat(Some(0xb9ce_65f7), true, Pages::Anonymous, 6_852_608),
            ),
            ("member=2 size=0B", stat(None, true, Pages::Swap, 0)),
            ("mm_id=3461 curr=1 type=MM_ANONPAGES", None),
            ("mm_id=3461 curr=1 type=MM_NEW size=4096B", None),
            ("", None),
        ] {
            assert_eq!(RssStat::parse(args), expected, "{args}");
        }
    }
}
