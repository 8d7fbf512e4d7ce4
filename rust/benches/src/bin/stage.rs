//! Takes the whole of a log as far as one stage, once, for a tool that counts instructions:
//! `stage NAME LOG`. See `benches/guard.py`.
//!
//! It is no bench of cargo, which would need criterion, and so other features of other crates: it
//! is linked from what the extension is linked from.

#![allow(clippy::print_stdout)]

use std::io;

use tracefast_benches::stages::{Outcome, STAGES, format_of, run};

fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (Some(wanted), Some(file)) = (arguments.next(), arguments.next()) else {
        return Err(io::Error::other("usage: stage NAME LOG"));
    };
    let (stage, name) = STAGES
        .into_iter()
        .find(|(_, name)| *name == wanted)
        .ok_or_else(|| io::Error::other(format!("there is no stage {wanted}")))?;
    let text = std::fs::read(&file)?;
    let Outcome { took, rows } = run(&text, &format_of(&file, &text)?, stage);
    println!("{name}: {took:?}, {rows} rows, {} bytes", text.len());
    Ok(())
}
