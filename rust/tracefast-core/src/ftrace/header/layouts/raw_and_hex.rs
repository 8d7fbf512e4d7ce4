//! Columns of bare numbers: the options `raw` and `hex`, `blk_classic`, a hypervisor's trace.

use crate::ftrace::header::numbers::{after_colon, number, timestamp};
use crate::ftrace::header::{Clock, Header, Layout};
use crate::ftrace::non_records::classify::{NonRecord, classify};
use crate::ftrace::scan::blanks;

/// `PID CPU NANOSECONDS PAYLOAD`.
pub(crate) fn raw(line: &[u8]) -> Option<Header> {
    let (pid, at) = number(line, 0)?;
    let (cpu, at) = number(line, one_blank(line, at)?)?;
    let (time, at) = number(line, one_blank(line, at)?)?;
    Some(Header {
        layout: Layout::Raw,
        pid: Some(i32::try_from(pid).ok()?),
        cpu: u16::try_from(cpu).ok(),
        time: i64::try_from(time).ok(),
        payload: one_blank(line, at)?,
        ..Header::EMPTY
    })
}

/// The same as numbers of 8, 8 and 16 hexadecimal digits.
pub(crate) fn hex(line: &[u8]) -> Option<Header> {
    let field = |start: usize, len: usize| {
        let digits = line.get(start..start + len)?;
        let value = digits
            .iter()
            .try_fold(0u64, |value, &b| Some(value << 4 | u64::from((b as char).to_digit(16)?)))?;
        (line.get(start + len) == Some(&b' ')).then_some(value)
    };
    let (pid, cpu, time) = (field(0, 8)?, field(9, 8)?, field(18, 16)?);
    Some(Header {
        layout: Layout::Hex,
        pid: Some(i32::try_from(pid).ok()?),
        cpu: u16::try_from(cpu).ok(),
        time: i64::try_from(time).ok(),
        payload: 35,
        ..Header::EMPTY
    })
}

/// `MAJOR,MINOR CPU SECONDS.NANOSECONDS PID PAYLOAD`; the payload is the whole, since the device
/// is a part of it.
pub(crate) fn classic(line: &[u8]) -> Option<Header> {
    let (_, comma) = number(line, blanks(line, 0))?;
    if line.get(comma) != Some(&b',') {
        return None;
    }
    let (_, at) = number(line, comma + 1)?;
    let (cpu, at) = number(line, blanks(line, at))?;
    let (time, clock, at) = timestamp(line, blanks(line, at))?;
    let (pid, at) = number(line, blanks(line, at))?;
    if clock != Clock::Uptime || line.get(at) != Some(&b' ') {
        return None;
    }
    Some(Header {
        layout: Layout::Classic,
        pid: Some(i32::try_from(pid).ok()?),
        cpu: u16::try_from(cpu).ok(),
        time,
        ..Header::EMPTY
    })
}

/// `[CPU]`, a tabulator, `SECONDS.MICROSECONDS: `.
pub(crate) fn remote(line: &[u8]) -> Option<Header> {
    let rest = line.strip_prefix(b"[")?;
    let (cpu, close) = number(rest, 0)?;
    if rest.get(close..close + 2) != Some(b"]\t") {
        return None;
    }
    let (time, clock, colon) = timestamp(line, blanks(line, close + 3))?;
    if line.get(colon) != Some(&b':') {
        return None;
    }
    Some(Header {
        layout: Layout::Remote,
        cpu: u16::try_from(cpu).ok(),
        time,
        clock,
        payload: after_colon(line, colon),
        ..Header::EMPTY
    })
}

/// mmiotrace (`kernel/trace/trace_mmiotrace.c`), whose lines have a time and no other columns:
/// `R 4 TIME 1 0xfee00030 …`, `W 4 TIME …`, `UNKNOWN TIME …`, `MAP TIME …`, `UNMAP TIME …`, and
/// `MARK TIME ` with a text.
pub(crate) fn mmio(line: &[u8]) -> Option<Header> {
    let word = line.iter().take(8).take_while(|b| b.is_ascii_uppercase()).count();
    let at = match &line[..word] {
        b"R" | b"W" => number(line, one_blank(line, word)?)?.1,
        b"MAP" | b"UNMAP" | b"UNKNOWN" | b"MARK" => word,
        _ => return None,
    };
    let (time, clock, end) = timestamp(line, one_blank(line, at)?)?;
    let rest = &line[one_blank(line, end)?..];
    let told = if line.starts_with(b"MARK") {
        // A note of lost events is no mark.
        !matches!(classify(line), NonRecord::Lost { .. })
    } else {
        number(rest, 0).is_some() && memchr::memmem::find(rest, b" 0x").is_some()
    };
    (clock == Clock::Uptime && told).then_some(Header {
        layout: Layout::Mmio,
        time,
        clock,
        ..Header::EMPTY
    })
}

/// The position after the blank at `at`.
fn one_blank(line: &[u8], at: usize) -> Option<usize> {
    (line.get(at) == Some(&b' ')).then_some(at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        let header = raw(b"2101 1 2881878957473 type: 839").expect("a record");
        assert_eq!(
            (header.pid, header.cpu, header.time),
            (Some(2101), Some(1), Some(2_881_878_957_473))
        );
        assert_eq!(header.payload, 21);
        let header = hex(b"00000835 00000001 0000029efd5f1da1 type: 839").expect("a record");
        assert_eq!(
            (header.pid, header.cpu, header.time),
            (Some(2101), Some(1), Some(2_881_878_957_473))
        );
        assert_eq!(header.payload, 35);
        for line in ["", "1", "1 2", "1 2 3", "1  2 3 x", "99999999999 1 2 x"] {
            assert_eq!(raw(line.as_bytes()), None, "{line}");
        }
        for line in ["", "00000835 00000001", "0000083x 00000001 0000029efd5f1da1 x"] {
            assert_eq!(hex(line.as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn classic_and_remote() {
        let line = b"254,0    0  3068.686402651 25219  Q  RA 29947752 + 16 [dd]";
        let header = classic(line).expect("a record");
        assert_eq!((header.pid, header.cpu), (Some(25219), Some(0)));
        assert_eq!((header.time, header.payload), (Some(3_068_686_402_651), 0));
        assert!(classic(b"  8,16   1     0.000000001     0  C   W 1 + 8 [0]").is_some());
        for line in ["254,0", "254,0 0 3068 1 Q", "254 0 0 3068.1 1 Q", "254,0    0  3068.6 25219"]
        {
            assert_eq!(classic(line.as_bytes()), None, "{line}");
        }
        let header = remote(b"[003]\t   12.345678: hyp_enter: id=1").expect("a record");
        assert_eq!((header.cpu, header.time), (Some(3), Some(12_345_678_000)));
        assert_eq!((header.payload, header.pid, header.comm), (20, None, None));
        for line in ["[003]   12.345678: x", "[003]\t12", "[x]\t1.0: y"] {
            assert_eq!(remote(line.as_bytes()), None, "{line}");
        }
    }
}
