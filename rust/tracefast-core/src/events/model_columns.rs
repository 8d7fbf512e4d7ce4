//! Columns whose values the model of the kernel has found and that any worker may write: those of a
//! row's task, and of the open files that it acts on.
//!
//! The model goes through blocks in order, one thread at a time. Many rows have the same values, so
//! it records them once: a [`TaskColumns`] is for all rows of a task until the next one of the same
//! task, a [`FileColumns`] for all rows that refer to it.

use crate::hash::HashMap;

use crate::events::file_id::file_id;
use crate::events::model_rows::is_of_task;
use crate::events::rows::{Effect, Rows};
use crate::events::schema::Column as C;
use crate::events::vocabulary::FileType;
use crate::text::string_view::unpack;

/// Columns of a task, from one row on.
#[derive(Debug, Clone, Copy)]
pub struct TaskColumns {
    /// The first row.
    pub at: u32,
    /// Key of the id as printed: see [`task_key`].
    pub task: i64,
    /// Unique in the log.
    pub id: u32,
    /// Thread group, for rows that do not print it.
    pub group: Option<i32>,
    /// Key of its name, if events give one.
    pub comm: Option<u32>,
}

/// Columns of an open file description.
#[derive(Debug, Clone, Copy)]
pub struct FileColumns {
    /// Unique in the log.
    pub number: u32,
    /// View of its name.
    pub path: Option<u128>,
    /// Identity of the file.
    pub id: Option<u64>,
    /// Key of the type.
    pub file_type: Option<u8>,
}

/// A row that shows an open file description.
#[derive(Debug, Clone, Copy)]
pub struct ShownFile {
    /// The row.
    pub row: u32,
    /// Position of the description in [`ModelColumns::descriptions`].
    pub description: u32,
}

/// The columns that are still to be written.
#[derive(Debug, Default)]
pub struct ModelColumns {
    /// The rows that `sightings` are for: those before this one.
    pub rows: usize,
    /// In the order of the rows.
    pub sightings: Vec<TaskColumns>,
    /// In any order.
    pub descriptions: Vec<FileColumns>,
    /// What goes into the columns of the first descriptor, and of the second one; each in the order
    /// of the rows.
    pub shown: [Vec<ShownFile>; 2],
}

impl ModelColumns {
    /// Clears everything.
    pub fn clear(&mut self) {
        self.rows = 0;
        self.sightings.clear();
        self.descriptions.clear();
        self.shown.iter_mut().for_each(Vec::clear);
    }

    /// Writes the columns. `text`, `side`: the buffers that the views of `rows` point into.
    pub(crate) fn write(&self, rows: &mut Rows, text: &[u8], side: &[u8]) {
        tasks(rows, self);
        self.write_files::<false>(rows, text, side);
        self.write_files::<true>(rows, text, side);
    }

    /// Writes what rows show of their first or second descriptors.
    fn write_files<const SECOND: bool>(&self, rows: &mut Rows, text: &[u8], side: &[u8]) {
        let mut unnamed = Vec::new();
        let mut columns = FileSlices::<SECOND>::of(rows);
        for shown in &self.shown[usize::from(SECOND)] {
            if let Some(description) = self.descriptions.get(shown.description as usize)
                && columns.show(shown.row as usize, description)
            {
                unnamed.push(shown.row);
            }
        }
        for row in unnamed {
            identify(rows, row as usize, SECOND, text, side);
        }
    }
}

/// The key of a task by its printed id. Rows without an id have a key of their own.
#[inline]
pub(crate) fn task_key(tid: Option<i32>) -> i64 {
    tid.map_or(i64::MIN, i64::from)
}

/// Tasks that are found without the map, by the last bits of their ids.
const NEAR: usize = 64;

/// The last sighting of each task, and those of the tasks that rows showed last.
struct Sighted<'a> {
    near: [TaskColumns; NEAR],
    /// Positions in `all`.
    known: HashMap<i64, usize>,
    all: &'a [TaskColumns],
}

impl Sighted<'_> {
    fn add(&mut self, at: usize) {
        let sighting = self.all[at];
        self.known.insert(sighting.task, at);
        self.near[sighting.task as usize % NEAR] = sighting;
    }

    /// The last sighting of the task with this key.
    #[inline]
    fn get(&mut self, key: i64) -> Option<&TaskColumns> {
        let near = &mut self.near[key as usize % NEAR];
        if near.task != key {
            *near = self.all[*self.known.get(&key)?];
        }
        Some(near)
    }
}

fn tasks(rows: &mut Rows, fill: &ModelColumns) {
    let nobody = TaskColumns { at: 0, task: i64::MAX, id: 0, group: None, comm: None };
    let all = &fill.sightings[..];
    let mut sighted = Sighted { near: [nobody; NEAR], known: HashMap::default(), all };
    let comms = all.iter().any(|sighting| sighting.comm.is_some());
    let mut from = 0;
    for (at, sighting) in all.iter().enumerate() {
        let to = (sighting.at as usize).min(fill.rows);
        if to > from {
            part(rows, from..to, &mut sighted, comms);
            from = to;
        }
        sighted.add(at);
    }
    part(rows, from..fill.rows, &mut sighted, comms);
}

/// Rows between two sightings.
fn part(rows: &mut Rows, range: std::ops::Range<usize>, sighted: &mut Sighted<'_>, comms: bool) {
    let own = &mut rows.valid[range.clone()];
    let columns = own.iter_mut().zip(&rows.tid[range.clone()]).zip(&rows.kind[range.clone()]);
    let columns = columns.zip(&mut rows.task[range.clone()]).zip(&mut rows.pid[range.clone()]);
    let comm = &mut rows.comm[range.clone()];
    let effect = &rows.effect[range];
    for (row, ((((valid, &tid), &kind), task), pid)) in columns.enumerate() {
        let named = *valid & C::Tid.bit() != 0;
        // Does not check whether the row before has the same task: where tasks alternate, the
        // processor cannot predict that branch.
        let Some(sighting) = sighted.get(task_key(named.then_some(tid))) else { continue };
        if !is_of_task(kind, named) {
            continue;
        }
        *task = sighting.id;
        let mut found = C::Task.bit();
        if *valid & C::Pid.bit() == 0
            && let Some(group) = sighting.group
        {
            *pid = group;
            found |= C::Pid.bit();
        }
        // A call that began earlier has the name that its task had then.
        if comms
            && let Some(key) = sighting.comm
            && !effect[row].begun
        {
            comm[row] = key;
            found |= C::Comm.bit();
        }
        *valid |= found;
    }
}

/// The columns of a block that show what its first or second descriptors refer to, as slices of one
/// length: that the row is inside of one is then checked once for all.
struct FileSlices<'a, const SECOND: bool> {
    valid: &'a mut [u64],
    effect: &'a mut [Effect],
    number: &'a mut [u32],
    path: &'a mut [u128],
    file: &'a mut [u64],
    file_type: &'a mut [u8],
}

impl<'a, const SECOND: bool> FileSlices<'a, SECOND> {
    #[inline(always)]
    fn of(rows: &'a mut Rows) -> Self {
        let len = rows.len;
        let (number, path, file) = if SECOND {
            (&mut rows.ofd2, &mut rows.path2, &mut rows.file2)
        } else {
            (&mut rows.ofd, &mut rows.path, &mut rows.file)
        };
        Self {
            valid: &mut rows.valid[..len],
            effect: &mut rows.effect[..len],
            number: &mut number[..len],
            path: &mut path[..len],
            file: &mut file[..len],
            file_type: &mut rows.file_type[..len],
        }
    }

    /// See [`show`].
    #[inline(always)]
    fn show(&mut self, row: usize, description: &FileColumns) -> bool {
        if row >= self.valid.len() {
            return false;
        }
        let (path_bit, file_bit, ofd_bit) = if SECOND {
            (C::Path2.bit(), C::File2.bit(), C::Ofd2.bit())
        } else {
            (C::Path.bit(), C::File.bit(), C::Ofd.bit())
        };
        let before = self.valid[row];
        let mut valid = before | ofd_bit;
        self.number[row] = description.number;
        if !SECOND && let Some(known) = description.file_type {
            let said = (before & C::FileType.bit() != 0).then(|| self.file_type[row]);
            if said.is_none_or(|said| said != known) {
                let settled = FileType::settled(Some(known), said);
                self.file_type[row] = settled.unwrap_or(known);
                valid |= C::FileType.bit();
            }
        }
        if let Some(path) = description.path {
            self.path[row] = path;
            valid |= path_bit;
        } else if before & path_bit != 0 {
            self.valid[row] = valid;
            return true;
        }
        if let Some(id) = description.id {
            self.file[row] = id;
            valid |= file_bit;
        } else if SECOND {
            self.effect[row].identify2 = false;
        } else {
            self.effect[row].identify = false;
        }
        self.valid[row] = valid;
        false
    }
}

/// Writes path, identity, type and number of a description into a row. To do so again changes
/// nothing. Returns whether the row keeps a name that only its annotation gives.
pub(crate) fn show(rows: &mut Rows, row: usize, description: &FileColumns, second: bool) -> bool {
    if second {
        FileSlices::<true>::of(rows).show(row, description)
    } else {
        FileSlices::<false>::of(rows).show(row, description)
    }
}

/// Writes the identity of a file that only an annotation names.
pub(crate) fn identify(rows: &mut Rows, row: usize, second: bool, text: &[u8], side: &[u8]) {
    let effect = &rows.effect[row];
    if second {
        if effect.identify2 && !rows.has(row, C::File2) {
            rows.file2[row] = file_id(unpack(&rows.path2[row], text, side));
            rows.valid[row] |= C::File2.bit();
        }
    } else if effect.identify && !rows.has(row, C::File) {
        rows.file[row] = file_id(unpack(&rows.path[row], text, side));
        rows.valid[row] |= C::File.bit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::vocabulary::EventKind;

    fn row(rows: &mut Rows, tid: i32, kind: EventKind) -> usize {
        let row = rows.push();
        rows.kind[row] = kind as u8;
        rows.tid[row] = tid;
        rows.valid[row] = C::Tid.bit() | C::Kind.bit();
        row
    }

    #[test]
    fn a_sighting_holds_until_the_next_of_its_task() {
        let (mut rows, mut fill) = (Rows::default(), ModelColumns::default());
        rows.reset(8);
        // Ids that meet in the same place.
        for tid in [7, 7 + NEAR as i32, 7, 7, 7 + NEAR as i32] {
            row(&mut rows, tid, EventKind::Syscall);
        }
        row(&mut rows, 7, EventKind::Unparsed);
        let sighting = |at, tid: i32, id, group| TaskColumns {
            at,
            task: i64::from(tid),
            id,
            group: Some(group),
            comm: None,
        };
        fill.rows = 6;
        fill.sightings =
            vec![sighting(0, 7, 10, 7), sighting(1, 7 + NEAR as i32, 11, 7), sighting(3, 7, 12, 9)];
        fill.write(&mut rows, b"", b"");
        assert_eq!(rows.task[..5], [10, 11, 10, 12, 11]);
        assert_eq!(rows.pid[..5], [7, 7, 7, 9, 7]);
        assert!(!rows.has(5, C::Task) && !rows.has(5, C::Pid));
    }

    #[test]
    fn a_printed_group_stays_and_so_does_the_name_of_a_call_that_began_earlier() {
        let (mut rows, mut fill) = (Rows::default(), ModelColumns::default());
        rows.reset(2);
        for begun in [false, true] {
            let row = row(&mut rows, 7, EventKind::Syscall);
            rows.effect[row].begun = begun;
            (rows.pid[row], rows.comm[row]) = (5, 1);
            rows.valid[row] |= C::Pid.bit() | C::Comm.bit();
        }
        fill.rows = 2;
        let (group, comm) = (Some(7), Some(2));
        fill.sightings = vec![TaskColumns { at: 0, task: 7, id: 0, group, comm }];
        fill.write(&mut rows, b"", b"");
        assert_eq!((&rows.pid[..2], &rows.comm[..2]), (&[5, 5][..], &[2, 1][..]));
    }
}
