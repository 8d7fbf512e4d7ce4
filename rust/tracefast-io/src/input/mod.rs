//! Where bytes come from: files, standard input, compressed logs, logs cut by task; and how they
//! become blocks of whole lines.

pub mod arriving;
pub mod compressed;
pub mod joined_pieces;
pub mod merge;
pub mod source;
pub mod split;
