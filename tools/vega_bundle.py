"""Make the script that draws the charts of pages: `python tools/vega_bundle.py`.

It is Vega, Vega-Lite and vega-embed in one file, as vl-convert bundles them, which takes seconds.
So it is made once for a version of vl-convert, and lies in the package.
"""

import gzip
import hashlib
from importlib.metadata import version
from pathlib import Path

import vl_convert

ASSETS = Path(__file__).parents[1] / "python" / "tracefast" / "page" / "assets"


def bundle() -> str:
    """Give the script."""
    return vl_convert.javascript_bundle()


def described(script: str) -> dict[str, str]:
    """Say what it is, as the first lines of `NOTICE` do."""
    return {
        "vl-convert-python": version("vl-convert-python"),
        "Vega": vl_convert.get_vega_version(),
        "Vega-Lite": vl_convert.get_vegalite_versions()[-1],
        "vega-embed": vl_convert.get_vega_embed_version(),
        "SHA-256": hashlib.sha256(script.encode()).hexdigest(),
    }


def main() -> None:
    """Write the script, and what it is."""
    script = bundle()
    (ASSETS / "vega.js.gz").write_bytes(gzip.compress(script.encode(), 9, mtime=0))
    notice = ASSETS / "NOTICE"
    _, mark, licences = notice.read_text().partition("\n\n")
    lines = [f"{name}: {value}" for name, value in described(script).items()]
    notice.write_text("\n".join(lines) + mark + licences)


if __name__ == "__main__":
    main()
