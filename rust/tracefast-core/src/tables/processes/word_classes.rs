//! The meaning of the names of calls for the table of processes.

use crate::linux::syscalls::{Classes, classes_of};
use crate::linux::waits;

/// The meaning of a name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Meaning {
    /// It reads data from a file, pipe or socket.
    pub(crate) reads: bool,
    /// It writes data to a file, pipe or socket.
    pub(crate) writes: bool,
    /// What its time is spent on.
    pub(crate) spent: waits::CallTime,
    /// It makes pipes or sockets.
    pub(crate) makes_stream: bool,
}

impl Meaning {
    pub(crate) fn from_name(word: &str) -> Self {
        let classes = classes_of(word.as_bytes());
        let transfers = classes.has(Classes::TRANSFERS);
        Self {
            reads: transfers || classes.has(Classes::READS.and(Classes::RECEIVES)),
            writes: transfers || classes.has(Classes::WRITES.and(Classes::SENDS)),
            spent: waits::CallTime::from_name(word),
            makes_stream: waits::makes_stream(word),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Meaning;

    #[test]
    fn calls_move_data_one_way_or_both() {
        for (name, ways) in [
            ("read", (true, false)),
            ("recvmmsg_time64", (true, false)),
            ("pwrite64", (false, true)),
            ("sendto", (false, true)),
            ("splice", (true, true)),
            ("copy_file_range", (true, true)),
            ("lseek", (false, false)),
        ] {
            let meaning = Meaning::from_name(name);
            assert_eq!((meaning.reads, meaning.writes), ways, "{name}");
        }
    }
}
