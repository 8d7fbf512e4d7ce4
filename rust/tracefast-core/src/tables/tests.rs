//! Properties of every table.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use crate::tables::files::{By as FilesBy, Darshan, Files, Options};
use crate::tables::fold::{Dictionaries, Fold};
use crate::tables::forks::Forks;
use crate::tables::memory::Memory;
use crate::tables::processes::Processes;
use crate::tables::syscalls::{By, StraceCounts, Syscalls};
use crate::tables::tallies::{ActivityTally, TaskTally};

/// Pushes an empty batch with the columns that the fold needs.
#[track_caller]
fn takes_what_it_needs(mut fold: impl Fold) {
    let (needed, schema) = (fold.needed(), fold.schema());
    let none = Dictionaries::default();
    fold.push(&RecordBatch::new_empty(Arc::clone(&needed)), &none).expect("all columns");
    for column in 0..needed.fields().len() {
        let mut fewer = RecordBatch::new_empty(Arc::clone(&needed));
        let name = needed.field(column).name();
        fewer.remove_column(column);
        let error = fold.push(&fewer, &none).expect_err("a column is missing");
        assert!(error.to_string().contains(&format!("'{name}'")), "{error}");
    }
    let table = fold.finish().expect("columns of the same length").remove(0);
    assert_eq!(table.num_rows(), 0);
    assert_eq!(table.schema(), schema);
}

#[test]
fn every_fold_takes_the_columns_that_it_names() {
    takes_what_it_needs(Files::new(Options::default()));
    takes_what_it_needs(Files::new(Options { by: FilesBy::Phase, ..Options::default() }));
    takes_what_it_needs(Darshan::default());
    takes_what_it_needs(Forks::default());
    takes_what_it_needs(Forks::with_hints());
    takes_what_it_needs(Memory::default());
    takes_what_it_needs(Processes::default());
    takes_what_it_needs(Syscalls::new(By::Name));
    takes_what_it_needs(Syscalls::new(By::Process));
    takes_what_it_needs(Syscalls::new(By::Phase));
    takes_what_it_needs(StraceCounts::default());
    takes_what_it_needs(TaskTally::default());
    takes_what_it_needs(ActivityTally::new([], 1, 1));
}

#[test]
fn tables_have_the_columns_of_their_options() {
    let names = |fold: &dyn Fn() -> SchemaRef| -> Vec<String> {
        fold().fields().iter().map(|field| field.name().clone()).collect()
    };
    let files = |by| {
        let options = Options { by, ..Options::default() };
        names(&|| Files::new(options).schema())
    };
    assert_eq!(files(FilesBy::File)[..3], ["source", "file", "path"]);
    assert_eq!(files(FilesBy::Process)[1], "pid");
    assert_eq!(files(FilesBy::Open)[1..5], ["ofd", "task", "ts_open", "ts_close"]);
    assert_eq!(files(FilesBy::Phase)[..3], ["source", "phase", "file"]);
    let syscalls = |by| names(&|| Syscalls::new(by).schema());
    assert_eq!(syscalls(By::Name)[..3], ["source", "name", "calls"]);
    assert_eq!(syscalls(By::Process)[..4], ["source", "pid", "image", "name"]);
    assert_eq!(syscalls(By::Phase)[..3], ["source", "phase", "name"]);
    assert_eq!(names(&|| Forks::default().schema()).len(), 35);
    assert_eq!(names(&|| Forks::with_hints().schema()).len(), 35 + 11);
    assert_eq!(names(&|| Processes::default().schema())[3..5], ["parent_task", "ppid"]);
    assert_eq!(names(&|| Darshan::default().schema())[2], "POSIX_OPENS");
}
