//! Objects as notebooks show them: small tables of HTML. They look only at what an object knows
//! already; no log is read to show it.

use std::fmt::Write;

/// The largest table, so that a notebook stays small.
const MOST_ROWS: usize = 100;

/// A heading and a table of two columns, all text escaped.
pub(crate) fn table(heading: &str, rows: &[(String, String)]) -> String {
    let mut html = String::from("<div><strong>");
    escape(&mut html, heading);
    html.push_str("</strong><table><tbody>");
    for (name, value) in rows.iter().take(MOST_ROWS) {
        html.push_str("<tr><th style=\"text-align: left\">");
        escape(&mut html, name);
        html.push_str("</th><td style=\"text-align: left\">");
        escape(&mut html, value);
        html.push_str("</td></tr>");
    }
    html.push_str("</tbody></table>");
    if let Some(more) = rows.len().checked_sub(MOST_ROWS).filter(|&more| more > 0) {
        let _ = write!(html, "{more} more");
    }
    html.push_str("</div>");
    html
}

/// A row of such a table.
pub(crate) fn row(name: &str, value: impl Into<String>) -> (String, String) {
    (name.to_owned(), value.into())
}

/// A number as people read it: `12,345`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Adds text in which nothing is markup. Characters that a page would not show, or that change the
/// direction of the text around them, are written as numbers.
fn escape(html: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                let _ = write!(html, "\\u{{{:x}}}", u32::from(c));
            }
            c if c.is_control() => {
                let _ = write!(html, "\\u{{{:x}}}", u32::from(c));
            }
            c => html.push(c),
        }
    }
}
