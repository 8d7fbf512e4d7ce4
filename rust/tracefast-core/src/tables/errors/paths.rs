//! The paths of failed calls: so many as they are, the others by their folders.

use std::borrow::Cow;

use crate::tables::names::Names;

/// How many paths are kept as they are, and after them how many folders.
const MOST: usize = 1 << 17;
/// Any name in a folder, or any path.
const ANY: &str = "*";

/// Paths by number.
///
/// A log may have millions of paths that do not exist. The first ones are kept as they are. Those
/// that follow are `FOLDER/*`, and when there are as many folders, `*`.
#[derive(Debug)]
pub(crate) struct Paths {
    names: Names,
    most: usize,
}

impl Default for Paths {
    fn default() -> Self {
        Self::with_most(MOST)
    }
}

impl Paths {
    fn with_most(most: usize) -> Self {
        Self { names: Names::default(), most }
    }

    /// The number of a path, or of what is kept of it.
    pub(crate) fn number(&mut self, path: &str) -> u32 {
        if let Some(number) = self.names.find(path) {
            return number;
        }
        if self.names.len() < self.most {
            return self.names.number(path);
        }
        let folder = match path.rsplit_once('/') {
            Some((folder, _)) => Cow::Owned(format!("{folder}/{ANY}")),
            None => Cow::Borrowed(ANY),
        };
        match self.names.find(&folder) {
            Some(number) => number,
            None if self.names.len() < 2 * self.most => self.names.number(&folder),
            None => self.names.number(ANY),
        }
    }

    /// The text of a number.
    pub(crate) fn text(&self, number: u32) -> Option<&str> {
        self.names.text(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_paths_are_kept_by_their_folders() {
        let mut paths = Paths::with_most(2);
        let kept = |path: &&str| {
            let number = paths.number(path);
            paths.text(number).map(str::to_owned)
        };
        let all = ["/a/1", "/a/2", "/a/3", "/a/1", "/b/4", "name", "/c/5", "/b/6"];
        let found: Option<Vec<_>> = all.iter().map(kept).collect();
        assert_eq!(
            found.expect("each has a number"),
            ["/a/1", "/a/2", "/a/*", "/a/1", "/b/*", "*", "*", "/b/*"]
        );
    }
}
