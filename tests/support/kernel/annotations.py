"""What `-y` and `-yy` add to strace's text, recognised and taken out.

`PYTHONPATH=tests python -m support.kernel.annotations < annotated > plain` shows what strace would
have written without them.
"""

import sys

QUOTE, ESCAPE, LESS, MORE = b'"\\<>'
# After these an annotation may come: a descriptor's digit, the D of AT_FDCWD.
OWNERS = frozenset(b"0123456789D")
DELETED = b"(deleted)"


def quoted_end(line: bytes, at: int) -> int:
    """Give the place after the string whose quotation mark is at `at`."""
    at += 1
    while at < len(line) and line[at] != QUOTE:
        at += 2 if line[at] == ESCAPE else 1
    return min(at + 1, len(line))


def annotation_end(line: bytes, at: int) -> int | None:
    """Give the place after the annotation that starts at `at`; None if none does."""
    depth = brackets = 0
    start = at
    while at < len(line):
        byte = line[at]
        if byte == QUOTE and brackets:  # The name of a socket.
            at = quoted_end(line, at)
            continue
        if byte == ESCAPE:
            at += 1
        elif byte in b"[]":
            brackets += 1 if byte == b"["[0] else -1
        elif byte == LESS:
            depth += 1
        elif byte == MORE and not (brackets and line[at - 1 : at] == b"-"):  # No arrow.
            depth -= 1
            if depth == 0:
                break
        at += 1
    else:
        return None
    at += 1
    return at + len(DELETED) * (at > start and line.startswith(DELETED, at))


def parts(line: bytes) -> list[tuple[bytes, bytes]]:
    """Cut a line into pieces, each with the annotation that follows it, without its brackets."""
    found = []
    at = last = 0
    while at < len(line):
        if line[at] == QUOTE:
            at = quoted_end(line, at)
            continue
        if line[at] == LESS and at and line[at - 1] in OWNERS and line[at + 1 : at + 2] != b"<":
            end = annotation_end(line, at)
            if end is not None:
                body = line[at + 1 : end].removesuffix(DELETED).removesuffix(b">")
                found.append((line[last:at], body))
                at = last = end
                continue
        # A shift is two of them.
        at += 2 if line.startswith(b"<<", at) else 1
    return [*found, (line[last:], b"")]


def strip(text: bytes) -> bytes:
    """Take all annotations of descriptors out of a log."""
    lines = text.split(b"\n")
    return b"\n".join(b"".join(piece for piece, _ in parts(line)) for line in lines)


if __name__ == "__main__":
    sys.stdout.buffer.write(strip(sys.stdin.buffer.read()))
