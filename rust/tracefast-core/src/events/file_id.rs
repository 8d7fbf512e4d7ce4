//! The identity of a file.

use xxhash_rust::xxh3::xxh3_64;

/// The identity of the file with this name (a path, `pipe:[…]`, `socket:[…]`): a hash, which is the
/// same in every log.
///
/// Names that are lexically equal have one identity: `x`, `./x` and `.//x`, and also `d/../x`, which
/// is another file only if `d` is a symbolic link (`path_resolution(7)`).
///
/// ```
/// use tracefast_core::events::file_id::file_id;
/// assert_eq!(file_id(b"/etc/passwd"), file_id(b"/etc/./ssl/..//passwd"));
/// assert_ne!(file_id(b"/etc/passwd"), file_id(b"/etc/shadow"));
/// ```
#[inline]
pub fn file_id(name: &[u8]) -> u64 {
    if is_normal(name) { xxh3_64(name) } else { xxh3_64(&normal(name, true)) }
}

/// The same, and whether a component of the path is `..`, as [`leads_up`] gives it.
#[inline]
pub(crate) fn file_id_and_up(name: &[u8]) -> (u64, bool) {
    if is_normal(name) {
        (xxh3_64(name), false)
    } else {
        (xxh3_64(&normal(name, true)), leads_up(name))
    }
}

/// The same, but `d/../x` is not `x`: the two may be different files.
pub(crate) fn name_id(name: &[u8]) -> u64 {
    if is_normal(name) { xxh3_64(name) } else { xxh3_64(&normal(name, false)) }
}

/// Whether a component of the path is `..`. `/..` at the start is the root directory itself.
pub(crate) fn leads_up(path: &[u8]) -> bool {
    !is_normal(path) && {
        let mut parts = path
            .split(|&b| b == b'/')
            .skip_while(|part| path.starts_with(b"/") && [&b""[..], b".", b".."].contains(part));
        parts.any(|part| part == b"..")
    }
}

/// Whether the name has no `//`, no component that starts with a dot, and no slash at its end. Most
/// names are like this.
#[inline]
fn is_normal(name: &[u8]) -> bool {
    let [first, .., last] = name else { return name != b"." };
    *first != b'.' && *last != b'/' && !has_slash_and_dot(name)
}

/// Whether a slash is followed by a slash or a dot, which differ in the last bit only. Eight places
/// are looked at together.
#[inline]
fn has_slash_and_dot(name: &[u8]) -> bool {
    const ONES: u64 = u64::MAX / 255;
    const SLASHES: u64 = ONES * b'/' as u64;
    let found = |at: usize| {
        let word = |at: usize| {
            let bytes = name.get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
            u64::from_le_bytes(bytes.unwrap_or_default())
        };
        // A byte of this is zero where both match.
        let unlike = (word(at) ^ SLASHES) | ((word(at + 1) | ONES) ^ SLASHES);
        unlike.wrapping_sub(ONES) & !unlike & (ONES << 7) != 0
    };
    let Some(last) = name.len().checked_sub(9) else {
        return name.windows(2).any(|pair| pair[0] == b'/' && pair[1] | 1 == b'/');
    };
    (0..last).step_by(8).any(found) || found(last)
}

/// The name without empty and `.` components; `up`: without `..` and the component before it.
#[cold]
fn normal(name: &[u8], up: bool) -> Vec<u8> {
    let rooted = name.starts_with(b"/");
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in name.split(|&b| b == b'/') {
        match (part, parts.last()) {
            ([] | b".", _) => {}
            (b"..", None) if rooted => {}
            (b"..", Some(&last)) if up && last != b".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    let mut out = parts.join(&b'/');
    if rooted {
        out.insert(0, b'/');
    } else if out.is_empty() && !name.is_empty() {
        out.push(b'.');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lexically_equal_names_have_one_identity() {
        for (name, same) in [
            (&b"./x"[..], &b"x"[..]),
            (b".//x", b"x"),
            (b"a//b/./c/", b"a/b/c"),
            (b"//a", b"/a"),
            (b"/a/..", b"/"),
            (b"a/../..", b".."),
            (b"a/..", b"."),
            (b"./", b"."),
            (b"/../x", b"/x"),
            (b"a/b/../../../x", b"../x"),
            (b"/.git/..x/.", b"/.git/..x"),
        ] {
            assert_eq!(file_id(name), xxh3_64(same), "{}", String::from_utf8_lossy(name));
            assert_eq!(file_id_and_up(name), (file_id(name), leads_up(name)));
        }
        for name in [&b"/a/.b"[..], b"..", "pipe:[1]".as_bytes(), b"", b"/", b".x/a...", b"a/b.."] {
            assert_eq!(file_id(name), xxh3_64(name), "{}", String::from_utf8_lossy(name));
        }
    }

    #[test]
    fn a_path_that_leads_up_has_a_name_of_its_own() {
        for at in 0..40 {
            let mut name = vec![b'a'; 42];
            (name[at], name[at + 1]) = (b'/', b'/');
            assert!(!is_normal(&name), "{at}");
            name[at + 1] = b'-';
            assert!(is_normal(&name), "{at}");
        }
        assert_eq!(name_id(b"./a//../b"), xxh3_64(b"a/../b"));
        assert_eq!(name_id(b"/../b"), xxh3_64(b"/b"));
        assert!(leads_up(b"a/../b") && leads_up(b"../b") && leads_up(b"/a/.."));
        assert!(!leads_up(b"/../b") && !leads_up(b"/a..b/..c") && !leads_up(b"./a/.b"));
    }
}
