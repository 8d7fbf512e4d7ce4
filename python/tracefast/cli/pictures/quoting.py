"""Names inside texts for Graphviz and Mermaid, in which they must stay names."""

from typing import Final

# What Mermaid reads as a part of its language; `#35;` and the like are its own escapes.
_MERMAID: Final = {ord(sign): f"#{ord(sign)};" for sign in '#"&<>`\\'}


def dot_text(text: str) -> str:
    r"""Quote a text for Graphviz.

    Examples
    --------
    >>> print(dot_text('a "b" \\n'))
    "a \"b\" \\n"
    """
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def mermaid_text(text: str) -> str:
    """Quote a text for Mermaid.

    Examples
    --------
    >>> mermaid_text('a "b" <c>')
    '"a #34;b#34; #60;c#62;"'
    """
    return '"' + text.translate(_MERMAID) + '"'
