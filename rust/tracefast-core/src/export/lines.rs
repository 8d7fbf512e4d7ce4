//! A set of lines of logs, one bit for each.

use crate::hash::HashMap;

/// Lines whose bits are kept together.
const TOGETHER: u64 = 512;

/// Lines of logs by the number of the source.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    bits: HashMap<(u32, u64), [u64; 8]>,
}

impl Lines {
    pub(crate) fn insert(&mut self, source: u32, line: u64) {
        let bits = self.bits.entry((source, line / TOGETHER)).or_default();
        if let Some(word) = bits.get_mut((line % TOGETHER / 64) as usize) {
            *word |= 1 << (line % 64);
        }
    }

    pub(crate) fn contains(&self, source: u32, line: u64) -> bool {
        let bits = self.bits.get(&(source, line / TOGETHER));
        let word = bits.and_then(|bits| bits.get((line % TOGETHER / 64) as usize));
        word.is_some_and(|word| word >> (line % 64) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_what_was_inserted() {
        let mut lines = Lines::default();
        for line in [0, 63, 64, 511, 512, u64::MAX] {
            lines.insert(1, line);
        }
        assert!([0, 63, 64, 511, 512, u64::MAX].iter().all(|&line| lines.contains(1, line)));
        assert!(![1, 62, 65, 510, 513].iter().any(|&line| lines.contains(1, line)));
        assert!(!lines.contains(0, 63));
    }
}
