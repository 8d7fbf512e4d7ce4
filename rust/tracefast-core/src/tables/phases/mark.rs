//! The marks that programs make: paths that do not exist, which both tracers show when a program
//! looks one up, and texts in the kernel's `trace_marker`.

/// What a mark does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark<'a> {
    /// Begins a phase, and ends the one that another such mark began.
    Next(&'a str),
    /// Begins a phase within the one that is open.
    Begin(&'a str),
    /// Ends a phase, and those within it.
    End(&'a str),
}

impl<'a> Mark<'a> {
    /// `/tracefast/phase/train`, `/tracefast/begin/load`, `/tracefast/end/load`.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let (verb, name) = text.strip_prefix("/tracefast/")?.split_once('/')?;
        if name.is_empty() {
            return None;
        }
        match verb {
            "phase" => Some(Self::Next(name)),
            "begin" => Some(Self::Begin(name)),
            "end" => Some(Self::End(name)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        for (text, mark) in [
            ("/tracefast/phase/train", Some(Mark::Next("train"))),
            ("/tracefast/begin/a/b", Some(Mark::Begin("a/b"))),
            ("/tracefast/end/load", Some(Mark::End("load"))),
            ("/tracefast/phase/", None),
            ("/tracefast/phase", None),
            ("/srv/tracefast/phase/x", None),
        ] {
            assert_eq!(Mark::parse(text), mark, "{text}");
        }
    }
}
