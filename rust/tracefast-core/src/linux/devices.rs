//! Device files by their usual names.

/// Whether `path` is a character device without positions, by its usual name: all that a log
/// without `fstat` shows of it (Documentation/admin-guide/devices.txt).
pub(crate) fn is_stream_device(path: &[u8]) -> bool {
    let Some(name) = path.strip_prefix(b"/dev/") else { return false };
    matches!(
        name,
        b"null" | b"zero" | b"full" | b"random" | b"urandom" | b"console" | b"ptmx" | b"kmsg"
    ) || [&b"tty"[..], b"pts/", b"nvidia", b"dri/", b"snd/", b"net/", b"input/"]
        .iter()
        .any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_without_positions_are_known_by_name() {
        assert!(is_stream_device(b"/dev/null") && is_stream_device(b"/dev/pts/3"));
        assert!(
            !is_stream_device(b"/dev/sda")
                && !is_stream_device(b"/dev/shm/x")
                && !is_stream_device(b"/null")
        );
    }
}
