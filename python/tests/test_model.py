import asyncio
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from voltbus._history import History
from voltbus.model import Range, Sample, Series, Source

NOON = datetime(2026, 1, 1, 12, tzinfo=timezone.utc)


def test_a_range_becomes_a_frame_of_its_good_samples() -> None:
    pytest.importorskip("pandas", reason="pandas is an extra")
    later = NOON + timedelta(minutes=1)
    answer = Range(
        series=(
            Series("a", samples=(Sample("a", 1.5, NOON), Sample("a", 2.5, later))),
            Series("b", samples=(Sample("b", 3, later), Sample("b", 9, NOON, "bad(timeout)"))),
            Series("c"),
        )
    )
    frame = answer.frame()
    assert list(frame.columns) == ["a", "b", "c"]
    assert list(frame["a"]) == [1.5, 2.5]
    assert frame["b"].dropna().to_dict() == {later: 3}
    assert frame["c"].isna().all()
    assert str(frame.index.tz) == "UTC"
    assert [(s.point, s.value) for s in answer.rows()] == [
        ("a", 1.5), ("b", 9), ("a", 2.5), ("b", 3),
    ]  # fmt: skip
    assert answer.series[1].samples[0].name == "b"


class Answered(History):
    """A bus whose node gives one answer to every question."""

    def __init__(self, **answer: Any) -> None:
        self.answer = answer
        self.asked: list[dict[str, Any]] = []

    async def node(self, method: str, **kwargs: Any) -> Any:
        self.asked.append({"method": method} | kwargs)
        return self.answer


def test_an_answer_tells_samples_beyond_the_interval() -> None:
    one = {"point": "a", "expected": 60, "present": 60, "extra": 15, "bad": 0}

    async def test() -> None:
        bus = Answered(series=[{**one, "unit": "", "kind": "float", "samples": []}], completeness=0.75)
        told = [(await bus.range("a", NOON)).series[0]]
        bus = Answered(series=[{**one, "unit": "", "buckets": []}], completeness=0.75)
        told.append((await bus.aggregate("a", NOON, step="1h")).series[0])
        for s in told:
            assert s.expected is not None
            assert (s.present - s.extra) / s.expected == 0.75

    asyncio.run(test())


def test_an_answer_says_because_of_which_node_something_is_missing() -> None:
    told = [
        {
            "node": "plant",
            "state": "asked",
            "from": "2026-01-01T11:00:00Z",
            "to": "2026-01-01T12:00:00Z",
            "samples": 3,
        },
        {
            "node": "house",
            "state": "unreachable",
            "samples": 0,
            "since": "2026-01-01T12:00:00Z",
            "waiting": 7,
            "why": "x",
        },
    ]

    async def test() -> None:
        bus = Answered(series=[], samples=[], sources=told)
        newest = await bus.latest("a")
        for answer in (newest, await bus.range("a", NOON), await bus.aggregate("a", NOON, step="1h")):
            plant, house = answer.sources
            assert plant == Source("plant", "asked", NOON - timedelta(hours=1), NOON, samples=3)
            assert (house.state, house.since, house.waiting, house.why) == ("unreachable", NOON, 7, "x")
            assert (plant.whole, house.whole) == (True, False)
        assert newest == {}

    asyncio.run(test())


def test_nodes_below_are_asked_unless_the_answer_is_to_be_local() -> None:
    async def test() -> None:
        bus = Answered(series=[], samples=[])
        for local in (False, True):
            bus.asked.clear()
            await bus.latest("a", local=local)
            await bus.range("a", NOON, local=local)
            await bus.aggregate("a", NOON, step="1h", local=local)
            assert [a["method"] for a in bus.asked] == ["latest", "range", "aggregate"]
            assert [a.get("local", False) for a in bus.asked] == [local] * 3

    asyncio.run(test())


def test_operations_are_asked_by_what_was_given() -> None:
    """What is left out is not sent; with a node the other one is asked."""
    import asyncio
    from typing import Any

    from voltbus.operations import Operations

    asked: list[Any] = []

    class Node:
        async def request(self, *asking: Any, **how: Any) -> Any:
            asked.append((asking, how))
            return {"samples": []}

    async def ask() -> None:
        operations = Operations(Node())  # type: ignore[arg-type]
        assert await operations.history_latest(pattern="a/**") == {"samples": []}
        await operations.document_delete(name="limits")
        await operations.control_cancel(task="night", node="plant-1")

    asyncio.run(ask())
    assert asked == [
        (("node", "latest", (), {"pattern": "a/**"}), {"timeout": 30}),
        (("node", "config_delete", (), {"name": "limits"}), {"timeout": 30}),
        (("plant-1/node", "cancel", (), {"task": "night"}), {"timeout": 30}),
    ]
