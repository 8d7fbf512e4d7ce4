//! Columns that come from the arguments of a call: descriptors, paths, counts, offsets, sizes.
//!
//! They are the columns that strace's text of the same call would fill, as far as ftrace's text
//! allows: it has the addresses of structures and vectors, not their contents.

mod effects;
mod memory;
mod paths;

use std::sync::LazyLock;

use paths::EmptyPath;

use crate::events::rows::ViewSource;
use crate::events::rows::{Rows, Side};
use crate::events::schema::Column as C;
use crate::events::split_calls::EntryEffect;
use crate::events::vocabulary::{At, Motion, Op};
use crate::ftrace::call::arguments::{ArgumentForm, ArgumentText, MAX_ARGS, SplitArguments};
use crate::linux::machine::register_pairs::{self, RegisterPlace, WideArguments};
use crate::linux::machine::{Machine, SyscallAbi};
use crate::linux::syscalls::{self, Count, NONE, Shape, Special};

/// The position of the offset of mmap2, which counts pages.
const PAGES_AT: u8 = 5;
const PAGE: i64 = 4096;

/// Which arguments of a call its columns need, computed once.
struct FieldPlan {
    /// Highest position that its columns need; `None`: they need none.
    upto: Option<usize>,
    /// The position of the count of bytes.
    count: u8,
    /// How an empty path shows.
    empty: EmptyPath,
}

/// By number of the call; `None` where nothing is known of the arguments.
static PLANS: LazyLock<Box<[Option<FieldPlan>]>> = LazyLock::new(|| {
    let known = |&sys: &u16| !syscalls::shape(sys).is_empty();
    (0..syscalls::count() as u16).map(|sys| Some(sys).filter(known).map(FieldPlan::new)).collect()
});

impl FieldPlan {
    fn new(sys: u16) -> Self {
        let shape = syscalls::shape(sys);
        let count = match shape.count {
            Count::Arg(at) => at,
            // The kernel's argument, whatever text precedes it.
            Count::Last | Count::LastButOne => 2,
            // The text has the address of a vector, not its contents.
            _ => NONE,
        };
        let empty = EmptyPath::from_call(syscalls::name(sys));
        let whole = shape.special != Special::None || empty != EmptyPath::Never;
        let highest = [
            shape.fd,
            shape.fd2,
            shape.path,
            shape.path2,
            shape.at2,
            shape.offset,
            shape.offset2,
            shape.flags,
            shape.length,
            count,
        ]
        .into_iter()
        .filter(|&at| at != NONE)
        .max();
        let upto = if whole { Some(MAX_ARGS) } else { highest.map(usize::from) };
        Self { upto, count, empty }
    }

    #[inline]
    fn split_into(
        &self,
        split: &mut SplitArguments,
        args: &ArgumentText<'_>,
        shape: &Shape,
        sys: u16,
        abi: &SyscallAbi,
    ) {
        // Where registers are narrow, two of them may hold a value.
        let upto = if abi.narrow { Some(MAX_ARGS) } else { self.upto };
        match upto {
            Some(upto) => args.split_into(split, upto, shape.path == NONE),
            None => *split = SplitArguments::default(),
        }
        if abi.narrow && is_indirect(split, sys, abi) {
            *split = SplitArguments::default();
        }
    }

    /// The same, kept for the end of the call.
    #[inline]
    fn keep<'a>(
        &self,
        args: &ArgumentText<'_>,
        shape: &Shape,
        sys: u16,
        abi: &SyscallAbi,
        kept: &'a mut KeptArguments,
    ) -> &'a SplitArguments {
        kept.from = args.from() as u32;
        self.split_into(&mut kept.split, args, shape, sys, abi);
        &kept.split
    }
}

/// The first register of i386's old mmap has only the address of its arguments.
#[cold]
fn is_indirect(split: &SplitArguments, sys: u16, abi: &SyscallAbi) -> bool {
    split.form() == ArgumentForm::Raw
        && abi.machine == Some(Machine::I386)
        && syscalls::name(sys) == "mmap"
}

/// Arguments of a call that were split when it was entered, for its end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeptArguments {
    /// Where they start in the block.
    pub(crate) from: u32,
    /// All that the call's columns need of them.
    pub(crate) split: SplitArguments,
}

impl KeptArguments {
    /// No arguments start there.
    pub(crate) fn none() -> Self {
        Self { from: u32::MAX, split: SplitArguments::default() }
    }
}

/// What the arguments show before the call returns; see [`EntryEffect`].
pub fn head(text: &[u8], sys: u16, abi: &SyscallAbi) -> EntryEffect {
    head_of(&ArgumentText::alone(text), sys, abi, &mut KeptArguments::none())
}

/// The same; if it takes all that the columns of the call need, that is put into `kept`.
#[inline]
pub(crate) fn head_of(
    args: &ArgumentText<'_>,
    sys: u16,
    abi: &SyscallAbi,
    kept: &mut KeptArguments,
) -> EntryEffect {
    let text = args.bytes();
    let shape = syscalls::shape(sys);
    let mut head = EntryEffect { op: shape.op, motion: shape.motion, ..EntryEffect::default() };
    if shape.special == Special::Fallocate {
        head.op = Op::Allocate;
    }
    let Some(Some(plan)) = PLANS.get(usize::from(sys)) else { return head };
    match shape.op {
        Op::Fork => head.flags = effects::fork_flags(text, sys),
        Op::Open => head.flags = effects::cuts(plan.keep(args, shape, sys, abi, kept), text, shape),
        Op::CloseRange => {
            let split = args.split(2, true);
            head.fd = descriptor(&split, text, 0);
            head.fd2 = descriptor(&split, text, 1).filter(|&last| last >= 0);
            head.flags = effects::range_flags(&split, text);
        }
        op if op.uses() || matches!(op, Op::Close | Op::Dup | Op::Fchdir) => {
            let last = [shape.fd, shape.fd2].into_iter().filter(|&at| at != NONE).max();
            // Whether the call has an offset of its own decides what it moves.
            let offsets = shape.motion == Motion::Copy || shape.special == Special::Current;
            let part;
            let split = match last {
                // A path may end elsewhere than data.
                Some(last) if !abi.narrow && !offsets && shape.path != NONE => {
                    part = args.split(usize::from(last), true);
                    &part
                }
                _ => plan.keep(args, shape, sys, abi, kept),
            };
            head.fd = descriptor(split, text, shape.fd);
            head.fd2 = descriptor(split, text, shape.fd2);
            let int = |at| split.number(text, at).map(|number| number as u32);
            if shape.special == Special::Ioctl && int(1).is_some_and(syscalls::flags::resizes) {
                head.op = Op::Allocate;
            }
            if shape.special == Special::RingEnter {
                let enter = effects::ring_enter(split, text);
                if let Some(asks) = enter.asks() {
                    (head.op, head.flags) = (Op::Submit, asks);
                }
                head.fd = head.fd.filter(|_| !enter.by_index());
            }
            if shape.motion != Motion::None {
                let (place, place2) = places(split, text, sys, abi);
                let second = shape.fd2 != NONE && place2 == At::Position;
                head.moves = (place == At::Position, second);
            }
        }
        op if (op.names() || op == Op::Exec) && plan.empty != EmptyPath::Never => {
            let split = plan.keep(args, shape, sys, abi, kept);
            (head.fd, head.fd2) = paths::descriptors(split, text, shape, plan.empty);
            if shape.op != Op::Exec && (head.fd.is_some() || head.fd2.is_some()) {
                head.op = Op::Use;
            }
        }
        _ => {}
    }
    head
}

/// Where each side of a call that moves data starts. If two descriptors have offsets of their own,
/// the call has the addresses of these.
#[inline]
fn places(split: &SplitArguments, text: &[u8], sys: u16, abi: &SyscallAbi) -> (At, At) {
    let shape = syscalls::shape(sys);
    if shape.streams {
        return (At::Stream, At::Stream);
    }
    let pointer = |at| match split.number(text, at) {
        None | Some(0) => At::Position,
        Some(_) => At::Elsewhere,
    };
    if shape.fd2 != NONE {
        return (pointer(shape.offset), pointer(shape.offset2));
    }
    if shape.offset == NONE {
        return (At::Position, At::Position);
    }
    let offset = if abi.narrow {
        let offset = wide(split, sys, abi).and_then(|wide| wide.offset);
        offset.and_then(|place| wide_number(split, text, place))
    } else {
        split.number(text, shape.offset)
    };
    let place = match offset {
        Some(0..) => At::Given,
        None | Some(-1) if shape.special == Special::Current => At::Position,
        _ => At::Elsewhere,
    };
    (place, At::Position)
}

/// Where registers of 32 bits hold the numbers of a call that has wide ones.
fn wide(split: &SplitArguments, sys: u16, abi: &SyscallAbi) -> Option<WideArguments> {
    let name = syscalls::name(sys);
    let machine = match (split.form(), register_pairs::wide_arguments(Machine::I386, name)) {
        (ArgumentForm::Raw, _) => abi.machine.unwrap_or(Machine::I386),
        // By name x86 shows every register.
        (_, Some(all)) if split.len() >= all.registers => Machine::I386,
        // ARM only as many as the call has arguments.
        _ => Machine::Arm,
    };
    register_pairs::wide_arguments(machine, name)
}

/// A number out of registers of 32 bits.
fn wide_number(split: &SplitArguments, text: &[u8], place: RegisterPlace) -> Option<i64> {
    let register = |at| split.number(text, at).map(|value| value as u32);
    match place {
        RegisterPlace::One(at) => register(at).map(i64::from),
        RegisterPlace::Two(low, high) => {
            Some(i64::from(register(high)? as i32) << 32 | i64::from(register(low)?))
        }
    }
}

/// Descriptors are 32 bits wide in a register of 64.
#[inline]
fn descriptor(split: &SplitArguments, text: &[u8], at: u8) -> Option<i32> {
    split.number(text, at).map(|fd| fd as i32)
}

/// What the columns of a call are filled from.
#[derive(Clone, Copy)]
pub(crate) struct CallText<'a> {
    /// Its number.
    pub(crate) sys: u16,
    /// The text of its arguments.
    pub(crate) source: ViewSource<'a>,
    /// The same, to be split or split already.
    pub(crate) given: GivenArguments<'a>,
    /// The return value, if it succeeded.
    pub(crate) ret: Option<i64>,
}

/// Fills the columns that the arguments of a call give.
#[inline]
pub(crate) fn fill(
    rows: &mut Rows,
    side: &mut Side,
    row: usize,
    call: CallText<'_>,
    abi: &SyscallAbi,
) {
    let CallText { sys, source, given, ret } = call;
    let Some(Some(plan)) = PLANS.get(usize::from(sys)) else { return };
    let shape = syscalls::shape(sys);
    rows.effect[row].op = shape.op;
    rows.effect[row].motion = shape.motion;
    if shape.streams {
        (rows.effect[row].place, rows.effect[row].place2) = (At::Stream, At::Stream);
    }
    let mut made;
    let split = match given {
        GivenArguments::Split(split) => split,
        GivenArguments::Args(args) => {
            made = SplitArguments::default();
            plan.split_into(&mut made, &args, shape, sys, abi);
            &made
        }
    };
    let mut out = FieldWriter { rows, side, row, source, split, shape, plan, sys, abi };
    out.descriptors();
    out.counts(ret);
    if shape.motion != Motion::None {
        out.places();
    }
    if shape.path != NONE {
        out.paths();
    }
    if shape.makes_fd {
        out.made(ret);
    }
    out.effects(ret);
}

/// Arguments for their columns.
#[derive(Clone, Copy)]
pub(crate) enum GivenArguments<'a> {
    /// They are still to be split.
    Args(ArgumentText<'a>),
    /// They were when the call was entered.
    Split(&'a SplitArguments),
}

/// The row that is filled, and what it is filled from.
struct FieldWriter<'a> {
    rows: &'a mut Rows,
    side: &'a mut Side,
    row: usize,
    source: ViewSource<'a>,
    split: &'a SplitArguments,
    shape: &'static Shape,
    plan: &'static FieldPlan,
    sys: u16,
    abi: &'a SyscallAbi,
}

impl FieldWriter<'_> {
    #[inline]
    fn set(&mut self, column: C) {
        self.rows.valid[self.row] |= column.bit();
    }

    #[inline]
    fn number(&self, at: u8) -> Option<i64> {
        self.split.number(self.source.bytes, at)
    }

    /// An argument that the kernel takes as an `int`: the upper half of its register is nothing.
    #[inline]
    fn int(&self, at: u8) -> Option<u32> {
        self.number(at).map(|value| value as u32)
    }

    fn fd(&mut self, fd: Option<i32>) {
        if let Some(fd) = fd {
            self.rows.fd[self.row] = fd;
            self.set(C::Fd);
        }
    }

    fn fd2(&mut self, fd: Option<i32>) {
        if let Some(fd) = fd {
            self.rows.fd2[self.row] = fd;
            self.set(C::Fd2);
        }
    }

    #[inline]
    fn descriptors(&mut self) {
        let fd = descriptor(self.split, self.source.bytes, self.shape.fd);
        let fd2 = descriptor(self.split, self.source.bytes, self.shape.fd2);
        self.fd(fd);
        self.fd2(fd2);
    }

    #[inline]
    fn counts(&mut self, ret: Option<i64>) {
        let shape = self.shape;
        if self.abi.narrow {
            self.wide_counts(ret);
        } else {
            self.requested(self.number(self.plan.count));
            // Calls on two descriptors take the address of an offset, which is not in the text.
            if shape.fd2 == NONE {
                self.offset(self.number(shape.offset));
            }
            if shape.length != NONE && ret == Some(0) {
                self.size(self.number(shape.length));
            }
        }
        if shape.moves {
            self.bytes(ret);
        }
    }

    #[inline]
    fn requested(&mut self, count: Option<i64>) {
        if let Some(count) = count.filter(|&n| n >= 0) {
            self.rows.requested[self.row] = count;
            self.set(C::Requested);
        }
    }

    /// −1 means the description's own offset (preadv2(2)), which is not in the text.
    #[inline]
    fn offset(&mut self, offset: Option<i64>) {
        if let Some(offset) = offset.filter(|&n| n >= 0) {
            self.rows.offset[self.row] = offset;
            self.set(C::Offset);
        }
    }

    fn size(&mut self, size: Option<i64>) {
        if let Some(size) = size.filter(|&n| n >= 0) {
            self.rows.size[self.row] = size;
            self.set(C::Size);
        }
    }

    #[inline]
    fn bytes(&mut self, bytes: Option<i64>) {
        if let Some(bytes) = bytes.filter(|&n| n >= 0) {
            self.rows.bytes[self.row] = bytes;
            self.set(C::Bytes);
        }
    }

    /// Counts where registers have 32 bits.
    #[cold]
    fn wide_counts(&mut self, ret: Option<i64>) {
        let shape = self.shape;
        let name = syscalls::name(self.sys);
        let place = |at: u8| (at != NONE).then_some(RegisterPlace::One(at));
        let wide = wide(self.split, self.sys, self.abi).unwrap_or_else(|| WideArguments {
            offset: place(shape.offset),
            count: place(self.plan.count),
            length: place(shape.length),
            registers: 0,
        });
        self.requested(self.at(wide.count));
        if shape.fd2 == NONE {
            let offset = self.at(wide.offset);
            let pages = shape.offset == PAGES_AT && name == "mmap2";
            self.offset(if pages { offset.and_then(|n| n.checked_mul(PAGE)) } else { offset });
        }
        if ret == Some(0) {
            self.size(self.at(wide.length));
        }
    }

    fn at(&self, place: Option<RegisterPlace>) -> Option<i64> {
        wide_number(self.split, self.source.bytes, place?)
    }

    #[inline]
    fn places(&mut self) {
        let (place, place2) = places(self.split, self.source.bytes, self.sys, self.abi);
        let effect = &mut self.rows.effect[self.row];
        (effect.place, effect.place2) = (place, place2);
    }

    /// A descriptor that the call returns.
    fn made(&mut self, ret: Option<i64>) {
        let fd = ret.and_then(|fd| i32::try_from(fd).ok()).filter(|&fd| fd >= 0);
        if self.shape.op == Op::Dup {
            self.fd2(fd);
        } else {
            self.fd(fd);
        }
    }
}
