"""What the bus promises to agents, tried in memory and on a real node."""

from __future__ import annotations

import contextlib
import math
from datetime import datetime, timedelta, timezone

import pytest

from voltbus import (
    Agent,
    Call,
    Config,
    Conflict,
    Grants,
    Invalid,
    NotFound,
    Refused,
    Sample,
    alert,
    on,
)

from .conftest import WithWorld
from .test_calls_between_agents import boiler_of
from .world import World

PLANT = Grants(subscribe=["demo/plant/**"])


def test_samples_come_to_those_who_may_listen(try_on: WithWorld) -> None:
    async def test(world: World) -> None:
        devices, listener = await world.devices(), await world.connect("listener", PLANT)
        stream = listener.samples("demo/plant/*/supply_temp")
        await listener.ready()
        values = {"supply_temp": 18.5, "fan": True}
        await devices.publish("demo/plant/b 1", values, quality={"supply_temp": "bad(timeout)"})
        await devices.publish("demo/plant/x/y", {"supply_temp": 0})
        await devices.publish("demo/plant/b2", {"supply_temp": math.nan})
        first, second = await world.take(stream, 2)
        assert (first.point, first.value) == ("demo/plant/b 1/supply_temp", 18.5)
        assert (first.quality, first.good) == ("bad(timeout)", False)
        assert first.time.tzinfo is not None
        assert second.point == "demo/plant/b2/supply_temp"
        assert isinstance(second.value, float)
        assert math.isnan(second.value)

    try_on(test)


def test_a_sample_comes_once_however_many_patterns_select_it(try_on: WithWorld) -> None:
    async def test(world: World) -> None:
        devices, listener = await world.devices(), await world.connect("listener", PLANT)
        stream = listener.samples("demo/plant/**", "demo/plant/a", "demo/plant/*/t")
        await listener.ready()
        for n in range(3):
            await devices.publish("demo/plant/a", {"t": n, "u": n})
        got = await world.take(stream, 6)
        assert [(s.name, s.value) for s in got] == [(name, n) for n in range(3) for name in ("t", "u")]

    try_on(test)


def test_a_prefix_selects_by_characters_not_by_segments(try_on: WithWorld) -> None:
    async def test(world: World) -> None:
        devices, listener = await world.devices(), await world.connect("listener", PLANT)
        stream = listener.samples(prefix="demo/plant/ah")
        await listener.ready()
        for device in ("demo/plant/boiler", "demo/plant/ahu1", "demo/plant/ahu1/x", "demo/plant/ah"):
            await devices.publish(device, {"t": 1})
        points = [s.point for s in await world.take(stream, 3)]
        assert points == ["demo/plant/ahu1/t", "demo/plant/ahu1/x/t", "demo/plant/ah/t"]

    try_on(test)


def test_a_prefix_wider_than_the_grants_brings_what_is_granted(try_on: WithWorld) -> None:
    async def test(world: World) -> None:
        devices, listener = await world.devices(), await world.connect("listener", PLANT)
        stream = listener.samples(prefix="")
        await listener.ready()
        await devices.publish("demo/other", {"t": 1})
        await devices.publish("demo/plant/a", {"t": 2})
        assert [s.point for s in await world.take(stream)] == ["demo/plant/a/t"]

    try_on(test)


def test_a_subscription_that_is_not_granted_ends_with_what_is_missing(try_on: WithWorld) -> None:
    async def test(world: World) -> None:
        listener = await world.connect("listener", PLANT)
        for stream in (listener.samples("demo/**"), listener.messages("secret/**")):
            with pytest.raises(Refused, match="missing: subscribe"):
                await world.take(stream)  # type: ignore[type-var]

    try_on(test)


def test_messages_carry_headers_and_a_sender_that_is_certain(try_on: WithWorld) -> None:
    async def test(world: World) -> None:
        listener = await world.connect("listener", Grants(subscribe=["analysis/**"]))
        sender = await world.connect("odd.name", Grants(publish=["analysis/**"]))
        stream = listener.messages("analysis/**", sender="odd.name")
        await listener.ready()
        await sender.send("analysis/a b/c", {"x": [1, None]}, headers={"Date": "today"})
        await sender.send("analysis", b"\x00\xff")
        first, second = await world.take(stream, 2)
        assert (first.topic, first.sender) == ("analysis/a b/c", "odd.name")
        assert (first.body, first.headers) == ({"x": [1, None]}, {"Date": "today"})
        assert (second.topic, second.body) == ("analysis", b"\x00\xff")

    try_on(test)


def test_publishing_without_the_grant_raises_at_once(try_on: WithWorld) -> None:
    async def test(world: World) -> None:
        agent = await world.connect("nobody")
        for _ in range(2):
            with pytest.raises(Refused) as caught:
                await agent.publish("demo/plant/a", {"t": 1})
            assert caught.value.missing == "publish demo/plant/a"
        with pytest.raises(Refused) as caught:
            await agent.send("analysis/x", 1)
        assert caught.value.missing == "publish analysis/x"
        await agent.health("good")  # everybody may

    try_on(test)


def test_a_name_is_used_by_one_connection_only(try_on: WithWorld) -> None:
    async def test(world: World) -> None:
        first = await world.connect("ada", PLANT)
        with pytest.raises(Conflict):
            await world.connect("ada", PLANT)
        await first.health("good")  # the first is not disturbed

    try_on(test)


def test_narrowed_grants_end_a_subscription_that_is_open(try_on: WithWorld) -> None:
    async def test(world: World) -> None:
        devices, listener = await world.devices(), await world.connect("listener", PLANT)
        stream = listener.samples("demo/plant/**")
        await listener.ready()
        await devices.publish("demo/plant/a", {"t": 1})
        await world.take(stream)
        await world.grant("listener", Grants())
        with pytest.raises(Refused, match="missing: subscribe demo/plant"):
            await world.take(stream)

    try_on(test)


def test_widened_grants_need_no_new_connection(try_on: WithWorld) -> None:
    async def test(world: World) -> None:
        agent = await world.connect("writer")
        with pytest.raises(Refused):
            await agent.publish("a/b", {"t": 1})
        await world.grant("writer", Grants(publish=["a/**"]))
        await world.until(lambda: agent.standing.grants.publish == ["a/**"])
        await agent.publish("a/b", {"t": 1})

    try_on(test)


def test_after_a_restart_of_the_node_everything_goes_on(try_on: WithWorld) -> None:
    async def test(world: World) -> None:
        boiler, devices = await boiler_of(world), await world.devices()
        grants = Grants(subscribe=["demo/plant/**"], call=[Call("boiler")])
        listener = await world.connect("listener", grants)
        stream = listener.samples("demo/plant/**")
        await world.restart()
        await world.until(lambda: boiler.connected)
        result = await listener.call("boiler", "limit", 1, timeout=30)  # waits for the node
        assert result[0] == 1
        await listener.ready()
        await world.until(lambda: devices.connected)
        await devices.publish("demo/plant/a", {"t": 1})
        assert (await world.take(stream))[0].value == 1

    try_on(test)


def test_a_slow_reader_loses_the_oldest_and_is_told(
    try_on: WithWorld, caplog: pytest.LogCaptureFixture
) -> None:
    async def test(world: World) -> None:
        devices, listener = await world.devices(), await world.connect("listener", PLANT)
        stream = listener.samples("demo/plant/**", queue=10)
        await listener.ready()
        for n in range(100):
            await devices.publish("demo/plant/a", {"t": n})
        await world.until(lambda: stream.lost == 90)
        assert [s.value for s in await world.take(stream, 10)] == list(range(90, 100))
        assert "messages were lost" in caplog.text

    try_on(test)


def test_recorded_samples_can_be_read(try_on: WithWorld) -> None:
    async def test(world: World) -> None:
        grants = Grants(record=["analysis/**"], read=["analysis/**"])
        agent = await world.connect("recorder", grants)
        start = agent.clock.now() - timedelta(minutes=10)
        values = [20.5, 21.0, 21.5, -1e300]
        samples = [
            Sample("analysis/a b/temp", v, start + timedelta(minutes=i)) for i, v in enumerate(values)
        ]
        assert await agent.record(samples, key="one") == 4
        assert await agent.record(samples, key="one") == 4  # harmless

        async def stored() -> bool:
            found = await agent.range("analysis/**", start)
            return sum(len(s.samples) for s in found.series) == 4

        await world.until(stored)
        found = await agent.range(["analysis/a b/temp"], start, start + timedelta(minutes=2))
        assert [s.value for s in found.rows()] == values[:2]
        assert found.rows()[0].time == start.replace(microsecond=start.microsecond)
        latest = await agent.latest("analysis")
        assert latest["analysis/a b/temp"].value == values[-1]
        assert [p.path for p in (await agent.points("analysis/**")).points] == ["analysis/a b/temp"]
        hour = await agent.aggregate("analysis/**", start, step="1h")
        assert sum(b.count for b in hour.series[0].buckets) == 4
        assert latest.sources == found.sources == hour.sources == ()  # there is no other node
        assert await agent.latest("analysis", local=True) == latest
        assert (
            await agent.range(["analysis/a b/temp"], start, start + timedelta(minutes=2), local=True)
            == found
        )
        alone = await agent.aggregate(
            "analysis/**", start, hour.series[0].buckets[0].end, step="1h", local=True
        )
        assert [b.count for b in alone.series[0].buckets] == [b.count for b in hour.series[0].buckets]

    try_on(test)


def test_a_record_that_is_not_granted_says_which_samples(try_on: WithWorld) -> None:
    async def test(world: World) -> None:
        agent = await world.connect("recorder", Grants(record=["analysis/**"]))
        with pytest.raises(Refused) as refused:
            await agent.record({"analysis/x": 1, "campus/y": 2})
        assert refused.value.missing == "record campus/y"
        assert [i for i, _ in refused.value.problems] == [1]
        with pytest.raises(Refused, match="read analysis/x"):
            await agent.latest(["analysis/x"])

    try_on(test)


def test_a_recorded_point_has_the_unit_that_was_told(try_on: WithWorld) -> None:
    async def test(world: World) -> None:
        grants = Grants(record=["units/**"], read=["units/**"])
        agent = await world.connect("recorder", grants)
        await agent.record({"units/a": 1.0, "units/b": 1.0}, units={"units/a": "kW"})
        async with agent.recorder(delay=0.01, units={"units/c": "K"}) as recorder:
            await recorder.add("units/c", 1.0)
        assert {p.path: p.unit for p in (await agent.points("units/**")).points} == {
            "units/a": "kW",
            "units/b": "",
            "units/c": "K",
        }

    try_on(test)


def test_the_recorder_delivers_all_and_drops_only_what_is_refused(try_on: WithWorld) -> None:
    async def test(world: World) -> None:
        agent = await world.connect("recorder", Grants(record=["analysis/**"]))
        refused: list[str] = []
        async with agent.recorder(delay=0.01) as recorder:
            recorder.on_refused = lambda sample, why: refused.append(sample.point)
            for n in range(50):
                await recorder.add("analysis/n", n)
            await recorder.add("campus/n", 1)
        assert (recorder.recorded, recorder.refused, recorder.backlog) == (50, 1, 0)
        assert refused == ["campus/n"]

    try_on(test)


def test_documents_have_versions_and_owners(try_on: WithWorld) -> None:
    async def test(world: World) -> None:
        agent, admin = await world.connect("agent1"), await world.administrator()
        first = await agent.documents.set("Config", {"limit": 1})
        second = await agent.documents.set("config", {"limit": 2}, expect=first.version)
        assert second.version == first.version + 1
        assert (await agent.documents.get("CONFIG")).content == {"limit": 2}
        old = await agent.documents.get("config", version=first.version)
        assert old.content == {"limit": 1}
        with pytest.raises(Conflict):
            await agent.documents.set("config", {}, expect=first.version)
        with pytest.raises(Refused):
            await agent.documents.get("config", owner="agent/administrator")
        assert [d.name.lower() for d in await admin.documents.list("agent/agent1")] == ["config"]
        assert [d.version for d in await agent.documents.history("config")] == [2, 1]
        same = await agent.documents.set("config", {"limit": 2})
        assert same.version == 2  # it says what is there already
        await agent.documents.delete("config")
        with pytest.raises(NotFound):
            await agent.documents.get("config")
        await agent.documents.set("config", {}, expect=0)

    try_on(test)


class Settings(Config):
    limit: float = 80.0


class Watch(Agent[Settings]):
    wants = PLANT

    def __init__(self) -> None:
        super().__init__()
        self.documents: list[tuple[str, str]] = []

    @on("demo/plant/*/t")
    async def warm(self, sample: Sample) -> None:
        assert isinstance(sample.value, (int, float))
        if sample.value > self.settings.limit:
            await alert("too-hot", f"{sample.value} °C")

    @on.document("*")
    def document(self, name: str, action: str, content: object) -> None:
        self.documents.append((name, action))


def test_an_agent_lives_with_its_settings_and_alerts(try_on: WithWorld) -> None:
    async def test(world: World) -> None:
        admin, devices = await world.administrator(), await world.devices()
        with contextlib.suppress(NotFound):
            await admin.documents.delete("config", owner="agent/watch")
        agent = Watch()
        await world.run(agent, "watch")
        assert agent.settings == Settings(limit=80)
        await admin.documents.set("config", text="limit: 20\n", type="yaml", owner="agent/watch")
        await world.until(lambda: agent.settings == Settings(limit=20))
        await world.until(lambda: agent.documents == [("config", "NEW")])
        alerts = admin.messages("alert/**", sender="watch")
        await admin.ready()
        await devices.publish("demo/plant/a", {"t": 25})
        (raised,) = await world.take(alerts)
        assert (raised.topic, raised.body["text"]) == ("alert/too-hot", "25 °C")
        await admin.documents.set("config", {"limit": "warm"}, owner="agent/watch")
        (raised,) = await world.take(alerts)
        assert (raised.topic, raised.body["severity"]) == ("alert/config", "warning")
        assert agent.settings == Settings(limit=20)
        await admin.documents.delete("config", owner="agent/watch")
        await world.until(lambda: agent.settings == Settings(limit=80))

    try_on(test)


def test_a_severity_that_the_node_does_not_know_is_refused_at_once(try_on: WithWorld) -> None:
    async def test(world: World) -> None:
        agent = await world.connect("agent1")
        with pytest.raises(Invalid, match="info, warning or critical"):
            await agent.alert("hot", "90 °C", "error")

    try_on(test)


@pytest.mark.parametrize(
    ("quality", "good"), [("good(override)", True), ("uncertain", False), ("bad(x)", False)]
)
def test_a_good_reading_may_carry_a_remark(quality: str, good: bool) -> None:
    sample = Sample("a/b", 1.0, datetime(2026, 1, 1, tzinfo=timezone.utc), quality)
    assert sample.good is good


def test_peers_and_their_health_are_known(try_on: WithWorld) -> None:
    async def test(world: World) -> None:
        agent = await world.connect("agent1")
        await agent.health("bad", "no water", 10)

        async def known() -> bool:
            peers = {p.name: p for p in await agent.peers()}
            return peers["agent1"].status == "bad"

        await world.until(known)
        peer = {p.name: p for p in await agent.peers()}["agent1"]
        assert (peer.online, peer.context) == (True, "no water")

    try_on(test)
