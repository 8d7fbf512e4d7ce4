//! Types of files, as far as the log has shown them.

use crate::events::schema::Column as C;
use crate::events::vocabulary::FileType;
use crate::kernel::block_rows::BlockRows;
use crate::kernel::files::nodes::Nodes;
use crate::text::scan::fetch_place;

/// How many files are remembered, at most: those with the same last bits share a place.
const PLACES: usize = 1 << 14;

/// The type of each file by its identity, which is a hash. The latest at a place is remembered.
#[derive(Debug, Default)]
pub(crate) struct Types {
    /// The identity without its last byte, which the place implies, and in that byte the type and
    /// one; 0 where nothing is known.
    known: Vec<u64>,
    /// Names that may lead to FIFOs and devices, whatever is known of the files.
    pub nodes: Nodes,
}

impl Types {
    /// The type of the file, if a row has shown it.
    #[inline]
    pub(crate) fn get(&self, id: u64) -> Option<u8> {
        let known = *self.known.get(id as usize % PLACES)?;
        (known >> 8 == id >> 8).then_some(known as u8)?.checked_sub(1)
    }

    /// The type of the file will be asked for soon.
    #[inline]
    pub(crate) fn fetch(&self, id: u64) {
        if let Some(known) = self.known.get(id as usize % PLACES) {
            fetch_place(known);
        }
    }

    /// A row has shown the type of the file.
    #[inline]
    pub(crate) fn learn(&mut self, id: u64, file_type: u8) {
        if file_type == FileType::Unknown as u8 {
            return;
        }
        if self.known.is_empty() {
            self.known.resize(PLACES, 0);
        }
        self.known[id as usize % PLACES] = id >> 8 << 8 | u64::from(file_type + 1);
    }

    /// The row acts on a file by its path, and shows the type of the file, or gets it.
    #[inline]
    pub(crate) fn of_path(&mut self, row: usize, block: &mut BlockRows<'_>) {
        let valid = block.rows.valid[row];
        let has = |column: C| valid & column.bit() != 0;
        if !has(C::File) || has(C::Errno) {
            return;
        }
        let id = block.rows.file[row];
        if has(C::FileType) {
            self.learn(id, block.rows.file_type[row]);
        } else if let Some(file_type) = self.get(id) {
            block.rows.file_type[row] = file_type;
            block.set(row, C::FileType);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_at_a_place_is_remembered() {
        let mut types = Types::default();
        assert_eq!(types.get(0), None);
        for (id, file_type) in [(0, FileType::Regular), (0xffff_ffff_ffff_ff07, FileType::Pipe)] {
            types.learn(id, FileType::Unknown as u8);
            assert_eq!(types.get(id), None);
            types.learn(id, file_type as u8);
            assert_eq!(types.get(id), Some(file_type as u8));
            assert_eq!(types.get(id ^ 1 << 40), None);
        }
        types.learn(1 << 40, FileType::Socket as u8);
        assert_eq!((types.get(0), types.get(1 << 40)), (None, Some(FileType::Socket as u8)));
    }
}
