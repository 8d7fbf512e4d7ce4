//! Pipes and sockets that the log shows being made, so that a call which only has their number is
//! known to give to one.

use crate::hash::HashMap;
use crate::linux::waits::Giver;

/// Streams that are remembered. With more, the time of later calls counts as moving data.
const MOST: usize = 65_536;

/// The descriptions of the newest pipes and sockets, by source.
#[derive(Debug, Clone, Default)]
pub(crate) struct Streams(HashMap<(u32, u32), ()>);

impl Streams {
    /// A call made a description, or two.
    pub(crate) fn made(&mut self, source: u32, descriptions: [Option<u32>; 2]) {
        for ofd in descriptions.into_iter().flatten() {
            if self.0.len() >= MOST {
                self.0.clear();
            }
            self.0.insert((source, ofd), ());
        }
    }

    /// Who takes what a call gives to its second descriptor, of this description and path.
    pub(crate) fn taker(&self, source: u32, ofd: Option<u32>, path: Option<&str>) -> Giver {
        if ofd.is_some_and(|ofd| self.0.contains_key(&(source, ofd))) {
            return Giver::Somebody;
        }
        match path {
            Some(path) if is_stream(path) => Giver::Somebody,
            path => Giver::Unknown.known_as(|| path),
        }
    }
}

/// Whether strace's name of a descriptor is that of a pipe or socket.
fn is_stream(name: &str) -> bool {
    name.starts_with("pipe:[")
        || name.starts_with("socket:[")
        || crate::linux::sockets::SocketName::parse(name).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_description_and_by_name() {
        let mut streams = Streams::default();
        streams.made(1, [Some(3), Some(4)]);
        assert_eq!(streams.taker(1, Some(4), None), Giver::Somebody);
        assert_eq!(streams.taker(2, Some(4), None), Giver::Unknown);
        assert_eq!(streams.taker(1, None, Some("pipe:[5]")), Giver::Somebody);
        assert_eq!(streams.taker(1, None, Some("TCP:[10.0.0.1:5->10.0.0.2:6]")), Giver::Somebody);
        assert_eq!(streams.taker(1, Some(9), Some("/a")), Giver::Storage);
        assert_eq!(streams.taker(1, None, Some("/dev/pts/0")), Giver::Somebody);
    }
}
