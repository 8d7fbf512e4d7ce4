//! Calls on FIFOs by their names: who opens which side, and who waits for that.

use crate::tables::waits::calls::Waiting;
use crate::tables::waits::changes::made;
use crate::tables::waits::fold::{At, Columns, Waits};
use crate::tables::waits::wait::On;
use crate::tables::waits::word_classes::Holds;
use crate::tables::waits::world::descriptors::Ofd;
use crate::tables::waits::world::tasks::Target;

impl Waits {
    /// mknod(2), by which mkfifo(3) makes a FIFO.
    pub(super) fn makes_node(&mut self, columns: &mut Columns<'_>, at: &At<'_>) {
        if !at.args.contains("S_IFIFO") {
            return;
        }
        let Some(file) = columns.1.file.get(at.row) else { return };
        let name = columns.0.path.get(at.row).unwrap_or_default();
        self.world.ends.is_fifo((at.source, file), name, at.line);
    }

    /// The sides of the FIFO that a call opens.
    fn sides_of(&mut self, columns: &mut Columns<'_>, at: &At<'_>) -> Option<(Ofd, Ofd)> {
        let pipe = columns.1.holds.get(at.row, Holds::from_file_type) == Some(Holds::Pipe);
        if !pipe && !self.world.ends.has_fifos() {
            return None;
        }
        let file = (at.source, columns.1.file.get(at.row)?);
        let path = columns.0.path.get(at.row)?;
        // What is opened by its name in /proc or /dev may be a pipe.
        if pipe && !["/proc/", "/dev/"].iter().any(|folder| path.starts_with(folder)) {
            return Some(self.world.ends.is_fifo(file, path, at.line));
        }
        self.world.ends.sides(file)
    }

    /// open(2) of a FIFO that returned.
    pub(super) fn opens_fifo(
        &mut self,
        columns: &mut Columns<'_>,
        at: &At<'_>,
        table: u32,
        opened: Option<(i32, Ofd)>,
    ) {
        let Some((fd, ofd)) = opened else { return };
        let Some((reads, writes)) = self.sides_of(columns, at) else { return };
        let side = if at.args.contains("O_WRONLY") { writes } else { reads };
        self.world.ends.joins_side(ofd, side, at.line);
        self.world.tables.insert(table, fd, made(at, ofd));
        if let Some(end) = self.world.ends.get_mut(ofd) {
            end.nonblocking = at.args.contains("O_NONBLOCK");
        }
        if at.args.contains("O_RDWR") {
            // It is on both sides.
            for side in [reads, writes] {
                if let Some(end) = self.world.ends.get_mut(side) {
                    end.unsure = true;
                }
            }
        }
        for side in if at.args.contains("O_RDWR") { [reads, writes] } else { [side, side] } {
            if let Some(end) = self.world.ends.get_mut(side)
                && let Some(fifo) = end.fifo.as_deref_mut()
            {
                fifo.opened.push(at.as_act());
            }
            self.late.opened(&mut self.rows, side, at.as_act());
        }
    }

    /// open(2) of a FIFO waits until somebody opens the other side.
    pub(super) fn waits_for_side(
        &mut self,
        columns: &mut Columns<'_>,
        at: &At<'_>,
    ) -> Option<Waiting> {
        let (reads, writes) = self.sides_of(columns, at)?;
        if at.args.contains("O_RDWR") || at.args.contains("O_NONBLOCK") {
            return None;
        }
        let other = if at.args.contains("O_WRONLY") { reads } else { writes };
        let mut waiting = Waiting::new(Target::Opening(other), On::Pipe);
        waiting.object = self.name_of_end(other);
        Some(waiting)
    }
}
