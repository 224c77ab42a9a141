"""How an agent lives: its settings, schedules, failures and end. All in virtual time."""

from __future__ import annotations

import asyncio
import time
from datetime import datetime, timezone
from typing import Any

import pytest

from voltbus import (
    Agent,
    Call,
    Config,
    Grants,
    Message,
    Refused,
    Sample,
    Unavailable,
    Wants,
    alert,
    at,
    clear,
    cron,
    every,
    on,
    on_change,
    rpc,
)
from voltbus.testing import Node, virtual


class Settings(Config):
    limit: float = 80.0


class Watch(Agent[Settings]):
    """Watches boilers."""

    wants = Wants(subscribe=["demo/plant/**"], publish=["analysis/**"], record=["analysis/**"])

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Any] = []

    async def start(self) -> None:
        self.seen.append("start")

    async def changed(self, settings: Settings) -> None:
        self.seen.append(("changed", settings.limit))

    async def stop(self) -> None:
        self.seen.append("stop")
        await self.bus.send("analysis/bye")

    @on("demo/plant/*/supply_temp")
    async def warm(self, sample: Sample) -> None:
        assert isinstance(sample.value, float)
        if sample.value > self.settings.limit:
            await alert("too-hot", f"{sample.point} is {sample.value}")
        else:
            await clear("too-hot")

    @on.message("demo/plant/notes")
    async def note(self, message: Message) -> None:
        self.seen.append(message.body)

    @on_change("demo/plant/*/level", by=2)
    def level(self, sample: Sample, before: Sample | None) -> None:
        self.seen.append((before.value if before else None, sample.value))

    @on.document("*")
    def document(self, name: str, action: str, content: Any) -> None:
        self.seen.append((name, action, content))

    @rpc
    def limit(self) -> float:
        """Return the limit."""
        return self.settings.limit


@virtual
async def test_an_agent_acts_on_what_devices_report() -> None:
    async with Node() as node:
        await node.run(Watch())
        node.scan("demo/plant/boiler", {"supply_temp": 95.0})
        await node.settle()
        assert node.alerts["watch", "too-hot"].text == "demo/plant/boiler/supply_temp is 95.0"
        node.scan("demo/plant/boiler", {"supply_temp": 75.0})
        await node.settle()
        assert node.alerts == {}


@virtual
async def test_changes_are_told_only_when_they_are_large_enough() -> None:
    async with Node() as node:
        agent = Watch()
        await node.run(agent)
        for level in (10, 11, 11.9, 12, 13, 9, None, None, "x"):
            node.scan("demo/plant/tank", {"level": level})
        await node.settle()
        changes = [s for s in agent.seen if isinstance(s, tuple)]
        assert changes == [(None, 10), (10, 12), (12, 9), (9, None), (None, "x")]


@virtual
async def test_settings_come_from_the_document_and_follow_it() -> None:
    async with Node() as node:
        node.set_document("watch", "zones.csv", text="name,area\na,1\nb,2\n", type="csv")
        node.set_document("watch", "Config", {"limit": 50})
        agent = Watch()
        await node.run(agent)
        zones = [{"name": "a", "area": "1"}, {"name": "b", "area": "2"}]
        assert agent.settings == Settings(limit=50)
        assert agent.seen == [
            "start",
            ("config", "NEW", {"limit": 50}),
            ("zones.csv", "NEW", zones),
        ]
        agent.seen.clear()
        node.set_document("watch", "config", {"limit": 60})
        await node.settle()
        node.set_document("watch", "more", [1])
        await node.settle()
        node.delete_document("watch", "zones.csv")
        node.delete_document("watch", "config")
        await node.settle()
        assert agent.seen == [
            ("changed", 60),
            ("config", "UPDATE", {"limit": 60}),
            ("more", "NEW", [1]),
            ("changed", 80),
            ("config", "DELETE", None),
            ("zones.csv", "DELETE", None),
        ]


@virtual
async def test_an_invalid_document_keeps_the_old_settings_and_is_reported() -> None:
    async with Node() as node:
        agent = Watch()
        await node.run(agent)
        node.set_document("watch", "config", {"limit": "warm"})
        await node.settle()
        assert agent.settings == Settings()
        assert "Expected `float`" in node.alerts["watch", "config"].text
        assert node.health["watch"]["status"] == "bad"
        node.set_document("watch", "config", {"limti": 5})
        await node.settle()
        assert "limti" in node.alerts["watch", "config"].text
        node.set_document("watch", "config", {"limit": 5})
        await node.settle()
        assert agent.settings == Settings(limit=5)
        assert node.alerts == {}
        assert node.health["watch"]["status"] == "good"


@virtual
async def test_documents_that_changed_while_the_node_was_away_are_noticed() -> None:
    async with Node() as node:
        agent = Watch()
        await node.run(agent)
        node.cut()
        node.set_document("watch", "config", {"limit": 7})
        await node.settle()
        assert agent.settings == Settings()
        await node.restore()
        await node.settle()
        assert agent.settings == Settings(limit=7)


class Clockwork(Agent[Config]):
    def __init__(self) -> None:
        super().__init__()
        self.calls: dict[str, list[datetime]] = {}

    def _note(self, name: str) -> None:
        self.calls.setdefault(name, []).append(self.bus.clock.now())

    @every(minutes=10)
    def now_and_then(self) -> None:
        self._note("every")

    @every(hours=1, wait=True)
    async def slow(self) -> None:
        self._note("slow")
        await asyncio.sleep(2 * 3600 + 60)

    @cron("*/5 * * * *")
    def often(self) -> None:
        self._note("cron")

    @cron("0 6 * * *", zone="Europe/Berlin")
    def morning(self) -> None:
        self._note("morning")

    @at("12:00", "18:30")
    def daily(self) -> None:
        self._note("daily")

    @at(datetime(2026, 1, 1, 3, 4, 5, tzinfo=timezone.utc))
    def once(self) -> None:
        self._note("once")


def test_a_day_of_schedules_passes_while_nobody_waits() -> None:
    elapsed = time.monotonic()

    @virtual
    async def day() -> None:
        async with Node() as node:
            agent = Clockwork()
            await node.run(agent)
            await asyncio.sleep(86399)
            counts = {name: len(calls) for name, calls in agent.calls.items()}
            assert counts == {
                "every": 144, "slow": 8, "cron": 287, "morning": 1, "daily": 2, "once": 1,
            }  # fmt: skip
            assert agent.calls["morning"][0].hour == 5
            assert [t.hour for t in agent.calls["slow"]] == [1, 4, 7, 10, 13, 16, 19, 22]

    day()
    assert time.monotonic() - elapsed < 60  # in no case a day


class Broken(Agent[Config]):
    wants = Wants(subscribe=["**"])
    broken = True

    @on("a/*")
    def take(self, sample: Sample) -> None:
        if self.broken:
            raise ValueError("no water")


@virtual
async def test_a_callback_that_raises_ends_nothing_but_the_good_health() -> None:
    async with Node() as node:
        agent = Broken()
        runner = await node.run(agent)
        for n in range(2):
            node.scan("a", {"x": n})
        await node.settle()
        assert (runner.failures, node.health["broken"]["status"]) == (2, "good")
        node.scan("a", {"x": 3})
        await node.settle()
        assert node.health["broken"]["status"] == "bad"
        assert node.health["broken"]["context"]["failing"] == {"take": "ValueError: no water"}
        agent.broken = False
        node.scan("a", {"x": 4})
        await node.settle()
        assert (runner.failures, node.health["broken"]["status"]) == (3, "good")


@virtual
async def test_an_agent_whose_subscription_is_refused_lives_on_and_listens_once_it_may() -> None:
    async with Node() as node:
        agent = Watch()
        await node.run(agent, grants=Grants())
        await node.settle()
        assert "missing: subscribe" in str(node.health["watch"]["context"])
        node.grant("watch", Watch.wants)
        await asyncio.sleep(20)
        assert node.health["watch"]["status"] == "good"
        node.scan("demo/plant/boiler", {"supply_temp": 95.0})
        await node.settle()
        assert ("watch", "too-hot") in node.alerts


@virtual
async def test_an_agent_whose_start_fails_says_why_and_leaves_nothing_behind() -> None:
    class Failing(Agent[Config]):
        async def start(self) -> None:
            raise ValueError("no water")

    async with Node() as node:
        with pytest.raises(ValueError, match="no water"):
            await node.run(Failing())
    assert len(asyncio.all_tasks()) == 1


@virtual
async def test_an_agent_ends_with_its_stop_and_no_task_is_left() -> None:
    async with Node() as node:
        agent = Watch()
        await node.run(agent)
        node.stop("watch")
        await node.settle()
        assert agent.bus.stopping.is_set()
    assert agent.seen[-1] == "stop"
    assert len(asyncio.all_tasks()) == 1


@virtual
async def test_calls_wait_until_the_agent_has_started() -> None:
    class Slow(Watch):
        async def start(self) -> None:
            await asyncio.sleep(5)

    async with Node() as node:
        starting = asyncio.ensure_future(node.run(Slow(), name="slow"))
        boss = await node.connect("boss", Grants(call=[Call("slow")]))
        begin = node.clock.now()
        assert await boss.call("slow", "limit") == 80
        assert (node.clock.now() - begin).total_seconds() >= 4
        await starting


@virtual
async def test_the_heart_beats() -> None:
    async with Node() as node:
        boss = await node.connect("boss", Grants(subscribe=["health"]))
        beats = boss.messages("health")
        await node.run(Watch())
        await asyncio.sleep(35)
        beats.close()
        assert [b.body["status"] async for b in beats] == ["good"] * 4


@virtual
async def test_the_recorder_holds_what_the_node_cannot_take() -> None:
    async with Node() as node:
        agent = await node.connect("r", Grants(record=["a/**"]))
        async with agent.recorder(limit=10) as recorder:
            node.cut()
            for n in range(10):
                assert recorder.offer(Sample("a/x", n, node.clock.now()))
            assert not recorder.offer(Sample("a/x", 10, node.clock.now()))
            await asyncio.sleep(300)
            assert (recorder.backlog, node.recorded) == (10, [])
            await node.restore()
        assert [s.value for s in node.recorded] == list(range(10))


@virtual
async def test_the_recorder_tells_what_it_could_not_deliver() -> None:
    async with Node() as node:
        agent = await node.connect("r", Grants(record=["a/**"]))
        recorder = await agent.recorder(patience=5).__aenter__()
        node.cut()
        await recorder.add("a/x", 1)
        with pytest.raises(Unavailable, match="1 sample could"):
            await recorder.close()


@virtual
async def test_a_violation_that_comes_late_is_raised_by_the_next_call() -> None:
    async with Node() as node:
        agent = await node.connect("late", Grants(publish=["a/**"]))
        told: list[str] = []
        agent.on_error = lambda e: told.append(str(e))
        node._server.keys["late"] = Grants()  # the agent does not know yet
        await agent.publish("a/b", {"x": 1})
        await node.settle()
        assert told == ["missing: publish a/b"]
        with pytest.raises(Refused, match="publish a/b"):
            await agent.send("a/c")


@virtual
async def test_live_messages_that_were_not_sent_are_counted(caplog: pytest.LogCaptureFixture) -> None:
    async with Node() as node:
        agent = await node.connect("a", Grants(publish=["a/**"]))
        node.cut()
        await agent.publish("a/b", {"x": 1})
        assert agent.dropped == 1
        await node.restore()
        assert "live messages were not sent" in caplog.text


@virtual
async def test_what_is_no_message_disturbs_nobody(caplog: pytest.LogCaptureFixture) -> None:
    async with Node() as node:
        await node.run(Watch())
        for data in (b"", b"{", b"[]", b'{"device":1}', b"\xff"):
            node.raw("live.scan.demo.plant.boiler", data)
        node.raw("news.watch.config", b"{")
        node.scan("demo/plant/boiler", {"supply_temp": 95.0})
        await node.settle()
        assert ("watch", "too-hot") in node.alerts
        assert caplog.text.count("cannot be read") >= 5
