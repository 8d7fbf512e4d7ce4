//! The text in angle brackets after a descriptor (`printfd` in `src/util.c` of strace).

use memchr::memchr;

use crate::events::schema::Column as C;
use crate::events::vocabulary::FileType;
use crate::strace::arguments;
use crate::strace::fields::writer::FieldWriter;
use crate::text::escape::unescape_into;
use crate::text::search;
use crate::text::string_view;

/// What an annotation says about a descriptor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Annotation {
    /// Length of the name at the start of the annotation.
    pub len: usize,
    /// File type, if the annotation shows it.
    pub file_type: Option<FileType>,
    /// Whether the name identifies a file; `anon_inode:[eventpoll]` does not.
    pub identity: bool,
    /// Whether it is a name that the file had; up to 6.0 strace prints that within the brackets.
    pub deleted: bool,
}

impl Annotation {
    /// Parses the text between the angle brackets.
    pub(crate) fn parse(body: &[u8]) -> Self {
        let of = |file_type, identity| Self {
            file_type: Some(file_type),
            identity,
            ..Self::plain(body)
        };
        match body.first() {
            Some(b'/') => {
                let mut note = Self::plain(body);
                if body.ends_with(b">") {
                    for (mark, file_type) in
                        [(&b"<char "[..], FileType::Char), (b"<block ", FileType::Block)]
                    {
                        if let Some(at) = search::rfind(body, mark, 0) {
                            note.len = at;
                            note.file_type = Some(file_type);
                        }
                    }
                }
                if let Some(name) = body[..note.len].strip_suffix(b" (deleted)") {
                    (note.len, note.deleted) = (name.len(), true);
                }
                if body.starts_with(b"/memfd:") {
                    note.file_type = Some(FileType::Memfd);
                }
                note
            }
            Some(b'p') if body.starts_with(b"pipe:[") => of(FileType::Pipe, true),
            Some(b's') if body.starts_with(b"socket:[") => of(FileType::Socket, true),
            Some(b'a') if body.starts_with(b"anon_inode:") => of(FileType::Anon, false),
            // `pid:[4026531836]` is a namespace, `pid:20841` is a process.
            Some(b'p') if body.starts_with(b"pid:") && body.get(4) != Some(&b'[') => {
                of(FileType::Anon, false)
            }
            Some(b's') if body.starts_with(b"signalfd:") => of(FileType::Anon, false),
            Some(b'{') => of(FileType::Anon, false),
            Some(b'A'..=b'Z' | b'(') => of(FileType::Socket, true),
            _ => Self::plain(body),
        }
    }

    /// An annotation that is a path.
    #[inline]
    fn plain(body: &[u8]) -> Self {
        Self { len: body.len(), file_type: None, identity: true, deleted: false }
    }
}

impl FieldWriter<'_> {
    /// The view of the name at `start..end` of the source. `plain`: it surely holds no escape.
    #[inline(always)]
    pub(crate) fn name_view(&mut self, start: usize, end: usize, plain: bool) -> u128 {
        let name = &self.source.bytes[start..end];
        if !self.source.utf8 || !plain && memchr(b'\\', name).is_some() {
            let from = self.side.bytes.len();
            unescape_into(name, &mut self.side.bytes);
            self.side.since(from)
        } else {
            string_view::pack(name, self.source.place, self.source.base + start)
        }
    }

    /// The view of the name in the annotation at `at` of the source, if there is one.
    pub(crate) fn annotated_name(&mut self, at: usize) -> Option<u128> {
        let text = self.source.bytes;
        if text.get(at) != Some(&b'<') {
            return None;
        }
        let (end, plain) = arguments::annotation(text, at)?;
        let note = Annotation::parse(&text[at + 1..end - 1]);
        Some(self.name_view(at + 1, at + 1 + note.len, plain))
    }

    /// Writes path, file and type from an annotation whose body is `start..end` of the source.
    #[inline]
    pub(crate) fn annotation(&mut self, start: usize, end: usize, plain: bool, second: bool) {
        if self.has(if second { C::Path2 } else { C::Path }) {
            return;
        }
        let body = &self.source.bytes[start..end];
        let note = match body {
            // Most annotations are plain paths: without brackets nothing follows the name.
            [b'/', second, .., last] if plain && *second != b'm' && *last != b')' => {
                Annotation::plain(body)
            }
            _ => Annotation::parse(body),
        };
        let view = self.name_view(start, start + note.len, plain);
        // The serial stage knows the identity of most descriptors, because the log shows their
        // open.
        let row = self.row;
        if second {
            self.rows.path2[row] = view;
            self.set(C::Path2);
            self.rows.effect[row].identify2 = note.identity;
        } else {
            self.rows.path[row] = view;
            self.set(C::Path);
            self.rows.effect[row].identify = note.identity;
            if let Some(file_type) = note.file_type {
                self.rows.file_type[row] = file_type as u8;
                self.set(C::FileType);
            }
        }
    }
}
