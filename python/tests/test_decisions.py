"""The node in memory decides about commands as a node does.

The scenarios, and what a node decides, are written by a test of the node: control/access/testdata.
"""

import json
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from voltbus._history import moment
from voltbus.errors import Error
from voltbus.grant import Grants
from voltbus.testing._control import Control

START = datetime(2026, 3, 9, 12, tzinfo=timezone.utc)
FILE = Path(__file__).parents[2] / "control" / "access" / "testdata" / "decisions.json"
SCENARIOS = json.loads(FILE.read_text()) if FILE.exists() else []  # a wheel is tested without it

# What the node in memory has not: policies of points, points that are read-only, overrides.
WITHOUT = {
    "a read-only point takes no command",
    "an override refuses every command",
    "a point that demands a reservation",
    "a point that demands approval",
    "a value beyond the range of the point",
    "a point that demands a lease",
    "the level of minimum times is kept for them",
}


def beyond(scenario: dict[str, Any]) -> bool:
    points = any("policy" in p or p.get("read_only") for p in scenario["points"])
    return points or any(s["do"] == "override" for s in scenario["steps"])


def test_only_what_the_node_in_memory_has_not_is_left_out() -> None:
    assert {s["name"] for s in SCENARIOS if beyond(s)} == (WITHOUT if SCENARIOS else set())


class Replay:
    """A scenario that is asked of the part that decides about commands."""

    def __init__(self, scenario: dict[str, Any]) -> None:
        self.now = START
        self.points = [p["point"] for p in scenario["points"]]
        self.control = Control(lambda: self.now, lambda _: Grants(administer=True))
        self.control.defaults.update({p["point"]: p["default"] for p in scenario["points"]})

    def arguments(self, step: dict[str, Any]) -> dict[str, Any]:
        at = {name: moment(START + timedelta(seconds=step.get(name, 0))) for name in ("from", "to")}
        given = {
            k: step[k] for k in ("point", "id", "value", "level", "lease", "task", "fence") if k in step
        }
        if step["do"] == "reserve":
            window = {"path": step["point"]} | at
            return {"task": step["task"], "windows": [window], "priority": step["priority"]}
        return {"path": step["point"]} if step["do"] == "revert" else given

    def ask(self, step: dict[str, Any]) -> dict[str, Any]:
        by = step["by"].removeprefix("agent:")
        try:
            return self.control.handlers[step["do"]](by, **self.arguments(step))
        except Error as e:
            return {"status": "refused", "error": {"kind": e.kind, "why": e.why}}

    def levels(self, point: str) -> dict[str, str]:
        return {str(level): s.requester for level, s in self.control._array(point).items()}


def told(answer: dict[str, Any]) -> dict[str, Any]:
    """Return what a decision of the file and an answer of the node in memory both say."""
    error = answer.get("error") or {}
    out = {"status": answer["status"], "wins": answer.get("wins", False), "kind": error.get("kind", "")}
    return out | {"repeat": answer.get("repeat", False)}


@pytest.mark.parametrize("scenario", [s for s in SCENARIOS if not beyond(s)], ids=lambda s: s["name"])
def test_the_node_in_memory_decides_as_a_node_does(scenario: dict[str, Any]) -> None:
    replay = Replay(scenario)
    for step in scenario["steps"]:
        replay.now = START + timedelta(seconds=step["at"])
        if step["do"] != "look":
            want = step["decided"]
            got = replay.ask(step)
            assert told(got) == told(want | {"error": {"kind": want.get("kind", "")}}), step
            if want.get("why") in {"held", "reserved", "conflict", "fenced"} and "error" in got:
                assert got["error"].get("why") == want["why"], step
            if step["do"] == "set" and "until" in want:
                assert got["until"] == moment(START + timedelta(seconds=want["until"]))
        for point in replay.points:
            after = step["after"][point]
            assert replay.control.value(point) == after["value"], step
            assert replay.levels(point) == after.get("levels", {}), step
