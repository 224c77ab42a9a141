"""Queries, alerts and what goes wrong, on a node in memory and a search engine on loopback."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from voltbus.testing import Node, virtual

from searchalarm.agent import SearchAlarm, Settings
from searchalarm.query import Incomplete, Rule, values
from threshold.agent import Threshold  # type: ignore[import-not-found]

from .index import PASSWORD, Index, search_engine

WARM = {"index": "readings", "points": "*/zone_temp", "above": 26}
POINT = "campus/b1/zone_temp"
KEY = ("searchalarm", f"too-warm/{POINT}")


@pytest.fixture
def index() -> Iterator[Index]:
    with search_engine() as found:
        yield found


@pytest.fixture
def server(index: Index, tmp_path: Path) -> dict[str, Any]:
    (tmp_path / "password").write_text(f"{PASSWORD}\n")
    return {"url": index.url, "user": "plant", "password": {"file": str(tmp_path / "password")}}


def store(node: Node, server: dict[str, Any], **rules: dict[str, Any]) -> None:
    node.set_document("searchalarm", "config", {"server": server, "rules": rules, "every": 3600})


async def look(agent: SearchAlarm) -> dict[str, str]:
    """Let it ask with the settings that are stored, and the node hear of it."""
    await asyncio.sleep(0.1)
    troubles = await agent.look()
    await asyncio.sleep(0.1)
    return troubles


@virtual
async def test_a_zone_that_is_too_warm_is_an_alert_until_it_is_not(
    index: Index, server: dict[str, Any]
) -> None:
    index.add(POINT, 27, ago=60)
    index.add(POINT, 28, ago=10)
    index.add("campus/b2/zone_temp", 22)
    index.add("campus/b1/supply_temp", 60)
    async with Node() as node:
        store(node, server, **{"too-warm": WARM})
        agent = SearchAlarm()
        await node.run(agent)
        assert await look(agent) == {}
        assert node.alerts[KEY].text == f"{POINT}: 27.5, above 26"
        assert len(node.alerts) == 1
        index.add(POINT, 20)
        assert await look(agent) == {}
        assert KEY not in node.alerts


@virtual
async def test_readings_that_are_bad_old_or_elsewhere_do_not_count(
    index: Index, server: dict[str, Any]
) -> None:
    index.add(POINT, 99, ago=301)
    index.add(POINT, 99, quality="bad(sensor)")
    index.add("campus/zone_temps", 99)
    async with Node() as node:
        store(node, server, **{"too-warm": WARM})
        agent = SearchAlarm()
        await node.run(agent)
        assert await look(agent) == {}
        assert not node.alerts


@virtual
async def test_an_alert_stays_while_the_engine_is_away_or_knows_less(
    index: Index, server: dict[str, Any]
) -> None:
    index.add(POINT, 30)
    async with Node() as node:
        store(node, server, **{"too-warm": WARM})
        agent = SearchAlarm()
        await node.run(agent)
        await look(agent)
        index.failed_shards = 1
        assert "every shard" in (await look(agent))["too-warm"]
        assert "every shard" in str(node.health["searchalarm"])
        index.failed_shards = 0
        index.docs["readings"].clear()
        assert await look(agent) == {}
        assert KEY in node.alerts
        assert node.health["searchalarm"]["status"] == "good"


@virtual
async def test_a_rule_that_goes_takes_its_alerts_along(index: Index, server: dict[str, Any]) -> None:
    index.add(POINT, 30)
    async with Node() as node:
        store(node, server, **{"too-warm": WARM})
        agent = SearchAlarm()
        await node.run(agent)
        await look(agent)
        store(node, server, cold={"index": "readings", "below": 10})
        await look(agent)
        assert not node.alerts


@virtual
async def test_what_the_engine_refuses_is_said(
    index: Index, server: dict[str, Any], tmp_path: Path
) -> None:
    index.add(POINT, 30)
    (tmp_path / "password").write_text("guess\n")
    async with Node() as node:
        store(node, server, **{"too-warm": WARM})
        agent = SearchAlarm()
        await node.run(agent)
        assert "status 401: security_exception" in (await look(agent))["too-warm"]
        (tmp_path / "password").write_text(f"{PASSWORD}\n")
        store(node, server, **{"too-warm": WARM | {"index": "reading"}})
        assert "no such index [reading]" in (await look(agent))["too-warm"]


@virtual
async def test_the_agent_threshold_raises_the_same_alert_on_the_same_readings(
    index: Index, server: dict[str, Any]
) -> None:
    async with Node() as node:
        store(node, server, warm=WARM | {"of": "max"})
        rule = {"points": "demo/*/zone_temp", "above": 26}
        node.set_document("threshold", "config", {"rules": {"warm": rule}})
        agent = SearchAlarm()
        await node.run(agent)
        await node.run(Threshold())

        async def report(value: float) -> set[str]:
            node.scan("demo/b1", {"zone_temp": value})
            node.scan("demo/b2", {"zone_temp": 21.0})
            index.now += timedelta(seconds=301)
            index.add("demo/b1/zone_temp", value)
            index.add("demo/b2/zone_temp", 21)
            await asyncio.sleep(2)
            assert await look(agent) == {}
            found = {(a, k): (v.text, v.severity) for (a, k), v in node.alerts.items()}
            one = {k: told for (a, k), told in found.items() if a == "threshold"}
            assert one == {k: told for (a, k), told in found.items() if a == "searchalarm"}
            return {text for text, _ in one.values()}

        assert await report(25) == set()
        assert await report(28.5) == {"demo/b1/zone_temp: 28.5, above 26"}
        assert await report(25.5) == set()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"rules": {"r": {"index": "readings"}}}, "it would never be an alarm; give above or below"),
        ({"rules": {"r": WARM | {"index": "a/b"}}}, "index is the name of one index"),
        ({"rules": {"r": WARM | {"below": 27}}}, "below must be less than above"),
        ({"rules": {"r": WARM | {"window": 0}}}, "window is 1 to 86400 seconds"),
        ({"rules": {"a/b": WARM}}, "leave out / and"),
        ({"server": {"url": "search.example"}}, "such as https://search.example:9200"),
        ({"server": {"url": "http://a", "password": {}}}, "give a file, or env"),
        ({"every": 0}, "every is a number of seconds from 1"),
    ],
)
def test_settings_that_are_wrong_say_what_to_write(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=words):
        msgspec.convert(settings, Settings)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b"[]", "not that of a search"),
        (b'{"aggregations":{"points":{"buckets":[],"sum_other_doc_count":3}}}', "narrower pattern"),
        (b'{"timed_out":true,"aggregations":{"points":{"buckets":[]}}}', "stay as they are"),
    ],
)
def test_an_answer_that_has_not_all_is_none(answer: bytes, words: str) -> None:
    with pytest.raises(Incomplete, match=words):
        values(answer)


def test_a_value_is_beyond_a_limit_or_not() -> None:
    rule = Rule("readings", above=26.0, below=15.0)
    assert [rule.why(v) for v in (26.0, 26.1, 15.0, 14.0)] == ["", "above 26", "", "below 15"]
