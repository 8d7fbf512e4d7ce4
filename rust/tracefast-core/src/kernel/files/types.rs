//! Types of files, as far as the log has shown them.

use std::collections::VecDeque;

use crate::events::schema::Column as C;
use crate::events::vocabulary::FileType;
use crate::hash::HashMap;
use crate::kernel::block_rows::BlockRows;

/// How many files are remembered.
const REMEMBERED: usize = 1 << 16;

/// The type of each file by its identity, the oldest first forgotten.
#[derive(Debug, Default)]
pub(crate) struct Types {
    known: HashMap<u64, u8>,
    order: VecDeque<u64>,
}

impl Types {
    /// The type of the file, if a row has shown it.
    #[inline]
    pub(crate) fn get(&self, id: u64) -> Option<u8> {
        self.known.get(&id).copied()
    }

    /// A row has shown the type of the file.
    #[inline]
    pub(crate) fn learn(&mut self, id: u64, file_type: u8) {
        if file_type == FileType::Unknown as u8 {
            return;
        }
        if self.known.insert(id, file_type).is_none() {
            self.order.push_back(id);
            if self.order.len() > REMEMBERED
                && let Some(oldest) = self.order.pop_front()
            {
                self.known.remove(&oldest);
            }
        }
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
