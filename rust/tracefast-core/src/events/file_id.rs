//! The identity of a file.

use std::borrow::Cow;

use xxhash_rust::xxh3::xxh3_64;

use crate::text::scan;

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
    file_id_and_up(name).0
}

/// The path without empty, `.` and `..` components, as far as that shows in its text.
pub(crate) fn lexical(path: &[u8]) -> Cow<'_, [u8]> {
    if is_normal(path) {
        return Cow::Borrowed(path);
    }
    let mut out = vec![0; path.len()];
    let (len, _) = normal(path, true, &mut out);
    out.truncate(len);
    Cow::Owned(out)
}

/// The last component of a path, as a hash.
pub(crate) fn last_part(path: &[u8]) -> Option<u64> {
    let part = path.rsplit(|&b| b == b'/').find(|part| !part.is_empty())?;
    (!matches!(part, b"." | b"..")).then(|| xxh3_64(part))
}

/// Whether this is a component of the path, by the hash that [`last_part`] gives.
pub(crate) fn has_part(path: &[u8], part: u64) -> bool {
    path.split(|&b| b == b'/').any(|other| xxh3_64(other) == part)
}

/// A bit of 64 for each component of the path: see [`may_have_part`].
pub(crate) fn part_bits(path: &[u8]) -> u64 {
    path.split(|&b| b == b'/').fold(0, |bits, part| bits | 1 << (xxh3_64(part) % 64))
}

/// Whether a path with these bits may have the component, by the hash that [`last_part`] gives.
pub(crate) fn may_have_part(bits: u64, part: u64) -> bool {
    bits & 1 << (part % 64) != 0
}

/// The same as [`file_id`], and whether a component of the path is `..`, as [`leads_up`] gives it.
#[inline]
pub(crate) fn file_id_and_up(name: &[u8]) -> (u64, bool) {
    if is_normal(name) { (xxh3_64(name), false) } else { normal_id(name, true) }
}

/// The same, but `d/../x` is not `x`: the two may be different files.
#[inline]
pub(crate) fn name_id_and_up(name: &[u8]) -> (u64, bool) {
    if is_normal(name) { (xxh3_64(name), false) } else { normal_id(name, false) }
}

/// Whether a component of the path is `..`. `/..` at the start is the root directory itself.
#[inline]
pub(crate) fn leads_up(path: &[u8]) -> bool {
    !is_normal(path) && has_parent(path)
}

#[inline(never)]
fn has_parent(path: &[u8]) -> bool {
    let rooted = path.starts_with(b"/");
    let mut parts =
        path.split(|&b| b == b'/').skip_while(|part| rooted && matches!(*part, [] | b"." | b".."));
    parts.any(|part| part == b"..")
}

/// Whether the name has no component that is empty, `.` or `..`. Most names are like this.
#[inline]
fn is_normal(name: &[u8]) -> bool {
    let [first, .., last] = name else { return name != b"." };
    // A slash and a dot differ in the last bit only.
    let ends = *first == b'.' || *last | 1 == b'/';
    !(ends || may_have_dots(name)) || is_normal_in_full(name)
}

#[inline(never)]
fn is_normal_in_full(name: &[u8]) -> bool {
    let mut parts = name.strip_prefix(b"/").unwrap_or(name).split(|&b| b == b'/');
    !parts.any(|part| matches!(part, [] | b"." | b".."))
}

/// Whether `//`, `/./` or `/..` is within the name: not `/.venv/`, which is usual.
#[inline]
fn may_have_dots(name: &[u8]) -> bool {
    // Whether the byte before the chunk is a slash, and whether a slash and a dot are.
    let (mut slash, mut dot) = (0, 0);
    // Bits of the places of slashes and dots, the first place being the lowest bit.
    let mut found = |slashes: u32, dots: u32| {
        let after_slash = slashes << 1 | slash;
        let after_dot = (dots & after_slash) << 1 | dot;
        (slash, dot) = (slashes >> 15, (dots & after_slash) >> 15);
        ((slashes & after_slash) | ((slashes | dots) & after_dot)) != 0
    };
    let (chunks, rest) = name.as_chunks::<16>();
    for chunk in chunks {
        if found(scan::among(chunk, [b'/']), scan::among(chunk, [b'.'])) {
            return true;
        }
    }
    if let Some(last) = name.last_chunk() {
        let before = 16 - rest.len();
        return found(scan::among(last, [b'/']) >> before, scan::among(last, [b'.']) >> before);
    }
    let mut short = [0; 16];
    short[..rest.len()].copy_from_slice(rest);
    found(scan::among(&short, [b'/']), scan::among(&short, [b'.']))
}

/// Names of up to so many bytes are rewritten on the stack.
const SHORT: usize = 256;

/// The identity of a name that may not be normal, and whether it leads up.
#[inline(never)]
fn normal_id(name: &[u8], up: bool) -> (u64, bool) {
    let (mut short, mut long);
    let out: &mut [u8] = if name.len() <= SHORT {
        short = [0; SHORT];
        &mut short
    } else {
        long = vec![0; name.len()];
        &mut long
    };
    let (len, leads_up) = normal(name, up, out);
    (xxh3_64(&out[..len]), leads_up)
}

/// Writes the name without empty and `.` components; `up`: without `..` and the component before
/// it. Returns the length, which is at most that of the name, and whether the name leads up.
#[inline]
fn normal(name: &[u8], up: bool, out: &mut [u8]) -> (usize, bool) {
    let root = usize::from(name.starts_with(b"/"));
    out[..root].fill(b'/');
    // `..` removes nothing before `floor`.
    let (mut len, mut floor, mut leads_up) = (root, root, false);
    for part in name.split(|&b| b == b'/') {
        let parent = match part {
            [] | b"." => continue,
            part => part == b"..",
        };
        if parent {
            if root == 1 && len == root {
                continue;
            }
            leads_up = true;
            if up && len > floor {
                let slash = out[floor..len].iter().rposition(|&b| b == b'/');
                len = floor + slash.unwrap_or(0);
                continue;
            }
        }
        if len > root {
            out[len] = b'/';
            len += 1;
        }
        out[len..len + part.len()].copy_from_slice(part);
        len += part.len();
        if parent {
            floor = len;
        }
    }
    if len == 0 && !name.is_empty() {
        out[0] = b'.';
        len = 1;
    }
    (len, leads_up)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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
        let long = [&b"/abc".repeat(100)[..], b"/../d"].concat();
        assert_eq!(file_id(&long), xxh3_64(&[&b"/abc".repeat(99)[..], b"/d"].concat()));
    }

    #[test]
    fn names_of_hidden_files_are_left_as_they_are() {
        for name in [&b".a"[..], b"..a/b", b"/.venv/bin/python", b"/a/..b/.../c", b"/a/b/c/d/.ee"] {
            assert!(is_normal(name), "{}", String::from_utf8_lossy(name));
        }
        for at in 0..40 {
            let mut name = vec![b'a'; 44];
            name[at..at + 3].copy_from_slice(b"/..");
            assert!(is_normal(&name), "{at}");
            name[at + 3] = b'/';
            assert!(!is_normal(&name), "{at}");
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
        assert_eq!(name_id_and_up(b"./a//../b"), (xxh3_64(b"a/../b"), true));
        assert_eq!(name_id_and_up(b"/../b"), (xxh3_64(b"/b"), false));
        assert!(leads_up(b"a/../b") && leads_up(b"../b") && leads_up(b"/a/.."));
        assert!(!leads_up(b"/../b") && !leads_up(b"/a..b/..c") && !leads_up(b"./a/.b"));
    }

    proptest! {
        #[test]
        fn a_name_is_normal_if_all_its_components_are(
            name in proptest::collection::vec(proptest::sample::select(&b"/.ab"[..]), 2..70)
        ) {
            prop_assert_eq!(is_normal(&name), is_normal_in_full(&name));
        }
    }
}
