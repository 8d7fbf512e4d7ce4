#!/usr/bin/env bash
# Installs one wheel or sdist into an empty environment, and uses it as somebody who has nothing else
# of this project: tests/smoke.sh dist/tracefast-*.whl
set -euo pipefail

package=$(realpath "${1:?give a wheel or an sdist}")
python=${PYTHON:-python3}
logs=$(realpath "$(dirname "${BASH_SOURCE[0]}")")/data
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Not in the repository: what is imported must be what was installed.
cd "$work"
unset PYTHONPATH
"$python" -m venv environment
export PATH=$work/environment/bin:$PATH
python -m pip install --quiet --disable-pip-version-check "$package"

tracefast --version
cp "$logs/demo.strace.zst" "$logs/demo.ftrace.zst" .
tracefast parse demo.strace.zst -o demo.parquet
tracefast files demo.parquet --top 3
tracefast forks demo.parquet --top 3
tracefast events demo.ftrace.zst --top 3
tracefast parse ./*.zst --out-dir events
python - <<'CODE'
import bz2
import gzip
import lzma
from pathlib import Path

import polars as pl
import pyarrow as pa

import tracefast as tf

assert "environment" in Path(tf.__file__).parts, tf.__file__
table = pa.table(tf.read("demo.strace.zst"))
events = pl.read_parquet("demo.parquet")
assert table.num_rows == events.height > 20_000
both = pl.scan_parquet("events").select(pl.len()).collect().item()
assert both > events.height
# All that unpacks logs is in the extension.
line = b'100 1700000000.000100 read(3</srv/a>, "abc", 4096) = 3 <0.000010>\n'
for pack in (bytes, gzip.compress, bz2.compress, lzma.compress):
    Path("log").write_bytes(pack(line))
    assert tf.scan("log").select("bytes").collect().item() == 3, pack
CODE
python -m pip check --disable-pip-version-check
echo "smoke: ${package##*/} works"
