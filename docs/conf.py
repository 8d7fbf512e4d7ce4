"""How Sphinx makes the site from these pages: `make docs`."""

import os
import re
import subprocess
import sys
from pathlib import Path

from sphinx.application import Sphinx

import tracefast

project = "tracefast"
author = "the tracefast authors"
project_copyright = "the tracefast authors"
release = version = tracefast.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_copybutton",
]

root_doc = "index"
source_suffix = {".md": "markdown"}
html_theme = "furo"
html_title = f"tracefast {release}"
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
# What is copied is what is typed: no prompt, no output.
copybutton_prompt_text = "$ "
copybutton_copy_empty_lines = False

# Sections can be linked from other pages, as on a forge.
myst_heading_anchors = 3
myst_enable_extensions = ["fieldlist"]

# Columns and values stand between single backticks in docstrings.
default_role = "code"
add_module_names = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_maximum_signature_line_length = 88
python_display_short_literal_types = True
autosummary_generate = False
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
# What a docstring must have is checked when the site is made.
numpydoc_validation_checks = {
    "all",
    "ES01",  # A summary may say it all.
    "EX01",  # Records of two fields need no example.
    "GL08",  # ruff looks for docstrings.
    "PR04",  # Types stand in the signature, and are not said twice.
    "RT03",  # As RT01 …
    "SA01",  # Links stand in the text, where they say why.
    "YD01",
}
nitpicky = True
# Types of others, and those that no user makes.
nitpick_ignore_regex = [
    ("py:.*", r"(polars|pl|pyarrow|collections|datetime|typing|os|tracefast\.batch)\..*"),
    ("py:.*", r"(.*\.)?(ArrowStream|Events|InodeMap|Measure|Recording|JoinReport|Exported|Page)"),
    ("py:.*", r"(altair\.)?(Chart|LayerChart|VConcatChart)"),
]

PAGES = Path(__file__).resolve().parent
REPOSITORY = PAGES.parent
# Long enough for the usage lines and the examples, short enough for the page.
_COLUMNS = "92"


def _help(*arguments: str) -> str:
    """Give the help of a command as a user sees it."""
    environment = os.environ | {"COLUMNS": _COLUMNS, "TERM": "dumb", "NO_COLOR": "1"}
    run = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "tracefast", *arguments, "--help"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout.replace("python -m tracefast", "tracefast").rstrip()


def _commands() -> str:
    """Give the help of all commands."""
    main = _help()
    names = re.findall(r"^  ([a-z][a-z-]*) ", main.partition("\nOptions:\n")[2], re.MULTILINE)
    parts = [f"## tracefast\n\n```text\n{main}\n```"]
    parts += [f"## tracefast {name}\n\n```text\n{_help(name)}\n```" for name in names]
    return "\n\n".join(parts)


def _linked(text: str, folder: Path) -> str:
    """Turn links between files of the repository into links between pages of the site.

    What is no page stays as its name only: the site does not have it.
    """

    def link(found: re.Match[str]) -> str:
        words, target, anchor = found.groups("")
        path = (folder / target).resolve()
        if path == REPOSITORY / "CHANGELOG.md":
            return f"[{words}](changelog.md{anchor})"
        if PAGES in path.parents:
            return f"[{words}]({path.relative_to(PAGES)}{anchor})"
        return words if path.exists() else found[0]

    return re.sub(r"\[([^\]]+)\]\(([^)#:\s]+)(#[^)\s]*)?\)", link, text)


def _read(app: Sphinx, page: str, source: list[str]) -> None:
    """Put in what stands elsewhere: the README, the changelog, the help of the commands."""
    text = _linked(source[0], PAGES)
    for name in ("README.md", "CHANGELOG.md"):
        if f"<!-- {name} -->" in text:
            app.env.note_dependency(REPOSITORY / name)
            there = _linked((REPOSITORY / name).read_text(), REPOSITORY)
            text = text.replace(f"<!-- {name} -->", there)
    if page == "commands":
        text = text.replace("<!-- commands -->", _commands())
        # Whatever changed in the code may have changed the help.
        app.env.note_reread()
    source[0] = text


def setup(app: Sphinx) -> None:
    """Connect what is made while the site is built."""
    app.connect("source-read", _read)
