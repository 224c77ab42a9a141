"""An agent at a node receives what is published at a descendant."""

from __future__ import annotations

import asyncio
import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from voltbus import Grants

from .world import NodeWorld, program

SOURCES = Path(__file__).parents[2] / "agents" / "threshold" / "src"
POINT = "plant/demo/boiler/supply_temp"
RULES = {
    "hot": {"points": "plant/demo/**", "above": 80},
    "silent": {"points": "plant/demo/**", "stale": 3},
}


def test_threshold_at_the_centre_alarms_of_what_a_node_below_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(SOURCES))
    binary = program()
    if binary is None:
        pytest.skip('bin/voltbus is not built: run "make build" to try the SDK on a real node')
    for name in ("centre", "plant"):
        (tmp_path / name).mkdir()
    with (
        NodeWorld(binary, tmp_path / "centre", "centre") as centre,
        NodeWorld(binary, tmp_path / "plant", "plant") as plant,
    ):
        wish = {"approved": True, "prefix": "plant", "addresses": [centre.place["bus"]]}
        code = centre.http("POST", "/api/v1/invitations", wish)["code"]
        plant.http("POST", "/api/v1/parent", {"code": code, "name": "plant"})
        asyncio.run(_watch(centre, plant))


async def _watch(centre: NodeWorld, plant: NodeWorld) -> None:
    async with centre, plant:
        rights = Grants(subscribe=["plant/**"], read=["plant/**"], record=["analysis/alarm/**"])
        await centre.grant("threshold", rights)
        rules = {"type": "json", "text": json.dumps({"rules": RULES})}
        document = "/api/v1/documents/text?owner=agent/threshold&name=config"
        await asyncio.to_thread(centre.http, "PUT", document, rules)
        threshold = importlib.import_module("threshold.agent")
        await centre.run(threshold.Threshold(), "threshold", rights)
        devices = await plant.devices()

        async def read(value: float, *, until: set[str]) -> None:
            """Publish a reading twice a second until these alerts, and no others, are open."""
            for _ in range(240):
                await devices.publish("demo/boiler", {"supply_temp": value})
                await asyncio.sleep(0.5)
                if _keys(await asyncio.to_thread(centre.http, "GET", "/api/v1/alerts")) == until:
                    return
            raise AssertionError(f"the alerts do not become {until}")

        await read(90, until={f"hot/{POINT}"})
        await read(70, until=set())
        for _ in range(12):  # twice as long as a point may be silent
            await devices.publish("demo/boiler", {"supply_temp": 70})
            await asyncio.sleep(0.5)
            assert not _keys(await asyncio.to_thread(centre.http, "GET", "/api/v1/alerts"))
        await _silence(centre)


async def _silence(centre: NodeWorld) -> None:
    for _ in range(240):
        await asyncio.sleep(0.5)
        if f"silent/{POINT}" in _keys(await asyncio.to_thread(centre.http, "GET", "/api/v1/alerts")):
            return
    raise AssertionError("a point that is silent is no alarm")


def _keys(alerts: Any) -> set[str]:
    return {a["key"] for a in alerts["alerts"] if a["agent"] == "threshold"}
