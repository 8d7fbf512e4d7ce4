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
# Lines come from plain, gzip, zstd, xz and bzip2 files: all of them are built in.
import bz2, gzip, lzma  # noqa: E401

line = b'100 1700000000.000100 read(3</srv/a>, "abc", 4096) = 3 <0.000010>\n'
for name, pack in {"plain": bytes, "gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}.items():
    Path(f"log.{name}").write_bytes(pack(line))
    assert tf.scan(f"log.{name}").select("bytes").collect().item() == 3, name
CODE
# What else of the project would it need? Nothing.
python -m pip check --disable-pip-version-check
echo "smoke: ${package##*/} works"
