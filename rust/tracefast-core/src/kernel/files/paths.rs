//! Paths: makes them absolute, and finds descriptors by their names in `/proc` and `/dev`.

use crate::events::details::Detail;
use crate::events::file_id::{file_id_and_up, name_id_and_up};
use crate::events::rows::{AT_FDCWD, Effect};
use crate::events::schema::Column as C;
use crate::events::vocabulary::{Op, open_flags};
use crate::kernel::block_rows::BlockRows;
use crate::kernel::descriptors::columns::binds;
use crate::kernel::descriptors::open_file_description::DescriptionRef;
use crate::kernel::files::length::Moment;
use crate::kernel::tasks::directories::Directories;
use crate::kernel::tasks::{TaskRef, Tasks};
use xxhash_rust::xxh3::xxh3_64;

/// Whether the kernel makes up the contents of the file as they are read: sizes mean nothing there,
/// `O_APPEND` has no effect on kernfs, and most writes to proc(5) leave the position where it is.
pub(crate) fn is_generated(path: &[u8]) -> bool {
    path.starts_with(b"/proc/") && !leads_out(path) || path.starts_with(b"/sys/")
}

/// Whether that may be so for the path of a view. Most paths need no look at their text.
#[inline]
pub(crate) fn may_be_generated(view: u128) -> bool {
    let start = ((view >> 32) as u32).to_le_bytes();
    matches!(&start, b"/pro" | b"/sys")
}

/// Whether the path of a view may be one of those that [`is_generated`], [`is_of_process`],
/// [`descriptor_in_proc`] and [`is_stream_device`](crate::linux::devices::is_stream_device) look for.
#[inline]
pub(crate) fn may_be_special(view: u128) -> bool {
    let start = ((view >> 32) as u32).to_le_bytes();
    matches!(&start, b"/pro" | b"/sys" | b"/dev")
}

/// Whether a path in proc(5) leads to a file elsewhere: `/proc/7/fd/3`, `/proc/self/root/etc/passwd`.
#[cold]
fn leads_out(path: &[u8]) -> bool {
    let mut parts = path.split(|&b| b == b'/').filter(|part| !part.is_empty()).skip(2).peekable();
    while let Some(part) = parts.next() {
        let inside = parts.peek().is_some();
        match part {
            b"cwd" | b"root" | b"fd" | b"map_files" => return inside,
            b"exe" => return true,
            // A thread has files of its own.
            b"task" if inside => {
                parts.next();
            }
            _ => return false,
        }
    }
    false
}

/// Whether the path means another file in each process, or leads to one that has another name.
pub(crate) fn is_of_process(path: &[u8]) -> bool {
    path.starts_with(b"/proc/") && depends(path)
}

#[cold]
fn depends(path: &[u8]) -> bool {
    [&b"self"[..], b"thread-self", b"net", b"mounts"].iter().any(|name| {
        path[6..].strip_prefix(*name).is_some_and(|rest| matches!(rest, [] | [b'/', ..]))
    }) || leads_out(path)
}

/// The longest directory that paths are joined to, in bytes. The kernel takes paths of up to 4096
/// bytes (`PATH_MAX`), and chdir(2) step by step may lead deeper. As each row has a copy, there is
/// a limit.
pub(crate) const LONGEST: usize = 2 * 4096;

/// Makes the relative paths of a row absolute where the directory is known, and puts the task's
/// root directory before absolute ones.
#[inline]
pub(crate) fn resolve(tasks: &mut Tasks, task: TaskRef, block: &mut BlockRows<'_>, row: usize) {
    // Most rows have no such path, and all of them come by here.
    let effect = &block.rows.effect[row];
    let (relative, relative2) = (effect.relative, effect.relative2);
    if relative {
        from_directory(tasks, task, block, row, false);
    }
    if relative2 {
        from_directory(tasks, task, block, row, true);
    }
    let op = block.rows.effect[row].op;
    if !matches!(op, Op::None | Op::Use) && tasks.rooted {
        from_root(tasks, task, block, row, [relative, relative2]);
        if tasks.files.inodes.mounted() != 0 {
            from_covered(tasks, task, block, row, [relative, relative2]);
        }
    }
}

/// Makes a relative path absolute, if its directory is known.
fn from_directory(
    tasks: &mut Tasks,
    task: TaskRef,
    block: &mut BlockRows<'_>,
    row: usize,
    second: bool,
) {
    let effect = &block.rows.effect[row];
    let at = if second { effect.at2 } else { effect.at };
    let base = if at == AT_FDCWD {
        let directories = tasks.directories(task);
        if directories.lost {
            return;
        }
        let (working, entered) = (directories.working.clone(), directories.entered);
        working.map(|base| (base, entered.gone_astray(&tasks.files.inodes)))
    } else {
        tasks.descriptor(task, at).and_then(|file| tasks.files.directory(file))
    };
    let view = if second { block.rows.path2[row] } else { block.rows.path[row] };
    let base = base.filter(|(base, _)| base.len() <= LONGEST);
    let rooted = base.as_ref().is_some_and(|(base, _)| base.starts_with(b"/"));
    // A directory that was itself opened by a relative path is better than none.
    let (view, id) = match base {
        Some((base, astray)) => {
            if let Some(since) = astray {
                set_apart(block, second, since);
            }
            let joined = join(&base, block.text_of(&view));
            let effect = &mut block.rows.effect[row];
            if second {
                effect.relative2 = !rooted;
            } else {
                effect.relative = !rooted;
            }
            (block.side.put(&joined), file_id_and_up(&joined))
        }
        // Left as printed, as the log does not show where it starts. A descriptor that the log does
        // not show being opened may have stood for several directories.
        None if at != AT_FDCWD => return,
        None => (view, file_id_and_up(block.text_of(&view))),
    };
    put(block, row, second, view, id);
}

/// Puts the task's root directory before absolute paths: chroot(2). From there, and with mounts of
/// its own (`mount_namespaces(7)`), a path may lead to another file than it leads other tasks to.
#[cold]
fn from_root(
    tasks: &mut Tasks,
    task: TaskRef,
    block: &mut BlockRows<'_>,
    row: usize,
    relative: [bool; 2],
) {
    let Directories { root, rooted, mounts, .. } = tasks.directories(task).clone();
    let resolved = block.rows.effect[row].flags & open_flags::RESOLVED != 0;
    for (second, relative) in [false, true].into_iter().zip(relative) {
        if mounts != 0 {
            set_apart(block, second, mounts);
        }
        if rooted != 0 && (second || !resolved) {
            set_apart(block, second, rooted);
        }
        let Some(root) = &root else { continue };
        // The path of a descriptor is that of the task that opened it.
        let (first_fd, second_fd) = binds(block.rows.effect[row].op);
        if block.fd(row, second).is_some() && if second { second_fd } else { first_fd } {
            continue;
        }
        let Some(path) = block.path(row, second).filter(|_| !relative) else { continue };
        // An annotation shows the path from the system's root already.
        let inside = path.strip_prefix(&**root).is_some_and(|rest| matches!(rest, [] | [b'/', ..]));
        if path.starts_with(b"/") && !inside {
            let joined = join(root, &path[1..]);
            let (view, id) = (block.side.put(&joined), file_id_and_up(&joined));
            put(block, row, second, view, id);
        }
    }
}

/// Sets paths apart that start at a directory that a mount may have covered. Its annotation does not
/// show that: the path of what covers it is the same.
#[cold]
fn from_covered(
    tasks: &mut Tasks,
    task: TaskRef,
    block: &mut BlockRows<'_>,
    row: usize,
    relative: [bool; 2],
) {
    let Effect { at, at2, detail, .. } = block.rows.effect[row];
    let detail = block.side.details.get(detail as usize);
    let annotated = match detail {
        Some(Detail::Directory(view) | Detail::Numbered(_, Some(view))) => {
            Some(block.text_of(view).to_vec())
        }
        _ => None,
    };
    for (second, relative) in [false, true].into_iter().zip(relative) {
        let at = if second { at2 } else { at };
        let since = if at == AT_FDCWD {
            let Some(annotated) = &annotated else { continue };
            let starts = block.path(row, second).is_some_and(|path| path.starts_with(annotated));
            let entered = tasks.directories(task).entered;
            entered.gone_astray(&tasks.files.inodes).filter(|_| starts)
        } else {
            let file = tasks.descriptor(task, at);
            file.and_then(|file| tasks.files.directory(file)).and_then(|(_, astray)| astray)
        };
        if let Some(since) = since.filter(|_| !relative) {
            set_apart(block, second, since);
        }
    }
}

/// The path of the row starts at a directory, or is looked up by a task, that has been as it is since
/// this moment, unlike what others find by the same path.
#[cold]
fn set_apart(block: &mut BlockRows<'_>, second: bool, since: Moment) {
    let apart = &mut block.apart[usize::from(second)];
    *apart = salted(since, *apart);
}

/// A name that differs from other ones with the same text.
fn salted(name: u64, salt: u64) -> u64 {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&name.to_le_bytes());
    bytes[8..].copy_from_slice(&salt.to_le_bytes());
    xxh3_64(&bytes)
}

fn put(block: &mut BlockRows<'_>, row: usize, second: bool, view: u128, id: (u64, bool)) {
    let (id, up) = id;
    let rows = &mut *block.rows;
    let effect = &mut rows.effect[row];
    let identify = if second { &mut effect.identify2 } else { &mut effect.identify };
    *identify |= up;
    if second {
        (rows.path2[row], rows.file2[row]) = (view, id);
        rows.valid[row] |= C::Path2.bit() | C::File2.bit();
    } else {
        (rows.path[row], rows.file[row]) = (view, id);
        rows.valid[row] |= C::Path.bit() | C::File.bit();
    }
}

/// The name that the first or second path of the row has in the model, if that is one of its own,
/// because the path may lead to another file than one with the same text: with `..` after a symbolic
/// link, or from a directory that its path does not lead to any more.
#[inline]
pub(crate) fn own_name(block: &BlockRows<'_>, row: usize, second: bool) -> Option<u64> {
    let effect = &block.rows.effect[row];
    let marked = if second { effect.identify2 } else { effect.identify };
    let apart = block.apart[usize::from(second)];
    if marked || apart != 0 { made_name(block, row, second, apart) } else { None }
}

#[inline(never)]
fn made_name(block: &BlockRows<'_>, row: usize, second: bool, apart: u64) -> Option<u64> {
    let view = if second { &block.rows.path2[row] } else { &block.rows.path[row] };
    let (id, up) = name_id_and_up(block.text_of(view));
    if apart != 0 { Some(salted(id, apart)) } else { up.then_some(id) }
}

/// `base/path`; a leading `./` is left out.
pub(crate) fn join(base: &[u8], path: &[u8]) -> Vec<u8> {
    let mut path = path;
    while let Some(rest) = path.strip_prefix(b"./") {
        path = rest;
    }
    let mut out = base.to_vec();
    if path != b"." {
        if out.last() != Some(&b'/') {
            out.push(b'/');
        }
        out.extend_from_slice(path);
    }
    out
}

/// The description that a path in `/proc` or `/dev` stands for: `/proc/self/fd/3`, `/dev/stdin`.
pub(crate) fn in_proc(tasks: &mut Tasks, task: TaskRef, path: &[u8]) -> Option<DescriptionRef> {
    let (of, fd) = descriptor_in_proc(path)?;
    let task = match of {
        None => task,
        Some(number) => tasks.by_tid(tasks.number_from(task, number, false)?)?,
    };
    tasks.descriptor(task, fd)
}

/// The descriptor that a path in `/proc` or `/dev` stands for, and the id of its task, if that is
/// not the caller.
pub(crate) fn descriptor_in_proc(path: &[u8]) -> Option<(Option<i32>, i32)> {
    let (of, number) = if let Some(rest) = path.strip_prefix(b"/proc/") {
        let slash = rest.iter().position(|&b| b == b'/')?;
        let (of, rest) = rest.split_at(slash);
        let of = match of {
            b"self" | b"thread-self" => None,
            _ => Some(i32::try_from(digits(of)?).ok()?),
        };
        (of, digits(rest.strip_prefix(b"/fd/")?)?)
    } else {
        let number = match path.strip_prefix(b"/dev/")? {
            b"stdin" => 0,
            b"stdout" => 1,
            b"stderr" => 2,
            rest => digits(rest.strip_prefix(b"fd/")?)?,
        };
        (None, number)
    };
    Some((of, i32::try_from(number).ok()?))
}

fn digits(text: &[u8]) -> Option<u32> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_paths_in_proc_lead_to_other_files() {
        for path in [
            "/proc/self/fd/3",
            "/proc/7/root/etc/passwd",
            "/proc/self/task/8/cwd/x",
            "/proc/thread-self/fd/4/x",
            "/proc/7/exe",
        ] {
            assert!(!is_generated(path.as_bytes()) && is_of_process(path.as_bytes()), "{path}");
        }
        for path in ["/proc/self/status", "/proc/thread-self/fdinfo/3", "/proc/net/tcp"] {
            assert!(is_generated(path.as_bytes()) && is_of_process(path.as_bytes()), "{path}");
        }
        for path in ["/proc/7/status", "/proc/7/fd", "/proc/7/task/8/stat", "/proc/meminfo"] {
            assert!(is_generated(path.as_bytes()) && !is_of_process(path.as_bytes()), "{path}");
        }
        assert!(!is_generated(b"/process/x") && !is_of_process(b"/process/x"));
    }

    #[test]
    fn paths_are_joined() {
        assert_eq!(join(b"/a", b"./b"), b"/a/b");
        assert_eq!(join(b"/", b"b"), b"/b");
        assert_eq!(join(b"/a", b"."), b"/a");
    }
}
