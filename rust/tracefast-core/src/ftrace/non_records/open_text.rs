//! Whether the text of an event goes on in the next line: a name in it has a line feed.

/// The state of the text of an event so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct OpenText {
    /// It ends inside of quotes.
    quoted: bool,
    /// What is next may be a part of it.
    pub(crate) open: bool,
}

/// What is in the keys of names.
const NAMES: [&[u8]; 6] = [b"comm", b"name", b"path", b"file", b"interp", b"str"];

/// No key or name is longer.
const LOOK: usize = 256;

impl OpenText {
    /// The text goes on with this line.
    pub(crate) fn with(self, line: &[u8]) -> Self {
        let quotes = memchr::memchr_iter(b'"', line).count();
        let quoted = self.quoted != (quotes % 2 == 1);
        Self { quoted, open: quoted || ends_in_name(&line[line.len().saturating_sub(LOOK)..]) }
    }
}

/// The end of a line is the value of a key that has a name: `comm=`, `filename=`, `name=`; or of no
/// key at all, or within brackets, as in `[kworker/0:1H]`.
fn ends_in_name(text: &[u8]) -> bool {
    let bracket = memchr::memrchr(b'[', text);
    if bracket > memchr::memrchr(b']', text) {
        return true;
    }
    let mut equals = memchr::memrchr_iter(b'=', text);
    // The `=` of `==>` does not end a key.
    let key = equals.find_map(|at| {
        let n = text[..at].iter().rev().take_while(|&&b| b.is_ascii_alphanumeric() || b == b'_');
        let n = n.count();
        (n > 0).then(|| &text[at - n..at])
    });
    key.is_none_or(|key| NAMES.iter().any(|name| memchr::memmem::find(key, name).is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_go_on() {
        let open = |text: &str| OpenText::default().with(text.as_bytes()).open;
        for text in [
            "",
            "pid=1529 oldcomm=bash newcomm=new",
            "comm=",
            "filename=/srv/a b",
            "prev_comm=a prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=new",
            "bash:2330 [120] S ==> new",
            "254,0 RA 4096 () 18357344 + 8 [new",
            "(0x55c9) s=\"multi",
            "free text",
        ] {
            assert!(open(text), "{text}");
        }
        for text in [
            "comm=bash pid=1 prio=120",
            "pid=1529 oldcomm=bash newcomm=new oom_score_adj=0",
            "(0x55c9) s=\"multi\" n=3",
            "dev=254:0 ino=3f808 ofs=0-4095",
        ] {
            assert!(!open(text), "{text}");
        }
        let first = OpenText::default().with(b"(0x55c9) s=\"multi");
        assert!(first.with(b"line a=3").open);
        assert!(!first.with(b"line\" a=3").open);
    }
}
