//! Checks lines against the columns that their arguments give.

mod counts;
mod descriptors;
mod details;
mod effects;
mod paths;
mod transfers;

use crate::events::details::Detail;
use crate::events::parsed_block::Parsed;
use crate::events::rows::{Effect, Side};
use crate::events::schema::Column as C;
use crate::events::split_calls::EntryEffect;
use crate::events::vocabulary::{EventKind, FileType};
use crate::strace::{Grammar, detect};
use crate::text::block::Block;
use crate::text::string_view::unpack;

fn parse(line: &str) -> (Parsed, String) {
    let text = format!("7 {line}\n7 exit_group(0) = ?\n");
    let format = detect(text.as_bytes()).expect("a log of strace");
    let mut parsed = Parsed::default();
    Grammar::default().parse(&format, &mut Block::from_text(text.as_bytes()), &mut parsed);
    assert_eq!(parsed.rows.kind[0], EventKind::Syscall as u8, "{line}");
    (parsed, text)
}

/// The columns of the line, as a list of `NAME=VALUE`. Paths that are still relative have a `~`
/// before them.
fn columns(line: &str) -> String {
    let (parsed, text) = parse(line);
    let rows = &parsed.rows;
    let view = |view: &u128| {
        String::from_utf8(unpack(view, text.as_bytes(), &parsed.side.bytes).to_vec()).expect("text")
    };
    let mut out = Vec::new();
    let mut put = |column, name: &str, value: String| {
        if rows.has(0, column) {
            out.push(format!("{name}={value}"));
        }
    };
    let mark = |relative| if relative { "~" } else { "" };
    let effect = rows.effect[0];
    put(C::Fd, "fd", rows.fd[0].to_string());
    put(C::Fd2, "fd2", rows.fd2[0].to_string());
    if rows.has(0, C::Path) {
        put(C::Path, "path", format!("{}{}", mark(effect.relative), view(&rows.path[0])));
    }
    if rows.has(0, C::Path2) {
        put(C::Path2, "path2", format!("{}{}", mark(effect.relative2), view(&rows.path2[0])));
    }
    put(C::Requested, "requested", rows.requested[0].to_string());
    put(C::Bytes, "bytes", rows.bytes[0].to_string());
    put(C::Offset, "offset", rows.offset[0].to_string());
    put(C::Offset2, "offset2", rows.offset2[0].to_string());
    put(C::Size, "size", rows.size[0].to_string());
    if rows.has(0, C::FileType) {
        put(C::FileType, "type", FileType::TEXTS[usize::from(rows.file_type[0])].to_owned());
    }
    out.join(" ")
}

fn check(cases: &[(&str, &str)]) {
    for (line, expected) in cases {
        assert_eq!(columns(line), *expected, "{line}");
    }
}

fn effect(line: &str) -> Effect {
    parse(line).0.rows.effect[0]
}

/// The fact recorded for the line that no column holds.
fn detail(line: &str) -> Option<Detail> {
    let (parsed, _) = parse(line);
    parsed.side.details.get(parsed.rows.effect[0].detail as usize).cloned()
}

/// The effect that the first half of a call shows.
fn head(line: &str) -> EntryEffect {
    let (name, args) = line.split_once('(').expect("a call");
    let sys = crate::linux::syscalls::by_name(name.as_bytes());
    crate::strace::fields::head(args.as_bytes(), sys, &mut Side::default())
}
