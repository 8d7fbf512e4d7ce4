//! What the lines of the `function_graph` tracer did in one block. The serial stage joins entries
//! and exits.

use crate::events::split_calls::RowPosition;

/// What a line of `function_graph` did, in the order of the lines.
#[derive(Debug, Clone)]
pub struct GraphLine {
    /// Where it stands.
    pub at: RowPosition,
    /// Processor, if the line says.
    pub cpu: Option<u16>,
    /// Task, if the line says.
    pub tid: Option<i32>,
    /// What happened.
    pub step: GraphStep,
}

/// A step of a task, or of a processor. Keys and views are those of the block.
#[derive(Debug, Clone)]
pub enum GraphStep {
    /// A function is entered.
    Enter(FunctionEntry),
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
        from: SwitchedTask,
        /// To that.
        to: SwitchedTask,
    },
}

/// The entry of a function.
#[derive(Debug, Clone)]
pub struct FunctionEntry {
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
pub struct SwitchedTask {
    /// Its id.
    pub tid: i32,
    /// Key of its command's name.
    pub comm: u32,
}
