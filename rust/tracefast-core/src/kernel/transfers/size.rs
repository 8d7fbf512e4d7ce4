//! Calls that show or change the size of a file.

use crate::kernel::descriptors::open_file_description::{
    DescriptionRef, OpenFileDescription, OpenFileDescriptions,
};
use crate::kernel::files::inodes::{InodeRef, Inodes, nameless};
use crate::kernel::files::length::{Appender, Change, Moment};
use crate::kernel::files::paths::is_generated;
use crate::kernel::transfers::calls_under_way::Held;
use crate::kernel::transfers::position::{Offset, Position, Stream};

/// Bytes of a page.
const PAGE: i64 = 4096;

/// A call that began at `since` has shown the size of a file. Returns the base of relative offsets,
/// if that proves it.
pub(crate) fn sized(
    files: &mut OpenFileDescriptions,
    file: DescriptionRef,
    since: Moment,
    size: i64,
) -> Option<i64> {
    let open = files.numbered(file)?;
    // Each attribute of sysfs(5) says that it has a page.
    let made_up =
        open.path.as_ref().map_or(open.inherited && size == PAGE, |path| is_generated(path));
    if made_up {
        return None;
    }
    let number = open.number();
    if open.unsure {
        files.compare_sizes(file, size, since);
    }
    let (open, inodes) = files.with_inodes(file)?;
    let (at, now) = length_of(open, inodes, number)?;
    inodes.check_other_names(at);
    let length = &mut inodes.get(at)?.length;
    let appender = length.see(size, since, now)?;
    // The size is less than what was read, so the file was cut.
    if matches!(open.streams[0], Stream::End(Offset::Exact(end)) if end > size) {
        length.was_cut(now);
    }
    inodes.compare_size(at);
    // If this description alone appended, its last write ended at the end of the file.
    match appender {
        Appender::One(of, end) if of == number => {
            Some(size.wrapping_sub(end)).filter(|&base| base >= 0 && open.prove(base))
        }
        _ => None,
    }
}

/// A call that began at `since` has changed the size of a file, or failed to.
pub(crate) fn resized(
    files: &mut OpenFileDescriptions,
    file: DescriptionRef,
    held: Option<Held>,
    since: Moment,
    change: Change,
) {
    let number = files.number(file);
    let Some((open, inodes)) = files.with_inodes(file) else { return };
    let Some((at, now)) = length_of(open, inodes, number) else { return };
    if change != Change::Nothing {
        inodes.check_other_names(at);
        inodes.changed(at, now);
    }
    if let Some(inode) = inodes.get(at) {
        let raced = inode.length.end(held.and_then(|held| held.resize), since);
        inode.length.change(change, raced, now);
        inode.length.cut_since(since);
    }
}

/// The file of a description, whose number is `number`; and a new moment.
fn length_of(
    open: &mut OpenFileDescription,
    inodes: &mut Inodes,
    number: u32,
) -> Option<(InodeRef, Moment)> {
    if open.inode.is_none() && open.position != Position::None {
        // A file without a name is known by its description.
        open.inode = Some(inodes.join(nameless(number)));
    }
    let now = inodes.tick();
    Some((open.inode?, now))
}
