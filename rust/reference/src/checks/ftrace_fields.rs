//! Fields of events out of any text: each text gives a row, whatever is before it, and what no
//! column takes is left.

use arrow_array::cast::AsArray;
use arrow_array::{Array, BooleanArray, RecordBatch, StringArray, UInt32Array};
use tracefast_core::ftrace::decode::{Decoder, ValueKind, survey};

/// Reads the lines after the first one as texts of the event that it names.
///
/// # Panics
/// If a row is missing, depends on the ones before it, or a part of a text is nowhere.
pub fn ftrace_fields(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (event, texts) = text.split_once('\n').unwrap_or((&text, ""));
    let texts: Vec<&str> = texts.split('\n').collect();
    let fields = fields(&texts);
    // A user may choose fields that the texts do not have.
    let wanted = Decoder::generic(&[(event.to_owned(), ValueKind::Unsigned)], true);
    let known = Decoder::for_event(event);
    let others = [Decoder::function(), Decoder::generic(&fields, false), wanted];
    for decoder in known.iter().chain(&others) {
        alike(decoder, &texts);
        for text in &texts {
            keeps(decoder, text);
        }
    }

    // Without columns, all of a text is left; with them, every key is in its column or left.
    let bare = Decoder::generic(&[], false);
    for text in &texts {
        let rest = batch(&bare, &[text]);
        assert_eq!(letters(&left(&rest)), letters(text), "left of {text:?}");
        let own = self::fields(&[text]);
        let row = batch(&Decoder::generic(&own, false), &[text]);
        let rest = left(&row);
        for (at, (key, kind)) in own.iter().enumerate() {
            let kept = row.column(at).is_valid(0) || rest.contains(key.as_str());
            assert!(kept || *kind == ValueKind::Text, "{key} of {text:?}: {rest:?}");
        }
    }
}

/// Texts together give the rows that each gives alone.
fn alike(decoder: &Decoder, texts: &[&str]) {
    let all = batch(decoder, texts);
    assert_eq!(all.num_rows(), texts.len(), "{texts:?}");
    for (at, text) in texts.iter().enumerate() {
        let one = batch(decoder, &[text]);
        assert_eq!(all.slice(at, 1), one, "{text:?} of {texts:?}");
    }
}

/// A word appended to a text is in a column of text, or in the rest.
fn keeps(decoder: &Decoder, text: &str) {
    let word = "zzqz";
    // It may be the name of a column, if it is a key of one of the texts.
    if decoder.schema().field_with_name(word).is_ok() {
        return;
    }
    let text = format!("{text} {word}=1");
    let row = batch(decoder, &[&text]);
    let texts = row.columns().iter().filter_map(|column| column.as_string_view_opt());
    let there =
        texts.filter(|column| column.is_valid(0)).any(|column| column.value(0).contains(word));
    assert!(there, "{word} of {text:?} is in no column of {row:?}");
}

fn batch(decoder: &Decoder, texts: &[&str]) -> RecordBatch {
    decoder.decode(texts.iter().map(|text| Some(*text))).expect("columns of one length")
}

/// The keys of all texts that are no words, with their kinds.
fn fields(texts: &[&str]) -> Vec<(String, ValueKind)> {
    let found = survey(texts.iter().map(|text| Some(*text))).expect("columns of one length");
    let column = |name| found.column_by_name(name).expect("a column");
    let keys: &StringArray = column("key").as_string();
    let words: &BooleanArray = column("word").as_boolean();
    let classes: &UInt32Array = column("classes").as_primitive();
    let rows = (0..found.num_rows()).filter(|&row| keys.is_valid(row) && !words.value(row));
    rows.map(|row| (keys.value(row).to_owned(), ValueKind::from_classes(classes.value(row))))
        .collect()
}

/// What is in the last column, `rest`.
fn left(batch: &RecordBatch) -> String {
    let column = batch.column(batch.num_columns() - 1).as_string_view();
    if column.is_valid(0) { column.value(0).to_owned() } else { String::new() }
}

/// The part of a text that no reader may lose.
fn letters(text: &str) -> usize {
    text.chars().filter(|c| c.is_alphanumeric()).count()
}
