//! What the name of a file says about what it is for.

/// What files of a name are for, where they were only read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// A shared library.
    Library,
    /// Code that an interpreter reads.
    Module,
    /// A folder of such code.
    ModuleFolder,
    /// A folder of settings, or of what the kernel says about itself.
    SettingsFolder,
    /// Settings.
    Settings,
}

/// Folders of settings: hier(7). Those of the kernel are no data of a run either.
const FOLDERS: [&str; 10] = [
    "/etc/",
    "/proc/",
    "/sys/",
    "/usr/share/locale/",
    "/usr/lib/locale/",
    "/usr/share/zoneinfo/",
    "/usr/share/terminfo/",
    "/usr/lib/terminfo/",
    "/lib/terminfo/",
    "/run/",
];

/// Parts of paths of what is installed with an interpreter: `site` in Python's documentation, hier(7).
const CODE_FOLDERS: [&str; 6] = [
    "/site-packages/",
    "/dist-packages/",
    "/lib/python3",
    "/share/perl",
    "/lib/ruby/",
    "/node_modules/",
];

const MODULES: [&str; 20] = [
    "py", "pyc", "pyo", "pyd", "pl", "pm", "rb", "lua", "luac", "js", "mjs", "cjs", "jar", "class",
    "jmod", "php", "tcl", "sh", "R", "elc",
];

const SETTINGS: [&str; 9] =
    ["conf", "cfg", "ini", "toml", "yaml", "yml", "properties", "rc", "cache"];

/// What the name of a file says; `None` if it says nothing.
pub(crate) fn meaning(path: &str) -> Option<Meaning> {
    let name = path.rsplit('/').next().unwrap_or_default();
    if FOLDERS.iter().any(|folder| path.starts_with(folder)) {
        return Some(Meaning::SettingsFolder);
    }
    if is_library(name) {
        return Some(Meaning::Library);
    }
    let suffix = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, end)| end);
    if suffix.is_some_and(|suffix| MODULES.contains(&suffix)) {
        return Some(Meaning::Module);
    }
    if CODE_FOLDERS.iter().any(|folder| path.contains(folder)) {
        return Some(Meaning::ModuleFolder);
    }
    let settings = suffix.is_some_and(|suffix| SETTINGS.contains(&suffix))
        || name == "config"
        || name.starts_with("config.")
        // Files that ls(1) does not show, in the folder of a user or a project.
        || name.starts_with('.') && name.len() > 1;
    settings.then_some(Meaning::Settings)
}

/// `libc.so`, `libc.so.6`.
fn is_library(name: &str) -> bool {
    name.strip_suffix(".so").is_some()
        || name.split_once(".so.").is_some_and(|(_, version)| {
            version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        })
}

/// Whether a name is that of memory that processes share: `shm_open`(3), `memfd_create`(2).
pub(crate) fn is_shared_memory(path: &str) -> bool {
    path.starts_with("/dev/shm/") || path.starts_with("/memfd:") || path.starts_with("/SYSV")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for (path, found) in [
            ("/etc/ld.so.cache", Some(Meaning::SettingsFolder)),
            ("/usr/lib/libc.so.6", Some(Meaning::Library)),
            ("/usr/lib/python3.11/os.py", Some(Meaning::Module)),
            ("/home/a/.gitconfig", Some(Meaning::Settings)),
            ("/srv/.git/config", Some(Meaning::Settings)),
            ("/srv/model.pth", None),
            ("/usr/lib/python3/dist-packages/a.pth", Some(Meaning::ModuleFolder)),
            ("/srv/a.so.gz", None),
            ("/srv/train.csv", None),
            ("/srv/py", None),
        ] {
            assert_eq!(meaning(path), found, "{path}");
        }
    }
}
