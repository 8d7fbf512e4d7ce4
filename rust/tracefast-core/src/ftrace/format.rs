//! What is found out about a log from its first lines, before its records are read.

use std::borrow::Cow;

use crate::ftrace::function_graph;
use crate::ftrace::header::{Clock, Header, Layout, layouts};
use crate::ftrace::non_records::classify::is_continuation;
use crate::ftrace::non_records::stacks;
use crate::ftrace::scan::trim_end;
use crate::ftrace::wrapper::{self, LineEnds, Wrap};
use crate::linux::machine::SyscallAbi;
use crate::text::block::{LINE_START, OWN_START};
use crate::text::colour;

/// What is known of an ftrace log before its records are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Format {
    /// The usual columns. Other lines are read by their own features.
    pub layout: Layout,
    /// Where the column of commands ends, the same in all records: it shows a name with line feeds.
    /// 0 if the names are not aligned.
    pub width: u8,
    /// The log has a column of thread groups.
    pub tgid: bool,
    /// Number of characters for interrupts, scheduling and preemption; 0: no such column.
    pub flags: u8,
    /// What its times count.
    pub clock: Clock,
    /// How its calls are numbered, and what their arguments hold.
    pub abi: SyscallAbi,
    /// What other programs put around its lines.
    pub wrap: Wrap,
    /// Other programs put colours around its records.
    pub coloured: bool,
    /// The length of its longest lines, if something cut them there; 0 if not. A value at the end of
    /// such a line may have lost digits.
    pub cut: u32,
    /// What other programs put at the ends of its lines.
    pub ends: LineEnds,
    /// The log has stacks, which belong to the record before them of the same processor and task.
    pub stacks: bool,
    /// The log has functions: a word alone is a function without its caller (`noprint-parent`).
    pub functions: bool,
    /// Events show when names of tasks change. Without them a name in an earlier event may have
    /// changed since, and the record's own name is as good.
    pub renames: bool,
    /// trace-cmd wrote it, not the kernel.
    pub trace_cmd: bool,
    /// Whether it has lines of the `function_graph` tracer.
    pub graph: Graph,
}

impl Format {
    /// Its name in the metadata.
    pub fn name(&self) -> &'static str {
        if self.trace_cmd { "trace-cmd" } else { "tracefs" }
    }

    /// The clock of `ts`, by its name in the metadata.
    pub fn clock(&self) -> &'static str {
        match self.clock {
            _ if self.layout == Layout::NoContext => "none",
            Clock::None => "none",
            Clock::Uptime => "uptime",
            Clock::Start => "delta",
            Clock::Ticks => "ticks",
        }
    }

    /// Nothing is around its lines.
    pub(crate) fn is_plain(&self) -> bool {
        self.wrap == Wrap::None && self.ends != LineEnds::Blanks && !self.coloured
    }

    /// The part of a line that ftrace wrote: from where to where.
    #[inline]
    pub(crate) fn own(&self, line: &[u8]) -> (usize, usize) {
        let mut end = line.len() - usize::from(line.ends_with(b"\r"));
        if self.ends == LineEnds::Blanks {
            end = trim_end(line, 0, end);
        }
        match &self.wrap {
            Wrap::None => (0, end),
            Wrap::Page => (0, wrapper::script(&line[..end]).map_or(end, <[u8]>::len)),
            Wrap::KernelLog => (wrapper::kernel_log(&line[..end]).unwrap_or(0), end),
            Wrap::Prefix(prefix) => (prefix.skip(&line[..end]).unwrap_or(0), end),
        }
    }

    /// Several lines, the first of which has nothing put around it any more, without what is put
    /// around the others.
    pub(crate) fn own_lines<'a>(&self, lines: &'a [u8]) -> Cow<'a, [u8]> {
        let plain = self.wrap == Wrap::None && self.ends == LineEnds::Own;
        if plain || memchr::memchr(b'\n', lines).is_none() {
            return Cow::Borrowed(lines);
        }
        let own = lines.split(|&b| b == b'\n').enumerate().map(|(number, line)| {
            let (start, end) = self.own(line);
            &line[if number == 0 { 0 } else { start }..end]
        });
        Cow::Owned(own.collect::<Vec<_>>().join(&b'\n'))
    }

    /// The line is a record by itself, and does not continue one from the lines before it.
    pub fn stands_alone(&self, line: &[u8]) -> bool {
        if self.coloured && memchr::memchr(0x1b, line).is_some() {
            return self.begins(&colour::stripped(line), line.len() < LINE_START);
        }
        self.begins(line, true)
    }

    /// The same without colours; `whole`: the line is not cut, unless it is long.
    #[inline]
    fn begins(&self, line: &[u8], whole: bool) -> bool {
        let (start, end) = self.own(line);
        let line = &line[start..end];
        let whole = whole && line.len() < OWN_START;
        let line = &line[..line.len().min(OWN_START)];
        if self.stacks && !stacks::is_seam(line) {
            return false;
        }
        // Only a complete line can be recognized as one of `function_graph`, and it is longer than
        // a part of a name.
        let graph = whole
            && line.len() >= usize::from(self.width)
            && function_graph::parse(line, self.graph == Graph::Bare).is_some();
        let record = || {
            !is_continuation(line)
                && layouts::parse(line, self.layout).is_some_and(|header| self.is_whole(&header))
        };
        graph || record()
    }

    /// The record's columns start on its own line: a name with line feeds ends before its column
    /// does.
    #[inline]
    pub(crate) fn is_whole(&self, header: &Header) -> bool {
        header.comm.is_none_or(|(_, end)| end >= usize::from(self.width))
    }
}

/// Lines of the `function_graph` tracer, as tracefs prints them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Graph {
    /// None were seen.
    #[default]
    No,
    /// There are some, recognized by their columns.
    Columns,
    /// The log is theirs, and they have no columns.
    Bare,
}
