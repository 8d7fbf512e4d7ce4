//! Dynamic linking: from the return of execve to the program's own first step.
//!
//! The C library's linker maps the cache of library names (`ld.so.cache`), maps the libraries,
//! protects what it has relocated, and finally unmaps the cache. Without a cache, its last step is
//! the last `mprotect` before the first call that linkers do not make.

use crate::tables::forks::arguments;
use crate::tables::forks::word_classes::Act;

/// How many mappings are remembered: the cache is among the first.
const MAPPINGS: usize = 64;

/// Finished linking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Started {
    pub(crate) ns: Option<i64>,
    pub(crate) calls: u32,
    pub(crate) libraries: u32,
    pub(crate) misses: u32,
}

/// Linking in progress.
#[derive(Debug, Default)]
pub(crate) struct Startup {
    start: Option<i64>,
    calls: u32,
    libraries: u32,
    misses: u32,
    /// Files mapped from their start: address and length.
    mapped: Vec<(i64, i64)>,
    /// The mapping of the cache, if its name is known.
    cache: Option<(i64, i64)>,
    /// The state at the last `mprotect`, which may be the end.
    protected: Option<Started>,
    /// A call that linkers do not make was seen.
    left: bool,
}

/// A call of a task that is being linked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step<'a> {
    pub(crate) act: Act,
    pub(crate) end: Option<i64>,
    pub(crate) ret: Option<i64>,
    pub(crate) missing: bool,
    pub(crate) fd: Option<i32>,
    pub(crate) offset: Option<i64>,
    pub(crate) length: Option<i64>,
    pub(crate) path: Option<&'a str>,
    pub(crate) args: Option<&'a str>,
}

impl Startup {
    /// Starts at the return of execve.
    pub(crate) fn new(start: Option<i64>) -> Self {
        Self { start, ..Self::default() }
    }

    /// Takes the next call. Returns the result if this was the end.
    pub(crate) fn step(&mut self, step: &Step<'_>) -> Option<Started> {
        self.calls = self.calls.saturating_add(1);
        self.misses = self.misses.saturating_add(u32::from(step.missing));
        self.left |= !step.act.links();
        match step.act {
            Act::Unmap if step.ret == Some(0) => {
                let range = step.args.and_then(arguments::unmapped)?;
                let whole =
                    self.cache.map_or_else(|| self.mapped.contains(&range), |cache| cache == range);
                if whole && self.libraries > 0 {
                    return Some(self.now(step.end));
                }
            }
            Act::Map if !self.left => self.map(step),
            Act::Protect if !self.left && self.libraries > 0 => {
                self.protected = Some(self.now(step.end));
            }
            _ => {}
        }
        None
    }

    fn map(&mut self, step: &Step<'_>) {
        let (Some(address), Some(fd)) = (step.ret, step.fd) else { return };
        // An address may be a negative number; errors are −1.
        if fd < 0 || address == -1 {
            return;
        }
        if step.args.is_some_and(arguments::executable) {
            self.libraries = self.libraries.saturating_add(1);
        }
        if step.offset != Some(0) {
            return;
        }
        let Some(length) = step.length else { return };
        if step.path.is_some_and(|path| path.ends_with("/ld.so.cache")) {
            self.cache = Some((address, length));
        } else if self.mapped.len() < MAPPINGS {
            self.mapped.push((address, length));
        }
    }

    /// The result if there are no more calls; None for programs that are not dynamically linked.
    pub(crate) fn finish(&self) -> Option<Started> {
        self.protected
    }

    fn now(&self, end: Option<i64>) -> Started {
        let ns = end.zip(self.start).map(|(end, start)| end.saturating_sub(start));
        Started { ns, calls: self.calls, libraries: self.libraries, misses: self.misses }
    }
}
