//! Streams of accesses: the reads and the writes of each description.

use crate::hash::HashMap;
use crate::tables::files::position::Stream;

/// The key of a stream: source, description, and direction.
type StreamKey = (u32, u32, u8);

/// All streams that moved data.
///
/// Descriptions are numbered in order, and most of those in use were opened recently. So a list by
/// number keeps their streams close together in memory. Other numbers go into a map.
#[derive(Debug, Clone, Default)]
pub(crate) struct Streams {
    /// By source and number of the description: indexes of its two streams, or [`NONE`].
    numbered: Vec<Vec<[u32; 2]>>,
    others: HashMap<StreamKey, u32>,
    list: Vec<Stream>,
}

/// No stream.
const NONE: u32 = u32::MAX;

/// How many sources have lists.
const SOURCES: u32 = 1024;

/// A list may grow to twice its length plus this in one step.
const SLACK: usize = 4096;

impl Streams {
    /// The stream of a description, if it moved data.
    pub(crate) fn get(&mut self, source: u32, ofd: u32, direction: usize) -> Option<&mut Stream> {
        let list = self.numbered.get(source as usize);
        let at = match list.and_then(|list| list.get(ofd as usize)) {
            Some(directions) if directions[direction & 1] != NONE => directions[direction & 1],
            _ => *self.others.get(&(source, ofd, direction as u8))?,
        };
        self.list.get_mut(at as usize)
    }

    /// The stream of a description; starts it if needed.
    #[inline]
    pub(crate) fn get_or_insert(&mut self, source: u32, ofd: u32, direction: usize) -> &mut Stream {
        let list = self.numbered.get(source as usize);
        let at = match list.and_then(|list| list.get(ofd as usize)) {
            Some(directions) if directions[direction & 1] != NONE => directions[direction & 1],
            _ => self.insert(source, ofd, direction),
        };
        &mut self.list[at as usize]
    }

    #[cold]
    fn insert(&mut self, source: u32, ofd: u32, direction: usize) -> u32 {
        let next = self.list.len() as u32;
        let stream = (source, ofd, direction as u8);
        if let Some(&at) = self.others.get(&stream) {
            return at;
        }
        self.list.push(Stream::new(direction));
        if source < SOURCES {
            if self.numbered.len() <= source as usize {
                self.numbered.resize_with(source as usize + 1, Vec::new);
            }
            let list = &mut self.numbered[source as usize];
            let number = ofd as usize;
            if number >= list.len() && number <= 2 * list.len() + SLACK {
                list.resize(number + 1, [NONE; 2]);
            }
            if let Some(directions) = list.get_mut(number) {
                directions[direction & 1] = next;
                return next;
            }
        }
        self.others.insert(stream, next);
        next
    }

    /// All streams, with their directions.
    pub(crate) fn all(&self) -> impl Iterator<Item = (usize, &Stream)> {
        self.list.iter().map(|stream| (stream.direction(), stream))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tables::files::position::Place;

    proptest! {
        #[test]
        fn a_stream_keeps_its_trail_whatever_its_number(
            steps in prop::collection::vec(
                (
                    prop_oneof![0u32..3, Just(1023u32), Just(1024), Just(u32::MAX)],
                    prop_oneof![0u32..6, 4090u32..4100, 12_000u32..12_300, Just(u32::MAX)],
                    0usize..2,
                ),
                0..200,
            ),
        ) {
            let mut streams = Streams::default();
            let mut slow: HashMap<(u32, u32, usize), i64> = HashMap::default();
            for (at, &(source, ofd, direction)) in steps.iter().enumerate() {
                let key = (source, ofd, direction);
                let end = slow.get(&key).map_or(Place::Start, |&at| Place::Exact(at));
                let found = streams.get(source, ofd, direction).map(|stream| stream.end());
                prop_assert_eq!(found, slow.get(&key).map(|_| end));
                let stream = streams.get_or_insert(source, ofd, direction);
                prop_assert_eq!(stream.end(), end);
                stream.set_end(Place::Exact(at as i64));
                slow.insert(key, at as i64);
            }
            prop_assert_eq!(streams.all().count(), slow.len());
        }
    }

    #[test]
    fn a_number_from_far_away_takes_no_room() {
        let mut streams = Streams::default();
        streams.get_or_insert(0, u32::MAX - 1, 0);
        streams.get_or_insert(0, 5, 0);
        assert!(streams.numbered[0].len() < 10);
    }
}
