"""Agents of a campus on a node in memory, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import msgspec
import pytest
from voltbus import Conflict, Fence
from voltbus.grant import Command, Grants
from voltbus.testing import Node, virtual

from regulation.agent import Regulation
from regulation.master import Master
from regulation.member import Member
from regulation.report import Hello, Note, Order, Report, Token
from regulation.settings import Unit
from regulation.stack import Decision

from .campus import UNIT, Campus

ROOMS = {"a": ["a/r1", "a/r2", "a/r3"], "b": ["b/r1", "b/r2", "b/r3"]}


async def member(node: Node, name: str, **more: object) -> Regulation:
    agent = Regulation()
    settings = {
        "units": dict.fromkeys(ROOMS[name], UNIT),
        "capacity": 5.0,
        "period": 20.0,
        "signal": "grid/signal",
        **more,
    }
    node.set_document(name, "config", settings)
    await node.run(agent, name=name)
    return agent


@virtual
async def test_the_smallest_address_leads_and_units_follow_the_signal_within_their_bands() -> None:
    async with Node() as node:
        campus = Campus(node, ROOMS["a"] + ROOMS["b"])
        a, b = await member(node, "a"), await member(node, "b")
        node.scan("grid", {"signal": 0.0})
        await campus.run(600)
        told = await b.status()
        assert (told["leader"], told["term"], told["leads"]) == ("a", 1, False)
        assert told["members"] == ["a", "b"]
        assert len((await a.status())["units"]) == 6
        powers = {}
        for signal in (1.0, -1.0):
            node.scan("grid", {"signal": signal})
            await campus.run(180)
            powers[signal] = sum(run := await campus.run(240)) / len(run)
        assert powers[-1.0] - powers[1.0] >= 5.0, "of 10 kW"
        assert campus.worst < 0.25
        st = (await a.status())["decision"]
        assert st["more"] + st["less"] > 0
        assert st["units"] == 6
        await node.settle()


@virtual
async def test_another_leads_when_the_leader_is_gone_and_old_commands_are_refused() -> None:
    async with Node() as node:
        campus = Campus(node, ROOMS["a"] + ROOMS["b"])
        a, b = await member(node, "a"), await member(node, "b")
        node.scan("grid", {"signal": -1.0})
        await campus.run(900)
        assert (await b.status())["leader"] == "a"
        await a._end()  # says nothing any more, as one that is killed
        await campus.run(600)
        told = await b.status()
        assert (told["leader"], told["term"]) == ("b", 2)
        assert len(told["units"]) == 6, "those of the silent member are known"
        bus = await node.connect("late", Grants(command=[Command("**", 12)]))
        with pytest.raises(Conflict) as caught:
            await bus.write("b/r1/on", 1.0, level=12, fence=Fence("campus", 1, "a"))
        assert caught.value.why == "fenced"
        assert caught.value.holders[0].fence == Fence("campus", 2, "b")


@virtual
async def test_members_publish_what_a_screen_shows() -> None:
    async with Node() as node:
        campus = Campus(node, ROOMS["a"] + ROOMS["b"])
        bus = await node.connect("panel", Grants(subscribe=["**"]))
        seen: dict[str, dict[str, object]] = {}

        async def watch() -> None:
            async with bus.scans("regulation/**") as stream:
                async for scan in stream:
                    seen[scan.device] = {s.name: s.value for s in scan}

        task = asyncio.create_task(watch())
        await member(node, "a")
        await member(node, "b")
        node.scan("grid", {"signal": -1.0})
        await campus.run(600)
        task.cancel()
        assert seen["regulation/campus/members/a"]["leads"] is True
        assert seen["regulation/campus/members/b"]["leader"] == "a"
        assert seen["regulation/campus/units/b/r2"]["member"] == "b"
        assert 0 <= float(str(seen["regulation/campus/units/a/r1"]["position"])) <= 1.25
        assert seen["regulation/campus"]["signal"] == -1.0
        assert "precision" in seen["regulation/campus"]


@virtual
async def test_two_campuses_take_parts_of_one_need_in_proportion_to_their_offers() -> None:
    async with Node() as node:
        campus = Campus(node, ROOMS["a"] + ROOMS["b"])
        both = {"need": 5.0, "period": 20.0}
        a = await member(node, "a", group="a", campuses=["regulation/b/offer"], **both)
        b = await member(node, "b", group="b", campuses=["regulation/a/offer"], **both)
        node.scan("grid", {"signal": -1.0})
        await campus.run(300)
        asked = {g: (await x.status())["decision"]["signal"] for g, x in (("a", a), ("b", b))}
        assert set(a._others.offers) == set(b._others.offers) == {"a", "b"}
        assert all(-1 <= s < 0 for s in asked.values()), asked
        assert sum(asked.values()) * 5.0 >= -5.1, "no more than the need"


class Idle(Regulation):
    """Has a rule of its own, by which nothing changes."""

    @staticmethod
    def choose(units: Sequence[Report], target: float) -> Decision:
        return Decision(expected=sum(u.power for u in units))


@virtual
async def test_a_subclass_decides_by_a_rule_of_its_own() -> None:
    async with Node() as node:
        campus = Campus(node, ROOMS["a"])
        node.set_document("a", "config", {"units": dict.fromkeys(ROOMS["a"], UNIT), "period": 20.0})
        agent = Idle()
        await node.run(agent, name="a")
        await campus.run(300)
        decision = (await agent.status())["decision"]
        assert (decision["units"], decision["orders"]) == (3, 0)


@virtual
async def test_with_a_master_nobody_else_leads() -> None:
    async with Node() as node:
        campus = Campus(node, ROOMS["a"] + ROOMS["b"])
        await member(node, "a", master="b")
        b = await member(node, "b", master="b")
        await campus.run(300)
        assert (await b.status())["leader"] == "b"


@virtual
async def test_an_order_is_refused_with_a_code() -> None:
    async with Node() as node:
        campus = Campus(node, ROOMS["a"])
        agent = await member(node, "a")
        campus.temps["a/r1"] = 21.0
        await campus.run(30)
        late = Token(1, "z")
        codes = {
            name: (await agent._obey(Order(name, 1, late, on=True))).code
            for name in ("a/r1", "a/none", "a/r2")
        }
        assert codes == {"a/r1": "uncomfortable", "a/none": "no-such-unit", "a/r2": "done"}
        assert (await agent._obey(Order("a/r2", 2, late, on=False))).code == "locked-out"
        newer = await agent._obey(Order("a/r3", 3, Token(4, "y"), on=True))
        assert newer.code == "done"
        await campus.run(70)
        old = await agent._obey(Order("a/r3", 4, late, on=False))
        assert old.code == "old-term"
        assert old.token.term >= 4


def report(unit: str) -> Report:
    from datetime import datetime, timezone

    return Report(unit, datetime(2026, 1, 1, tzinfo=timezone.utc), 22, 21, 23, 5.0, 2.0)


def test_who_is_not_heard_back_does_not_order_and_who_is_heard_by_others_leads() -> None:
    r = report("b/r1")
    one = Member("a", Master(5.0))
    one.step(r.at, 0, [], [Note("b", hello=Hello(reports=[r]))])
    assert one.master.reports() == []
    one.step(r.at, 0, [], [Note("b", hello=Hello(hears=["a"], reports=[r]))])
    assert one.master.reports() == [r]
    two = Member("b", Master(5.0), silence=0)
    two.heard["c"] = r.at
    two.silence = 1e6
    assert not two.leads
    two.step(r.at, 0, [], [Note("c", hello=Hello(hears=["a", "b"]))])
    assert not two.leads


def test_settings_are_checked() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"low": "warm"}, Unit)
