"""Limits, hysteresis, delays and silence, on a node in memory and in virtual time."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta, timezone
from typing import Any

import msgspec
import pytest
from voltbus import Grants
from voltbus.testing import Node, virtual

from threshold.agent import Settings, Threshold
from threshold.alarm import Alarm, Rule

BOILER = "demo/plant/boiler1"
POINT = f"{BOILER}/supply_temp"
KEY = ("threshold", f"hot/{POINT}")


async def started(node: Node, **rules: dict[str, Any]) -> None:
    node.set_document("threshold", "config", {"rules": rules})
    await node.run(Threshold())


async def report(node: Node, *values: float, every: float = 1) -> None:
    for value in values:
        node.scan(BOILER, {"supply_temp": value})
        await asyncio.sleep(every)


def states(node: Node) -> list[Any]:
    return [s.value for s in node.recorded if s.point == f"analysis/alarm/hot/{POINT}"]


@virtual
async def test_an_alarm_comes_above_the_limit_and_goes_only_below_the_hysteresis() -> None:
    async with Node() as node:
        await started(node, hot={"points": "demo/**", "above": 80, "hysteresis": 5})
        await report(node, 79, 81, 76)
        assert node.alerts[KEY].text == f"{POINT}: 81, above 80"
        await report(node, 75)
        assert KEY not in node.alerts
        assert states(node) == [False, True, False]


@virtual
async def test_an_alarm_that_lasts_is_raised_again_when_a_person_clears_its_alert() -> None:
    async with Node() as node:
        await started(node, hot={"points": "demo/**", "above": 80})
        await report(node, 81)
        node.clear_alert(*KEY)
        assert KEY not in node.alerts
        await report(node, 82)
        assert KEY in node.alerts
        await report(node, 79)
        assert KEY not in node.alerts


@virtual
async def test_a_limit_from_below() -> None:
    async with Node() as node:
        await started(node, hot={"points": POINT, "below": 5, "severity": "critical"})
        await report(node, 4)
        assert node.alerts[KEY].severity == "critical"
        await report(node, 6)
        assert KEY not in node.alerts


@virtual
async def test_a_short_peak_is_no_alarm_and_a_short_dip_ends_none() -> None:
    async with Node() as node:
        await started(node, hot={"points": POINT, "above": 80, "delay_on": 10, "delay_off": 20})
        await report(node, 70, 90, 90, 70)
        assert states(node) == [False]
        await report(node, 90, every=12)
        assert KEY in node.alerts
        await report(node, 70, every=12)
        await report(node, 90)
        await report(node, 70, every=12)
        assert KEY in node.alerts
        await asyncio.sleep(10)
        assert KEY not in node.alerts


@virtual
async def test_silence_is_an_alarm_also_of_a_point_that_never_reported() -> None:
    async with Node() as node:
        node.record(POINT, 60.0)
        await started(node, hot={"points": "demo/**", "stale": 30})
        await asyncio.sleep(32)
        assert node.alerts[KEY].text == f"{POINT}: no value yet, without a good reading for 30 s"
        await report(node, 60)
        assert KEY not in node.alerts


@virtual
async def test_a_bad_reading_is_none() -> None:
    async with Node() as node:
        await started(node, hot={"points": POINT, "above": 80, "stale": 30})
        await report(node, 60)
        for _ in range(33):
            node.scan(BOILER, {"supply_temp": 99.0}, quality={"supply_temp": "bad(sensor)"})
            await asyncio.sleep(1)
        assert "without a good reading" in node.alerts[KEY].text


@virtual
async def test_a_rule_that_goes_takes_its_alert_along_and_one_that_stays_keeps_it() -> None:
    async with Node() as node:
        warm = {"points": POINT, "above": 50}
        await started(node, hot={"points": POINT, "above": 80}, warm=warm)
        await report(node, 90)
        since = node.alerts["threshold", f"warm/{POINT}"].since
        node.set_document("threshold", "config", {"rules": {"warm": warm}})
        await asyncio.sleep(1)
        assert KEY not in node.alerts
        assert states(node) == [True, False]
        await report(node, 90)
        assert node.alerts["threshold", f"warm/{POINT}"].since == since


@virtual
async def test_others_can_ask_for_the_alarms() -> None:
    async with Node() as node:
        await started(node, hot={"points": POINT, "above": 80})
        await report(node, 90)
        grants = msgspec.convert({"call": [{"agent": "threshold", "method": "alarms"}]}, Grants)
        panel = await node.connect("panel", grants)
        (alarm,) = await panel.call("threshold", "alarms")
        assert (alarm["rule"], alarm["point"], alarm["why"]) == ("hot", POINT, "above 80")


@virtual
async def test_points_that_are_not_granted_make_it_ill_until_they_are() -> None:
    async with Node() as node:
        node.set_document(
            "threshold", "config", {"rules": {"hot": {"points": "campus/**", "above": 80}}}
        )
        await node.run(Threshold())
        await asyncio.sleep(1)
        assert "missing: subscribe campus/**" in str(node.health["threshold"])
        more = Grants(subscribe=["campus/**"], read=["campus/**"], record=["analysis/**"])
        node.grant("threshold", more)
        await asyncio.sleep(1)
        node.scan("campus/b1", {"temp": 90.0})
        await asyncio.sleep(1)
        assert ("threshold", "hot/campus/b1/temp") in node.alerts
        assert node.health["threshold"]["status"] == "good"


@virtual
async def test_a_wrong_document_changes_nothing_and_says_what_to_write() -> None:
    async with Node() as node:
        await started(node, hot={"points": POINT, "above": 80})
        node.set_document("threshold", "config", {"rules": {"hot": {"points": POINT}}})
        await report(node, 90)
        assert KEY in node.alerts
        assert (
            "rules.hot: it would never be an alarm; give above"
            in node.alerts["threshold", "config"].text
        )


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"points": "a", "above": 1, "below": 2}, "below must be less than above"),
        ({"points": "a", "above": 1, "hysteresis": -1}, "cannot be negative"),
        ({"points": "a", "stale": 0}, "above 0"),
        ({"points": "a", "above": 1, "severity": "loud"}, "severity is info, warning, critical"),
        ({"points": "a", "above": 1, "abov": 1}, "unknown field `abov`"),
        ({"above": 1}, "missing required field `points`"),
    ],
)
def test_settings_that_are_wrong_say_what_to_write(rule: dict[str, Any], words: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=words):
        msgspec.convert({"rules": {"r": rule}}, Settings)


def test_a_name_with_a_slash_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="leave out / and"):
        msgspec.convert({"rules": {"a/b": {"points": "a", "above": 1}}}, Settings)


def test_nothing_is_known_before_the_first_reading() -> None:
    now = datetime(2026, 1, 1, tzinfo=timezone.utc)
    alarm = Alarm(Rule("p", above=1.0), now)
    assert not alarm.look(now + timedelta(days=1))
    assert alarm.state is None
