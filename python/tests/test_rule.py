from __future__ import annotations

import contextlib
import io
import json
from datetime import datetime, timezone
from typing import Any

import pytest

from voltbus import _judging
from voltbus.rule import PASS, Reading, mark, withhold

HEADER = "from voltbus.rule import *\n"
REQUEST = {
    "points": ["a/b", "c"],
    "qualities": ["good", "bad(timeout)"],
    "point": [0, 1, 0],
    "time": [0, 1_000_000, 2],
    "value": [20.5, "warm", float("inf")],
    "quality": [0, 1, 0],
}


def framed(message: Any) -> bytes:
    body = json.dumps(message).encode()
    return len(body).to_bytes(4, "big") + body


def served(source: str, wanted: str = "", *requests: Any) -> list[Any]:
    answers = io.BytesIO()
    requests_ = io.BytesIO(b"".join(map(framed, requests)))
    with contextlib.suppress(SystemExit):
        _judging.serve(requests_, answers, "rule.py", HEADER + source, wanted)
    answers.seek(0)
    return list(iter(lambda: _judging.receive(answers), None))


def test_a_reading_tells_what_it_is() -> None:
    warm = Reading("a/b", True, "good(override)", 1_500_000)
    assert warm.time == datetime(1970, 1, 1, 0, 0, 1, 500_000, timezone.utc)
    assert warm.good
    assert warm.number == 1.0
    for value in ("warm", None, float("nan"), float("inf")):
        assert Reading("a", value, "uncertain", 0).number is None
    assert not Reading("a", 1, "uncertain", 0).good


def test_verdicts_other_than_to_pass_are_answered() -> None:
    source = "@each\ndef f(r):\n    return withhold(r.quality) if r.number is None else None\n"
    want = {"said": [[1, "w", "bad(timeout)"], [2, "w", "good"]]}
    assert served(source, "", REQUEST, REQUEST) == [{}, want, want]
    source = "def f(rs):\n    return [PASS, mark('doubtful'), PASS]\n"
    assert served(source, "f", REQUEST) == [{}, {"said": [[1, "m", "doubtful"]]}]


@pytest.mark.parametrize(
    ("source", "wanted", "complaint"),
    [
        ("", "", "rule.py: no function is marked with @rule or @each; name one in the key function"),
        ("@each\ndef f(r): ...\n@rule\ndef g(r): ...", "", "rule.py: several functions are marked"),
        ("", "g", "rule.py: there is no function g"),
        ("def f(:", "", "rule.py: SyntaxError: "),
        ("@rule\ndef f(rs):\n    return []", "", "rule.py: it gave 0 verdicts on 3 readings"),
        (
            "@each\ndef f(r):\n    return 1 / 0",
            "",
            "rule.py, line 4: ZeroDivisionError: division by zero",
        ),
        ("@each\ndef f(r):\n    return 'pass'", "", "rule.py: 'pass' is not a verdict"),
    ],
)
def test_what_goes_wrong_is_told_in_a_line(source: str, wanted: str, complaint: str) -> None:
    last = served(source, wanted, REQUEST)[-1]
    assert last["failed"].startswith(complaint)
    assert last["memory"] is False


def test_exhausted_memory_is_told() -> None:
    assert served("@each\ndef f(r):\n    raise MemoryError", "", REQUEST)[-1]["memory"] is True


def test_verdicts_are_what_they_say() -> None:
    assert PASS.action == "pass"
    assert mark() == ("mark", "")
    assert withhold("too warm").reason == "too warm"
