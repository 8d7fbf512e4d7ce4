//! What holds for the rows of any log, however damaged.

use arrow_array::{Array, RecordBatch};

use crate::columns::{numbers, texts};

/// Checks the rows of one log of so many lines.
///
/// # Panics
/// If a value cannot be, whatever the log says.
pub(super) fn rows(batch: &RecordBatch, lines: u64) {
    for (column, field) in batch.columns().iter().zip(batch.schema().fields()) {
        let valid = column.to_data().validate_full();
        assert!(valid.is_ok(), "{}: {valid:?}", field.name());
    }
    let number = |name| numbers(batch, name).unwrap_or_else(|| panic!("no numbers in {name}"));
    let text = |name| texts(batch, name).unwrap_or_else(|| panic!("no text in {name}"));
    for name in ["dur_ns", "bytes", "requested", "size", "anon_bytes"] {
        let least = number(name).into_iter().flatten().min();
        assert!(least.is_none_or(|least| least >= 0), "{name} {least:?}");
    }
    let [line, ret] = ["line", "ret"].map(number);
    let [kind, status, errno, known] = ["kind", "status", "errno", "offset_known"].map(text);
    let offsets = [number("offset"), number("offset2")];
    let classes = [text("access"), text("access2")];
    for row in 0..batch.num_rows() {
        let what = || format!("row {row}, line {:?}", line[row]);
        assert!(
            line[row].is_some_and(|line| (1..=i128::from(lines)).contains(&line)),
            "{}",
            what()
        );
        assert!(kind[row].is_some(), "{}", what());
        let call = kind[row].as_deref() == Some("syscall");
        assert!(!call || status[row].is_some(), "{}", what());
        // What failed returned nothing but an error.
        let failed = errno[row].is_some();
        assert!(!failed || ret[row].is_none_or(|ret| ret == -1), "{} {:?}", what(), ret[row]);
        assert!(!failed || known[row].is_none(), "{} {:?}", what(), known[row]);
        for (offset, class) in offsets.iter().zip(&classes) {
            let (offset, class) = (offset[row], class[row].as_deref());
            match known[row].as_deref() {
                Some("exact" | "assumed") => {
                    assert!(offset.is_none_or(|offset| offset >= 0), "{} {offset:?}", what());
                }
                Some("relative" | "assumed-relative" | "ambiguous" | "unknown") => {}
                None => assert!(matches!(class, None | Some("error" | "eof")), "{}", what()),
                Some(other) => panic!("{} {other}", what()),
            }
            let placed = matches!(class, Some("first" | "consecutive" | "forward" | "backward"));
            assert!(!placed || offset.is_some(), "{} {class:?} {:?}", what(), known[row]);
        }
    }
}
