//! Frames of a call: the stack that `strace -k` prints below it.

/// The start of a line with a frame in the column `extra`.
const FRAME: &str = " > ";

/// The frames of a stack, the outermost first, as `extra` has them: the innermost first.
///
/// strace prints `OBJECT(SYMBOL+OFFSET) [ADDRESS]`, and `OBJECT() [ADDRESS]` or
/// `OBJECT(+OFFSET) [ADDRESS]` where it knows no symbol (`print_stack_frame` in src/unwind.c).
pub(crate) fn frames(extra: &str) -> impl Iterator<Item = &str> {
    extra.rsplit('\n').filter_map(|line| frame(line.strip_prefix(FRAME)?))
}

fn frame(text: &str) -> Option<&str> {
    let text = text.trim();
    let before = text.rfind(") [").map(|at| &text[..at]);
    let symbol = before.and_then(|before| before.split_once('(')).map(|(_, symbol)| symbol);
    let symbol = symbol.map(|symbol| symbol.rsplit_once("+0x").map_or(symbol, |(name, _)| name));
    let object = || {
        let object = text.split(['(', ' ']).next().unwrap_or(text);
        object.rsplit('/').next().unwrap_or(object)
    };
    Some(symbol.filter(|symbol| !symbol.is_empty()).unwrap_or_else(object))
        .filter(|frame| !frame.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_and_objects() {
        let extra = " > /usr/lib/libc.so.6(getpid+0x17) [0x101ab7]\n > /usr/bin/demo(std::map<int, \
                     char const*>::at(int const&) const+0x1f) [0x2f]\n > /usr/bin/demo() [0x11]\n | \
                     00000  61 ";
        let found: Vec<_> = frames(extra).collect();
        assert_eq!(found, ["demo", "std::map<int, char const*>::at(int const&) const", "getpid"]);
        assert_eq!(frames("nothing").count(), 0);
    }
}
