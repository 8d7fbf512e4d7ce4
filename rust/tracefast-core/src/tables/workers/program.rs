//! What a program is, by the arguments with which it was started.

use std::fmt::Write;

/// What the arguments of a program say about its place in a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A worker that gets all it needs through a pipe, also what to import: `spawn_main` of
    /// `multiprocessing`, `popen_loky_posix` of loky.
    Spawned,
    /// It forks workers when its maker asks: `multiprocessing.forkserver`.
    Server,
    /// It serves the workers or their maker: `multiprocessing.resource_tracker`.
    Helper,
    /// Any other program.
    Other,
}

/// Names that show what a program of Python is, as it is started with `-c` or `-m`. strace prints
/// the first 32 characters unless told otherwise.
const KINDS: [(&str, Kind); 7] = [
    ("from multiprocessing.spawn import spawn_main", Kind::Spawned),
    ("from multiprocessing.forkserver import main", Kind::Server),
    ("from multiprocessing.resource_tracker import main", Kind::Helper),
    ("from multiprocessing.semaphore_tracker import main", Kind::Helper),
    ("joblib.externals.loky.backend.popen_loky_posix", Kind::Spawned),
    ("loky.backend.popen_loky_posix", Kind::Spawned),
    // Its trackers, whatever their names.
    ("from joblib.externals.loky.backend", Kind::Helper),
];

/// Interpreters, whose first argument that is no option is a program.
const INTERPRETERS: [&str; 10] =
    ["python", "pypy", "perl", "ruby", "node", "bash", "sh", "dash", "zsh", "java"];

/// Shells.
const SHELLS: [&str; 8] = ["sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "busybox"];

/// Whether a path is that of a shell.
pub(crate) fn is_shell(path: &str) -> bool {
    SHELLS.contains(&path.rsplit('/').next().unwrap_or_default())
}

/// Shortest part of a name that is enough, where strace cut it off.
const ENOUGH: usize = 24;

/// What a program is.
pub(crate) fn kind(args: &str) -> Kind {
    let Some((_, mut argv)) = parts(args) else { return Kind::Other };
    while let Some(option) = argv.next() {
        if matches!(option.text, "-c" | "-m") {
            return argv.next().map_or(Kind::Other, by_code);
        }
    }
    Kind::Other
}

fn by_code(code: Part<'_>) -> Kind {
    let found = KINDS.iter().find(|(name, _)| {
        code.text.starts_with(name)
            || code.cut && code.text.len() >= ENOUGH && name.starts_with(code.text)
    });
    // The trackers of loky are started as those of multiprocessing are.
    let loky = || code.text.starts_with("from loky.backend");
    found.map_or_else(|| if loky() { Kind::Helper } else { Kind::Other }, |&(_, kind)| kind)
}

/// The program and the form of its arguments: two that do the same with other files or numbers have
/// the same text.
pub(crate) fn form(path: &str, args: &str) -> String {
    let mut form = path.to_owned();
    let Some((_, argv)) = parts(args) else { return form };
    let name = path.rsplit('/').next().unwrap_or_default();
    let interprets = INTERPRETERS.iter().any(|one| name.starts_with(one));
    let mut wants_word = interprets;
    let mut code = false;
    let mut values = false;
    for part in argv.skip(1) {
        let option = part.text.strip_prefix('-').is_some_and(|rest| !rest.is_empty()) && !code;
        if option {
            let name = part.text.split(['=', ':']).next().unwrap_or_default();
            let name = name.trim_end_matches(|c: char| c.is_ascii_digit());
            _ = write!(form, " {name}");
            code = interprets && matches!(part.text, "-c" | "-m" | "-e");
            values = false;
        } else if wants_word {
            // Of code, its first word.
            let word = if code { part.text.split(' ').next() } else { Some(part.text) };
            _ = write!(form, " {}", word.unwrap_or_default());
            (wants_word, code, values) = (false, false, false);
        } else if !values {
            form.push_str(" *");
            values = true;
        }
    }
    form
}

/// A string of a vector, as strace prints it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part<'a> {
    text: &'a str,
    cut: bool,
}

/// The path of `execve`, as printed, and the strings of its vector of arguments.
fn parts(args: &str) -> Option<(&str, Strings<'_>)> {
    let (path, rest) = args.split_once(", [")?;
    Some((path, Strings(rest)))
}

/// The strings of `"a", "b"..., "c"], …`; escapes are left as they are.
#[derive(Debug, Clone)]
struct Strings<'a>(&'a str);

impl<'a> Iterator for Strings<'a> {
    type Item = Part<'a>;

    fn next(&mut self) -> Option<Part<'a>> {
        let rest = self.0.trim_start_matches([',', ' ']).strip_prefix('"')?;
        let mut escaped = false;
        let end = rest.bytes().position(|byte| {
            let ends = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            ends
        })?;
        let after = rest.get(end + 1..)?;
        let cut = after.starts_with("...");
        self.0 = after.strip_prefix("...").unwrap_or(after);
        Some(Part { text: rest.get(..end)?, cut })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_multiprocessing_are_known_by_their_arguments() {
        let python = r#""/usr/bin/python3", ["/usr/bin/python3", "-B", "-c", "#;
        for (code, expected) in [
            (r#""from multiprocessing.spawn impor"..., "--multiprocessing-fork"]"#, Kind::Spawned),
            (
                r#""from multiprocessing.spawn import spawn_main; spawn_main(tracker_fd=5)"]"#,
                Kind::Spawned,
            ),
            (r#""from multiprocessing.forkserver "...]"#, Kind::Server),
            (r#""from multiprocessing.resource_tr"...]"#, Kind::Helper),
            (r#""from joblib.externals.loky.backe"...]"#, Kind::Helper),
            (r#""from loky.backend.resource_track"...]"#, Kind::Helper),
            (r#""from multiprocessing"]"#, Kind::Other),
            (r#""from mult"...]"#, Kind::Other),
            (r#""print(\"from multiprocessing\")"]"#, Kind::Other),
        ] {
            assert_eq!(kind(&format!("{python}{code}, 0x7ffe /* 9 vars */")), expected, "{code}");
        }
        let loky = r#""/usr/bin/python3", ["python3", "-m", "joblib.externals.loky.backend.po"..., "--process-name"], 0x1"#;
        assert_eq!(kind(loky), Kind::Spawned);
        assert_eq!(kind(r#""/bin/true", ["true"], 0x1"#), Kind::Other);
        assert_eq!(kind("filename: 0x7ffe, argv: 0x7ffe"), Kind::Other);
    }

    #[test]
    fn like_arguments_have_one_form() {
        let of = |argv: &str| form("/usr/bin/gcc", &format!("\"/usr/bin/gcc\", [{argv}], 0x1"));
        let one = of(r#""gcc", "-O2", "-c", "a.c", "-o", "a.o""#);
        assert_eq!(one, of(r#""gcc", "-O3", "-c", "b \"c\".c", "-o", "b.o""#));
        assert_ne!(one, of(r#""gcc", "a.o", "b.o""#));
        assert_eq!(of(r#""gcc", "a", "b""#), of(r#""gcc", "a", "b", "c""#));
    }

    #[test]
    fn an_interpreter_runs_what_its_first_argument_names() {
        let of = |argv: &str| form("/usr/bin/python3.12", &format!("\"p\", [{argv}], 0x1"));
        let train = of(r#""python3", "-u", "train.py", "--rank=0""#);
        assert_eq!(train, of(r#""python3", "-u", "train.py", "--rank=1""#));
        assert_ne!(train, of(r#""python3", "-u", "test.py", "--rank=1""#));
        assert_eq!(of(r#""python3", "-c", "import a""#), of(r#""python3", "-c", "import b""#));
    }
}
