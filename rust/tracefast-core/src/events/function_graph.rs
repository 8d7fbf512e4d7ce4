//! What the lines of the `function_graph` tracer did in one block. The serial stage joins entries
//! and exits.

use crate::events::split_calls::Spot;

/// What a line of `function_graph` did, in the order of the lines.
#[derive(Debug, Clone)]
pub struct Item {
    /// Where it stands.
    pub at: Spot,
    /// Processor, if the line says.
    pub cpu: Option<u16>,
    /// Task, if the line says.
    pub tid: Option<i32>,
    /// What happened.
    pub step: Step,
}

/// A step of a task, or of a processor. Keys and views are those of the block.
#[derive(Debug, Clone)]
pub enum Step {
    /// A function is entered.
    Enter(Entry),
    /// A function that calls no other one; all of its row but its caller is known.
    Leaf {
        /// The row; its arguments are the printed rest.
        row: u32,
        /// Functions around it.
        depth: u32,
        /// The rest names the caller.
        called: bool,
    },
    /// A function is left.
    Exit {
        /// The row, so far with what the exit says.
        row: u32,
        /// Functions around it.
        depth: u32,
        /// Bytes of the line, its line feed included; 0: another record on it counts them.
        bytes: u64,
        /// Times count seconds: their difference is the time in the function.
        seconds: bool,
    },
    /// Something else happened on the processor.
    Row {
        /// The row.
        row: u32,
    },
    /// The processor goes from one task to another.
    Switch {
        /// From this one.
        from: Party,
        /// To that.
        to: Party,
    },
}

/// The entry of a function.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Functions around it.
    pub depth: u32,
    /// Line, relative to the block.
    pub line: i64,
    /// When.
    pub ts: Option<i64>,
    /// Key of its name.
    pub name: u32,
    /// Key of the command's name.
    pub comm: Option<u32>,
    /// Thread group.
    pub pid: Option<i32>,
    /// View of what is printed behind its name.
    pub rest: u128,
    /// The rest names the caller.
    pub called: bool,
    /// View of the flags.
    pub extra: Option<u128>,
}

/// A task in a switch.
#[derive(Debug, Clone, Copy)]
pub struct Party {
    /// Its id.
    pub tid: i32,
    /// Key of its command's name.
    pub comm: u32,
}
