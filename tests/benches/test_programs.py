"""Programs of the Rust crates that the benches build."""

import json
import os
from pathlib import Path

import programs


def cargo(folder: Path, *built: tuple[str, str]) -> None:
    """Put a cargo into a folder that says it has built these programs: kind and name."""
    said = [
        {
            "reason": "compiler-artifact",
            "target": {"kind": [kind], "name": name},
            "executable": f"/built/{name}",
        }
        for kind, name in built
    ]
    library = {"reason": "compiler-artifact", "target": {"kind": ["lib"], "name": "core"}}
    lines = [json.dumps(line) for line in [{**library, "executable": None}, *said]]
    program = folder / "cargo"
    program.write_text("#!/bin/sh\ncat <<'END'\n" + "\n".join(lines) + "\nEND\n", encoding="utf-8")
    program.chmod(0o755)


def test_a_bench_is_found_beside_other_programs_of_its_crate(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    cargo(tmp_path, ("bin", "stage"), ("bench", "detours"))
    assert programs.bench("detours") == Path("/built/detours")
    cargo(tmp_path, ("bench", "headers"), ("bin", "stage"))
    assert programs.bench("headers") == Path("/built/headers")
    assert programs.stage() == Path("/built/stage")
