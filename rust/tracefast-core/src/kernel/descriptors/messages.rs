//! Descriptors on their way through sockets (`SCM_RIGHTS`).

use std::collections::VecDeque;
use std::sync::Arc;

use crate::kernel::descriptors::fd_table::FileRef;

/// One end of a pair of sockets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct End {
    /// The pair.
    pub pair: u32,
    /// Which of the two.
    pub second: bool,
}

/// Descriptions that were sent together.
#[derive(Debug)]
pub(crate) struct Pass {
    /// Unique.
    pub number: u64,
    /// Where they were sent from, if that is an end of a known pair.
    from: Option<End>,
    /// What the descriptors led to; `None` where that was not known.
    pub files: Vec<Option<FileRef>>,
    /// Names of the same.
    paths: Vec<Option<Arc<[u8]>>>,
}

/// How many messages may be on their way: a receiver may not be in the log at all.
const PASSES: usize = 1 << 10;

/// All that were sent and not received.
#[derive(Debug, Default)]
pub(crate) struct Passes {
    passes: VecDeque<Pass>,
    next: u64,
}

impl Passes {
    /// Descriptions are sent; the oldest message that had to make room is given back.
    pub(crate) fn send(
        &mut self,
        from: Option<End>,
        files: Vec<Option<FileRef>>,
        paths: Vec<Option<Arc<[u8]>>>,
    ) -> (u64, Option<Pass>) {
        self.next += 1;
        self.passes.push_back(Pass { number: self.next, from, files, paths });
        let oldest = (self.passes.len() > PASSES).then(|| self.passes.pop_front()).flatten();
        (self.next, oldest)
    }

    /// The message was not sent after all.
    pub(crate) fn take_back(&mut self, number: u64) -> Option<Pass> {
        let at = self.passes.iter().position(|pass| pass.number == number)?;
        self.passes.remove(at)
    }

    /// The oldest message that may have come to `to`: of as many descriptions, with these names as
    /// far as names are known, through the same pair as far as pairs are known.
    pub(crate) fn receive(&mut self, to: Option<End>, names: &[Option<&[u8]>]) -> Option<Pass> {
        let fits = |pass: &Pass| {
            let through = match (pass.from, to) {
                (Some(from), Some(to)) => from.pair == to.pair && from.second != to.second,
                (None, None) => true,
                // One end of a pair that came from elsewhere.
                _ => false,
            };
            through
                && pass.files.len() == names.len()
                && pass.paths.iter().zip(names).all(|(path, name)| match (path, name) {
                    (Some(path), Some(name)) => **path == **name,
                    _ => true,
                })
        };
        let at = self.passes.iter().position(fits)?;
        self.passes.remove(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(pair: u32, second: bool) -> End {
        End { pair, second }
    }

    #[test]
    fn messages_come_out_of_the_other_end_in_order() {
        let mut passes = Passes::default();
        for (from, file) in [(end(1, false), 10), (end(2, false), 20), (end(1, false), 11)] {
            passes.send(Some(from), vec![Some(file)], vec![None]);
        }
        let mut receive = |to: Option<End>| passes.receive(to, &[None]).map(|pass| pass.files[0]);
        assert_eq!(receive(Some(end(1, false))), None);
        assert_eq!(receive(Some(end(1, true))), Some(Some(10)));
        assert_eq!(receive(Some(end(1, true))), Some(Some(11)));
        assert_eq!(receive(None), None);
        assert_eq!(receive(Some(end(2, true))), Some(Some(20)));
    }

    #[test]
    fn names_and_numbers_tell_messages_apart() {
        let mut passes = Passes::default();
        let path = |text: &[u8]| Some(Arc::from(text));
        passes.send(None, vec![Some(1)], vec![path(b"/a")]);
        let (number, _) = passes.send(None, vec![Some(2)], vec![path(b"/b")]);
        passes.send(None, vec![Some(3), None], vec![None, None]);
        assert_eq!(passes.receive(None, &[None, None]).unwrap().files, [Some(3), None]);
        assert_eq!(passes.receive(None, &[Some(b"/b")]).unwrap().number, number);
        assert!(passes.take_back(number).is_none());
        assert_eq!(passes.receive(None, &[None]).unwrap().files, [Some(1)]);
    }

    #[test]
    fn those_that_nobody_receives_make_room() {
        let mut passes = Passes::default();
        let given_back = (0..PASSES + 5).filter(|_| passes.send(None, vec![], vec![]).1.is_some());
        assert_eq!(given_back.count(), 5);
    }
}
