//! Slow versions of what is done to text: escapes undone, annotations ended, halves joined.

/// The bytes that strace printed as `escaped`, without the quotes.
///
/// An octal escape is up to three digits long; a backslash before anything that is no escape
/// stands for that byte, and `\x` without two digits for itself.
pub fn unescape(escaped: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < escaped.len() {
        let (bytes, taken) = escape(&escaped[at..]);
        out.extend(bytes);
        at += taken;
    }
    out
}

/// The first escape or byte of a text: what it stands for, and its length.
fn escape(text: &[u8]) -> (Vec<u8>, usize) {
    let simple = |byte: u8| (vec![byte], 2);
    match text {
        [b'\\', b'n', ..] => simple(0x0a),
        [b'\\', b't', ..] => simple(0x09),
        [b'\\', b'r', ..] => simple(0x0d),
        [b'\\', b'f', ..] => simple(0x0c),
        [b'\\', b'v', ..] => simple(0x0b),
        [b'\\', b'x', digits @ ..] => {
            let two = digits.get(..2).filter(|two| two.iter().all(u8::is_ascii_hexdigit));
            match two.and_then(|two| std::str::from_utf8(two).ok()) {
                Some(two) => (u8::from_str_radix(two, 16).into_iter().collect(), 4),
                None => (b"\\x".to_vec(), 2),
            }
        }
        [b'\\', b'0'..=b'7', ..] => {
            let digits: Vec<u16> = text[1..]
                .iter()
                .take(3)
                .take_while(|b| matches!(b, b'0'..=b'7'))
                .map(|b| u16::from(b - b'0'))
                .collect();
            let value = digits.iter().fold(0, |value, digit| value * 8 + digit);
            (vec![value as u8], 1 + digits.len())
        }
        [b'\\', other, ..] => simple(*other),
        [byte, ..] => (vec![*byte], 1),
        [] => (Vec::new(), 1),
    }
}

/// The index of the `>` that ends an annotation; `body` is everything after its `<`.
pub fn annotation_end(body: &[u8]) -> Option<usize> {
    if is_socket(body) {
        let mut quoted = false;
        let mut at = 0;
        while at < body.len() {
            match body[at] {
                b'\\' if quoted => at += 1,
                b'"' => quoted = !quoted,
                b']' if !quoted && body.get(at + 1) == Some(&b'>') => return Some(at + 1),
                _ => {}
            }
            at += 1;
        }
        return None;
    }
    let mut open = 1;
    for (at, byte) in body.iter().enumerate() {
        match byte {
            b'<' => open += 1,
            b'>' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return Some(at);
        }
    }
    None
}

/// `PROTOCOL:[` or the `(null):[` of some versions.
fn is_socket(body: &[u8]) -> bool {
    if body.starts_with(b"(null):[") {
        return true;
    }
    let inside = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'-');
    let name = body.iter().take_while(|b| inside(b)).count();
    body.first().is_some_and(u8::is_ascii_uppercase) && body[name..].starts_with(b":[")
}

/// The arguments of a call with `entry` printed when it started and `rest` when it ended;
/// `old`: the version puts a blank after `resumed>`, other than before the mark of a task that
/// died in the call, which has its own.
pub fn join(entry: &[u8], rest: &[u8], old: bool) -> Vec<u8> {
    let gap = old && !rest.starts_with(b" <unfinished ...>)");
    let rest = if gap { rest.strip_prefix(b" ").unwrap_or(rest) } else { rest };
    [entry, rest].concat()
}

/// Whether `rest` starts with the blank that old versions put after `resumed>`; some texts have
/// one of their own.
pub fn begins_with_gap(rest: &[u8]) -> bool {
    let own = [&b" => "[..], b" <", b" or "];
    rest.starts_with(b" ") && !own.iter().any(|own| rest.starts_with(own))
}

/// `bytes` as text: what is not UTF-8 appears as `\xNN`, byte by byte.
pub fn visible(bytes: &[u8]) -> String {
    let mut out = String::new();
    let mut rest = bytes;
    while let Some(&first) = rest.first() {
        // A letter has at most four bytes.
        let letter = (1..=4)
            .filter_map(|len| rest.get(..len))
            .find_map(|some| std::str::from_utf8(some).ok());
        if let Some(letter) = letter {
            out += letter;
            rest = &rest[letter.len()..];
        } else {
            out += &format!("\\x{first:02x}");
            rest = &rest[1..];
        }
    }
    out
}
