//! Types of files, as far as the log has shown them.

use crate::events::schema::Column as C;
use crate::events::vocabulary::FileType;
use crate::kernel::block_rows::BlockRows;

/// How many files are remembered, at most: those with the same last bits share a place.
const PLACES: usize = 1 << 14;

/// The type of each file by its identity, which is a hash. The latest at a place is remembered.
#[derive(Debug, Default)]
pub(crate) struct Types {
    known: Vec<Option<(u64, u8)>>,
}

impl Types {
    /// The type of the file, if a row has shown it.
    #[inline]
    pub(crate) fn get(&self, id: u64) -> Option<u8> {
        let &(known, file_type) = self.known.get(id as usize % PLACES)?.as_ref()?;
        (known == id).then_some(file_type)
    }

    /// A row has shown the type of the file.
    #[inline]
    pub(crate) fn learn(&mut self, id: u64, file_type: u8) {
        if file_type == FileType::Unknown as u8 {
            return;
        }
        if self.known.is_empty() {
            self.known.resize(PLACES, None);
        }
        self.known[id as usize % PLACES] = Some((id, file_type));
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
