//! What each file of a run was for.

use crate::kernel::files::paths::is_generated;
use crate::tables::flow::file_names::{Meaning, meaning};
use crate::tables::flow::nodes::Uses;

/// What a file was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Program,
    Library,
    Module,
    Configuration,
    Input,
    Intermediate,
    Result,
    Scratch,
    Log,
}

impl Role {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Program => "program",
            Self::Library => "library",
            Self::Module => "module",
            Self::Configuration => "configuration",
            Self::Input => "input",
            Self::Intermediate => "intermediate",
            Self::Result => "result",
            Self::Scratch => "scratch",
            Self::Log => "log",
        }
    }
}

/// The role of a file, and what decided it. None of a file that was neither read nor written.
pub(crate) fn role(uses: &Uses, path: &str) -> Option<(Role, &'static str)> {
    // Whatever its name: who writes a program or settings makes data.
    if uses.written {
        // As trace_marker, or what a cgroup may use: the kernel keeps no data there.
        if is_generated(path.as_bytes()) {
            return Some((Role::Configuration, "folder"));
        }
        return Some(match () {
            () if uses.read_after => (Role::Intermediate, "read-after"),
            () if uses.removed => (Role::Scratch, "removed"),
            () if uses.appends && !uses.overwrites => (Role::Log, "appended"),
            () => (Role::Result, "written"),
        });
    }
    if uses.executed {
        return Some((Role::Program, "exec"));
    }
    if uses.code {
        return Some((Role::Library, "map"));
    }
    if !uses.read {
        return None;
    }
    Some(match meaning(path) {
        Some(Meaning::Library) => (Role::Library, "name"),
        Some(Meaning::Module) => (Role::Module, "name"),
        Some(Meaning::ModuleFolder) => (Role::Module, "folder"),
        Some(Meaning::Settings) => (Role::Configuration, "name"),
        Some(Meaning::SettingsFolder) => (Role::Configuration, "folder"),
        None => (Role::Input, "read"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_done_decides_before_the_name() {
        let mut uses = Uses::default();
        assert_eq!(role(&uses, "/a.py"), None);
        uses.read(Some(1), Some(1));
        assert_eq!(role(&uses, "/a.py"), Some((Role::Module, "name")));
        assert_eq!(role(&uses, "/a.csv"), Some((Role::Input, "read")));
        uses.write(Some(2), Some(5));
        assert_eq!(role(&uses, "/a.py"), Some((Role::Result, "written")));
        // What it reads back through the same description is for nobody else.
        uses.read(Some(2), Some(6));
        assert_eq!(role(&uses, "/a.py"), Some((Role::Result, "written")));
        uses.removed = true;
        assert_eq!(role(&uses, "/a.py"), Some((Role::Scratch, "removed")));
        uses.read(Some(3), Some(7));
        assert_eq!(role(&uses, "/a.py"), Some((Role::Intermediate, "read-after")));
        assert_eq!(uses.ts_read_after.get(), Some(7));
        uses.write(Some(2), Some(9));
        uses.appends = true;
        assert_eq!(role(&uses, "/a.py"), Some((Role::Log, "appended")));
        let marker = "/sys/kernel/tracing/trace_marker";
        assert_eq!(role(&uses, marker), Some((Role::Configuration, "folder")));
    }
}
