//! Lines of the `function_graph` tracer in one block. The serial stage joins entries and exits.

use crate::events::split_calls::RowPosition;

/// A line of `function_graph`.
#[derive(Debug, Clone)]
pub struct GraphLine {
    /// Where it is among the rows.
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
    /// A function that calls no other. All of its row is known except its caller.
    Leaf {
        /// The row; its arguments are the text after the name.
        row: u32,
        /// Depth: how many functions it is nested in.
        depth: u32,
        /// That text names the caller.
        called: bool,
    },
    /// A function is left.
    Exit {
        /// The row, so far with the exit only.
        row: u32,
        /// Depth: how many functions it is nested in.
        depth: u32,
        /// Bytes of the line with its line feed; 0 if another record on the line counts them.
        bytes: u64,
        /// Times are in seconds, so that their difference is the time in the function.
        seconds: bool,
    },
    /// Something else happened on the processor.
    Row {
        /// The row.
        row: u32,
    },
    /// The processor switches from one task to another.
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
    /// Depth: how many functions it is nested in.
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
    /// View of the text after its name.
    pub rest: u128,
    /// That text names the caller.
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
