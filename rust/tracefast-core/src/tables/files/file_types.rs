//! Types of files: a type that one row learns applies to all rows of the same file.

use std::cmp::Reverse;

use crate::hash::HashMap;
use crate::tables::files::fold::Nameless;
use crate::tables::files::row::{FileUse, What};

/// Types of files as numbers of words, by source and file: the first one in the events.
pub(crate) type KnownTypes = HashMap<(u32, u64), u32>;

/// What identifies the file of a row.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum SameFile {
    File(u32, u64),
    Name(u32, Box<str>),
}

#[derive(Debug, Default, Clone, Copy)]
struct Type {
    kind: Option<u32>,
    /// The log says that it is unknown.
    unknown: bool,
}

/// Gives all rows of a file its type, whichever row learned it.
///
/// A row that has only a name and moved no data takes the type of the first file of that name: the
/// file that such a row is joined to in a table by file.
pub(crate) fn share(file_uses: &mut [FileUse], known_types: &KnownTypes, nameless: &Nameless) {
    let firsts = firsts(file_uses);
    let of = |file_use: &FileUse| {
        let source = file_use.key.source;
        if let Some(file) = file_use.file.get() {
            return Some(SameFile::File(source, file));
        }
        match (file_use.key.what, &file_use.path) {
            _ if file_use.moved() => None,
            (What::Nameless(ofd), _) => {
                let file = nameless.get(&(source, ofd))?.get()?;
                Some(SameFile::File(source, file))
            }
            (What::Name, Some(path)) => Some(match firsts.get(&(source, path.clone())) {
                Some(&file) => SameFile::File(source, file),
                None => SameFile::Name(source, path.clone()),
            }),
            _ => None,
        }
    };
    let mut types: HashMap<SameFile, Type> = known_types
        .iter()
        .map(|(&(source, file), &kind)| {
            (SameFile::File(source, file), Type { kind: Some(kind), unknown: false })
        })
        .collect();
    for file_use in &*file_uses {
        if let Some(same) = of(file_use) {
            let known = types.entry(same).or_default();
            known.kind = known.kind.or(file_use.kind.get());
            known.unknown |= file_use.kind_unknown;
        }
    }
    for file_use in file_uses {
        if let Some(known) = of(file_use).and_then(|same| types.get(&same)) {
            file_use.kind.set(known.kind);
            file_use.kind_unknown = known.unknown;
        }
    }
}

/// The first file of each name, by source and name.
fn firsts(file_uses: &[FileUse]) -> HashMap<(u32, Box<str>), u64> {
    let mut named: Vec<_> = file_uses
        .iter()
        .filter_map(|file_use| {
            let (file, path) = (file_use.file.get()?, file_use.path.as_ref()?);
            Some((
                (file_use.ts_first.is_none(), file_use.ts_first.get(), file),
                file_use.key.source,
                path,
            ))
        })
        .collect();
    // The first file comes last, and overwrites the others.
    named.sort_by_key(|&(first, ..)| Reverse(first));
    named.into_iter().map(|((_, _, file), source, path)| ((source, path.clone()), file)).collect()
}
