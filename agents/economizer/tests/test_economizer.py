"""Each rule by itself, and synthetic days of an air handler, healthy and faulty."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import pytest
from voltbus import Grants
from voltbus.testing import Node, Runner, virtual

from economizer.agent import Economizer, Settings
from economizer.rules import RULES, Finding, State, Tolerance, judge

AHU = "demo/office/ahu"
# A cool day: 5 °C outdoors, the damper at its least, the heating coil at work.
COOL = State(5, 18.6, 22, 18, damper=20, least=20, cooling=0, heating=30)
# A mild day with much sun: free cooling is not enough.
MILD = State(15, 15, 22, 13, damper=100, least=20, cooling=40, heating=0)
# A hot day.
HOT = State(32, 24, 22, 13, damper=20, least=20, cooling=90, heating=0)


@pytest.mark.parametrize("state", [COOL, MILD, HOT])
def test_a_healthy_air_handler_has_no_fault(state: State) -> None:
    assert [n for n, f in judge(state, Tolerance()).items() if f.fault] == []


@pytest.mark.parametrize(
    ("state", "fault", "words"),
    [
        (replace(COOL, mixed=25), "sensors", "one of the three sensors"),
        (replace(HOT, mixed=19), "sensors", "Compare them"),
        (replace(MILD, damper=20, mixed=20.6), "not_economizing", "is told 20 %"),
        (replace(MILD, mixed=19), "not_economizing", "only 43 % of the mix"),
        (replace(COOL, damper=60), "economizing", "heating valve is at 30 %"),
        (replace(HOT, damper=90, mixed=31), "economizing", "warmer than return air"),
        (replace(COOL, mixed=10), "excess_outdoor_air", "71 % of the mix"),
        (replace(HOT, mixed=30), "excess_outdoor_air", "stuck blade"),
        (replace(COOL, mixed=21.5), "insufficient_outdoor_air", "3 % of the mix"),
    ],
)
def test_a_fault_is_found_and_its_text_says_where_to_look(state: State, fault: str, words: str) -> None:
    finding = judge(state, Tolerance())[fault]
    assert finding.fault
    assert words in finding.text


def test_behind_wrong_sensors_nothing_else_is_judged() -> None:
    findings = judge(replace(COOL, mixed=30), Tolerance())
    assert [n for n, f in findings.items() if f.judged] == ["sensors"]


def test_airs_that_hardly_differ_tell_nothing_of_the_share() -> None:
    findings = judge(State(20, 21, 22, 18, 20, 20, 30, 0), Tolerance())
    assert (
        findings["excess_outdoor_air"] == findings["insufficient_outdoor_air"] == Finding(judged=False)
    )


# -- days


@dataclass
class Unit:
    """A simulated air handler; what is wrong with it is a function of its healthy state."""

    mean: float  # outdoor temperature of the day, °C
    wrong: Callable[[dict[str, Any]], None] = lambda v: None

    def scan(self, hour: float) -> dict[str, Any]:
        outdoor = self.mean + 6 * math.cos(2 * math.pi * (hour - 15) / 24)
        v: dict[str, Any] = {"outdoor_temp": outdoor, "return_temp": 22.5, "fan_running": True}
        v |= {"min_outdoor_air": 20.0, "supply_setpoint": 16.0, "blade": None}
        v["damper"] = 20.0
        if outdoor < v["return_temp"] - 1:
            need = (v["return_temp"] - 16) / (v["return_temp"] - outdoor)
            v["damper"] = 100 * min(max(need, 0.2), 1)
        self.wrong(v)
        share = (v["damper"] if v["blade"] is None else v["blade"]) / 100
        v["mixed_temp"] = v["return_temp"] + share * (outdoor - v["return_temp"])
        v["heating_valve"] = min(max(16 - v["mixed_temp"], 0) * 5, 100)
        v["cooling_valve"] = min(max(v["mixed_temp"] - 16, 0) * 9, 100)
        v["supply_temp"] = 16.0
        return v


async def started(node: Node) -> Runner:
    """Run the agent with windows of a minute."""
    node.set_document("economizer", "config", {"window": 60})
    return await node.run(Economizer())


async def day(node: Node, unit: Unit, hours: int = 24) -> None:
    """Report a day: 10 minutes of it in one minute, which is a window."""
    for minute in range(0, hours * 60, 5):
        values = unit.scan(minute / 60)
        node.scan(AHU, {n: v for n, v in values.items() if v is not None})
        await asyncio.sleep(30)


def faults(node: Node) -> set[str]:
    return {s.point.rpartition("/")[2] for s in node.recorded if s.value is True}


@pytest.mark.parametrize("mean", [-5.0, 8.0, 15.0, 21.0, 30.0])
@virtual
async def test_a_healthy_day_has_no_fault_in_any_season(mean: float) -> None:
    async with Node() as node:
        await started(node)
        await day(node, Unit(mean))
        assert faults(node) == set()
        assert not node.alerts
        assert len([s for s in node.recorded if s.name == "state"]) >= 24 * 6 - 1


def stuck(opening: float) -> Callable[[dict[str, Any]], None]:
    return lambda v: v.update(blade=opening)


@pytest.mark.parametrize(
    ("mean", "wrong", "fault"),
    [
        (0.0, stuck(80), "excess_outdoor_air"),
        (32.0, stuck(80), "excess_outdoor_air"),
        (0.0, stuck(0), "insufficient_outdoor_air"),
        (14.0, stuck(15), "not_economizing"),
        (18.0, lambda v: v.update(damper=20.0), "not_economizing"),
        (31.0, lambda v: v.update(damper=100.0), "economizing"),
    ],
)
@virtual
async def test_a_faulty_day_is_told_for_what_it_is(
    mean: float, wrong: Callable[[dict[str, Any]], None], fault: str
) -> None:
    async with Node() as node:
        await started(node)
        await day(node, Unit(mean, wrong))
        assert ("economizer", f"{AHU}/{fault}") in node.alerts or fault in faults(node)
        assert fault in faults(node)


@virtual
async def test_a_sensor_that_drifts_is_told_as_such() -> None:
    class Drifted(Unit):
        def scan(self, hour: float) -> dict[str, Any]:
            return super().scan(hour) | {"mixed_temp": 40.0}

    async with Node() as node:
        await started(node)
        await day(node, Drifted(10.0), hours=2)
        assert set(node.alerts) == {("economizer", f"{AHU}/sensors")}
        share = [s for s in node.recorded if s.name == "outdoor_air"]
        assert {s.quality for s in share} == {"uncertain"}


@virtual
async def test_an_alert_needs_some_windows_and_goes_when_the_damper_moves_again() -> None:
    async with Node() as node:
        runner = await started(node)
        unit = Unit(0.0, stuck(80))
        await day(node, unit, hours=1)
        key = ("economizer", f"{AHU}/excess_outdoor_air")
        assert "stuck blade" in node.alerts[key].text
        grants = msgspec.convert({"call": [{"agent": "economizer"}]}, Grants)
        panel = await node.connect("panel", grants)
        assert list((await panel.call("economizer", "faults"))[AHU]) == ["excess_outdoor_air"]
        await day(node, Unit(0.0), hours=1)
        assert not node.alerts
        assert runner.failures == 0


@virtual
async def test_without_the_fan_or_a_sensor_nothing_is_judged_and_the_record_says_why() -> None:
    async with Node() as node:
        await started(node)
        await day(node, Unit(0.0, lambda v: v.update(fan_running=False)), hours=1)
        assert {s.value for s in node.recorded if s.name == "state"} == {"the fan is off"}
        assert {s.quality for s in node.recorded if s.name in RULES} == {"uncertain"}
        values = Unit(0.0).scan(0)
        for _ in range(3):
            node.scan(AHU, {n: v for n, v in values.items() if v is not None and n != "mixed_temp"})
            await asyncio.sleep(60)
        last = [s.value for s in node.recorded if s.name == "state"][-1]
        assert last == "no good reading of mixed_temp"


@virtual
async def test_silence_makes_it_ill() -> None:
    async with Node() as node:
        await started(node)
        await asyncio.sleep(70)
        assert "no scan of demo/*/ahu" in str(node.health["economizer"])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"devices": []}, "at least one air handler"),
        ({"window": 0}, "from 1 to 86400"),
        ({"confirm": 0}, "from 1 to 100"),
        ({"least": 120}, "from 0 to 100"),
        ({"tolerance": {"sensor": 0}}, "sensor is a number above 0"),
        ({"names": {"mixd": "x"}}, "unknown field `mixd`"),
    ],
)
def test_settings_that_are_wrong_say_what_to_write(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=words):
        msgspec.convert(settings, Settings)
