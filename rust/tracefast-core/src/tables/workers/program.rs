//! Which programs are the same, by the arguments with which they were started.

use std::fmt::Write;

use crate::tables::process_tracking::argv;

/// Interpreters, whose first argument that is no option is a program.
const INTERPRETERS: [&str; 10] =
    ["python", "pypy", "perl", "ruby", "node", "bash", "sh", "dash", "zsh", "java"];

/// Shells.
const SHELLS: [&str; 8] = ["sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "busybox"];

/// Whether a path is that of a shell.
pub(crate) fn is_shell(path: &str) -> bool {
    SHELLS.contains(&path.rsplit('/').next().unwrap_or_default())
}

/// The program and the form of its arguments: two that do the same with other files or numbers have
/// the same text.
pub(crate) fn form(path: &str, args: &str) -> String {
    let mut form = path.to_owned();
    let Some(list) = argv::printed(args) else { return form };
    let name = path.rsplit('/').next().unwrap_or_default();
    let interprets = INTERPRETERS.iter().any(|one| name.starts_with(one));
    let mut wants_word = interprets;
    let mut code = false;
    let mut values = false;
    for part in argv::arguments(list).skip(1) {
        let part = part.as_str();
        let option = part.strip_prefix('-').is_some_and(|rest| !rest.is_empty()) && !code;
        if option {
            let name = part.split(['=', ':']).next().unwrap_or_default();
            let name = name.trim_end_matches(|c: char| c.is_ascii_digit());
            _ = write!(form, " {name}");
            code = interprets && matches!(part, "-c" | "-m" | "-e");
            values = false;
        } else if wants_word {
            // Of code, its first word.
            let word = if code { part.split(' ').next() } else { Some(part) };
            _ = write!(form, " {}", word.unwrap_or_default());
            (wants_word, code, values) = (false, false, false);
        } else if !values {
            form.push_str(" *");
            values = true;
        }
    }
    form
}

#[cfg(test)]
mod tests {
    use super::*;

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
