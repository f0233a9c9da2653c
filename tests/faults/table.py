"""The table of what was run: printed, written, and kept in a page between two marks, the newest result of each row."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from tests.faults.history import Findings
from tests.faults.rows import Row

_HEAD = (
    "| row | fault | injected | records | lost | repeated | violations | seconds to recover | seed | run |",
    "|---|---|---|---|---|---|---|---|---|---|",
)
_BEGIN, _END = "<!-- results -->", "<!-- end of results -->"


@dataclass(frozen=True, slots=True)
class Result:
    """What one run of a row came to."""

    row: Row
    found: Findings
    seed: int

    def line(self) -> str:
        """Return the line of the table."""
        found = self.found
        cells = (
            f"{self.row.number:2d}",
            self.row.name,
            found.faults,
            found.records,
            found.lost,
            found.repeated,
            len(found.violations),
            f"{found.recovery_seconds:.1f}",
            self.seed,
            time.strftime("%Y-%m-%d %H:%M", time.gmtime()),
        )
        return "| " + " | ".join(map(str, cells)) + " |"


def head() -> str:
    """Return the table's head."""
    return "\n".join(_HEAD)


def write(file: Path, lines: list[str]) -> None:
    """Put lines into a file's table: each replaces an older one of the same row; the rest of the file stays."""
    text = file.read_text() if file.exists() else f"{_BEGIN}\n{_END}\n"
    before, _, rest = text.partition(_BEGIN)
    kept, _, after = rest.partition(_END)
    known = {_identity(line): line for line in kept.splitlines() if line.startswith("| ") and line not in _HEAD}
    known |= {_identity(line): line for line in lines}
    body = "\n".join([*_HEAD, *(known[identity] for identity in sorted(known))])
    file.write_text(f"{before}{_BEGIN}\n{body}\n{_END}{after}")


def _identity(line: str) -> tuple[int, str]:
    _, number, name, *_ = (cell.strip() for cell in line.split("|"))
    return int(number), name
