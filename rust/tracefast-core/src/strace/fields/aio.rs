//! Asynchronous I/O: `io_submit`, `io_cancel`, `io_getevents`.

use crate::events::details::{AioCall, Completion, Detail, Submission};
use crate::events::schema::Column as C;
use crate::linux::syscalls::{Count, Shape, Special};
use crate::strace::arguments::Split;
use crate::strace::fields::vectors::{ByteRange, Elements, key_len, number, vector};
use crate::strace::fields::writer::{FieldWriter, fd_number};
use crate::text::number;

/// What the requests of a submission have in common.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct SubmissionSum {
    /// The descriptor, if all requests use the same one.
    pub fd: Option<i32>,
    /// Where that descriptor first appears in the text.
    pub start: Option<usize>,
    /// Sum of their lengths.
    pub requested: Option<i64>,
    /// The offset, if there is only one request.
    pub offset: Option<i64>,
}

#[derive(Debug, Default)]
struct Request {
    data: u64,
    call: Option<AioCall>,
    fd: Option<i32>,
    start: Option<usize>,
    requested: Option<i64>,
    offset: Option<i64>,
}

/// The requests in `[{aio_fildes=3, aio_nbytes=…, aio_offset=…, …}, …]`, before 4.19 `[{pread,
/// fildes=3, nbytes=…, offset=…}, …]`. `io_cancel` has one request without brackets. The last item
/// is `None` if the text leaves something out.
fn requests(text: &[u8], shape: &Shape) -> impl Iterator<Item = Option<Request>> {
    let range = argument(text, shape);
    let many = range.and_then(|range| Elements::array(text, range));
    let single = range.filter(|_| many.is_none()).map(Some);
    many.into_iter().flatten().chain(single).map(move |request| parse_request(text, request?))
}

fn argument(text: &[u8], shape: &Shape) -> Option<ByteRange> {
    let Count::Submission(position) = shape.count else { return None };
    let split = Split::new(text, usize::from(position));
    split.get(text, position)?;
    Some((split.start(position), split.end(position)))
}

/// Adds up the requests of a submission.
pub(crate) fn sum(text: &[u8], shape: &Shape) -> SubmissionSum {
    let mut all = SubmissionSum::default();
    for (n, request) in requests(text, shape).enumerate() {
        // An omitted request may concern any file.
        let Some(Request { fd, start, requested, offset, .. }) = request else {
            return SubmissionSum::default();
        };
        if n == 0 {
            all = SubmissionSum { fd, start, requested, offset };
            continue;
        }
        all.offset = None;
        if all.fd != fd {
            (all.fd, all.start) = (None, None);
        }
        all.requested = match (all.requested, requested) {
            (Some(sum), Some(more)) => sum.checked_add(more),
            (sum, more) => sum.or(more),
        };
    }
    all
}

fn parse_request(text: &[u8], range: ByteRange) -> Option<Request> {
    let mut request = Request::default();
    for field in Elements::structure(text, range)? {
        let (start, end) = field?;
        let field = &text[start..end];
        let at = key_len(field);
        let value = (start + at, end);
        let name = field[..at].strip_prefix(b"aio_").unwrap_or(&field[..at]);
        let is_vector = matches!(request.call, Some(AioCall::Preadv | AioCall::Pwritev));
        match name {
            b"data=" => request.data = number::c_integer(&field[at..]).0 as u64,
            b"lio_opcode=" => request.call = call(&field[at..]),
            b"fildes=" | b"filedes=" => {
                let (fd, n) = fd_number(&text[value.0..end]);
                request.fd = (n > 0).then_some(fd);
                request.start = (n > 0).then_some(value.0);
            }
            // For vectors this is the number of buffers.
            b"nbytes=" if !is_vector => request.requested = number(text, value),
            b"offset=" => request.offset = number(text, value),
            b"buf=" if request.requested.is_none() => request.requested = vector(text, value),
            b"" if field == b"..." => {
                // `{...}` shows no fields.
                return None;
            }
            // Up to 4.10 some fields have no names.
            b"" if request.call.is_none() => request.call = call(field),
            b"" if is_vector && field.starts_with(b"[") => request.requested = vector(text, value),
            b"" if is_vector => request.offset = number(text, value),
            _ => {}
        }
    }
    Some(request)
}

/// `IOCB_CMD_PREAD`, `0`, `0 /* IOCB_CMD_PREAD */`, before 4.19 `pread`.
fn call(text: &[u8]) -> Option<AioCall> {
    let (number, n) = number::c_integer(text);
    if n > 0 {
        return AioCall::by_number(number);
    }
    AioCall::by_name(text.strip_prefix(b"IOCB_CMD_").unwrap_or(text))
}

/// The number in `NAME=VALUE`; 0 for NULL.
fn value(text: &[u8], (start, end): ByteRange) -> i64 {
    let field = &text[start..end];
    number::c_integer(&field[key_len(field)..]).0
}

/// `{data=0x1, obj=0x7ffd, res=4096, res2=0}`.
fn completion(text: &[u8], range: ByteRange) -> Option<Completion> {
    let mut fields = Elements::structure(text, range)?.map(|field| Some(value(text, field?)));
    let mut next = || fields.next().flatten();
    Some(Completion { data: next()? as u64, object: next()? as u64, result: next()? })
}

impl FieldWriter<'_> {
    /// Writes what the requests of a submission have in common, and records the accepted ones.
    pub(crate) fn submission(&mut self, ret: Option<i64>) {
        let sum = sum(self.source.bytes, self.shape);
        if let Some(requested) = sum.requested {
            self.integer(requested, C::Requested);
        }
        if let Some(start) = sum.start {
            self.descriptor(start, false);
        } else if let Some(fd) = sum.fd {
            self.put_fd(fd, false);
        }
        if let Some(offset) = sum.offset {
            self.integer(offset, C::Offset);
        }
        let accepted = ret.and_then(|ret| usize::try_from(ret).ok()).unwrap_or(0);
        if accepted > 0 && self.shape.special == Special::Submission {
            self.submitted(accepted);
        }
    }

    fn submitted(&mut self, accepted: usize) {
        let requests = requests(self.source.bytes, self.shape).take(accepted).flatten();
        let requests =
            requests.filter_map(|Request { data, call, fd, requested, offset, .. }| {
                Some(Submission { data, call: call?, fd: fd?, offset, requested })
            });
        let requests: Vec<_> = requests.collect();
        if !requests.is_empty() {
            let detail = self.side.detail(Detail::Submitted(requests));
            self.rows.effect[self.row].detail = detail;
        }
    }

    /// Records the completions of `io_getevents(0x7f, 1, 4, [{data=0, obj=0x7ffd, res=4096,
    /// res2=0}], NULL) = 1`.
    #[cold]
    pub(crate) fn collected(&mut self, ret: Option<i64>) {
        if ret.is_none_or(|ret| ret <= 0) {
            return;
        }
        let text = self.source.bytes;
        let split = Split::new(text, 3);
        if split.len() < 4 {
            return;
        }
        let Some(events) = Elements::array(text, (split.start(3), split.end(3))) else { return };
        let events: Vec<_> = events.map_while(|event| completion(text, event?)).collect();
        if !events.is_empty() {
            let detail = self.side.detail(Detail::Collected(events));
            self.rows.effect[self.row].detail = detail;
        }
    }
}
