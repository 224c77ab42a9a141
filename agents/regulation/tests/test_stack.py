"""The stack decides as the one in Go: both are tested with one file of cases."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import msgspec
import pytest

from regulation.report import Report
from regulation.stack import decide

FILE = Path(__file__).parents[3] / "regulation" / "stack" / "testdata" / "cases.json"
CASES = json.loads(FILE.read_text())


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_the_stack_decides_as_the_shared_cases_say(case: dict[str, Any]) -> None:
    at = datetime(2026, 1, 1, tzinfo=timezone.utc)
    units = [msgspec.convert(u | {"at": at}, Report) for u in case["units"]]
    d = decide(units, case["target"])
    assert [(c.unit, c.on) for c in d.changes] == [(c["unit"], c["on"]) for c in case["changes"]]
    assert [c.speed for c in d.changes] == pytest.approx([c["speed"] for c in case["changes"]])
    assert (d.expected, d.more, d.less) == pytest.approx(
        (case["expected"], case["more"], case["less"]), abs=1e-9
    )
