"""The command line, and agents as processes."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest

import voltbus
from voltbus.__main__ import main
from voltbus.log import JSONLines

from .world import NodeWorld

AGENT = """
from voltbus import Agent, Config, Wants, rpc

class Settings(Config):
    limit: float = 80.0

class Watch(Agent[Settings]):
    "Watches boilers."
    version = "1.2"
    wants = Wants(subscribe=["demo/**"])

    async def start(self):
        self.log.info("here I am", extra={"limit": self.settings.limit})

    async def stop(self):
        self.log.info("bye")

    @rpc(needs="tune")
    async def set(self, value: float, *, note: str = "x") -> float:
        "Set it."
        return value

class Wrong(Agent[Settings]):
    wants = Wants(subscribe=["demo/a*b/c"])

thing = 3
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "sample_agent.py").write_text(AGENT)
    (tmp_path / "needy.py").write_text("import absent_library\n")
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_describe_tells_what_an_agent_is(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["describe", "sample_agent:Watch"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["name"], told["doc"], told["version"]) == ("watch", "Watches boilers.", "1.2")
    assert told["class"] == "sample_agent:Watch"
    assert told["wants"] == {"subscribe": ["demo/**"]}
    assert told["config_schema"]["$defs"]["Settings"]["properties"]["limit"]["default"] == 80.0
    (method,) = told["methods"]
    assert (method["name"], method["doc"], method["needs"]) == ("set", "Set it.", ["tune"])
    assert [(p["name"], p["type"], p["kind"], p.get("default")) for p in method["params"]] == [
        ("value", "float", "either", None),
        ("note", "str", "keyword", "x"),
    ]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("sample_agent", "package.module:Class"),
        ("sample_agent:Wacth", "there is Watch"),
        ("sample_agent:thing", "derive the class from voltbus.Agent"),
        ("sample_agent:Wrong", "whole segment"),
        ("absent_module:Watch", "is it installed"),
    ],
)
def test_describe_says_what_to_do(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, said: str
) -> None:
    assert main(["describe", name]) == 1
    assert said in capsys.readouterr().err


def test_a_missing_library_is_told_by_its_own_name(folder: Path) -> None:
    with pytest.raises(ModuleNotFoundError, match="absent_library"):
        main(["describe", "needy:Agent"])


def test_running_without_knowing_where_says_what_to_set(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("BUS", "CA", "KEY", "AGENT"):
        monkeypatch.delenv(f"VOLTBUS_{name}", raising=False)
    assert main(["run", "sample_agent:Watch"]) == 1
    assert "VOLTBUS_AGENT" in capsys.readouterr().err
    assert main(["run", "sample_agent:Watch", "--name", "watch"]) == 1
    assert "VOLTBUS_BUS" in capsys.readouterr().err
    assert main(["run", "sample_agent:Watch", "--name", "w", "--data", str(folder)]) == 1
    assert "no node runs" in capsys.readouterr().err


def test_a_log_line_is_one_json_object_whatever_it_holds() -> None:
    out = StringIO()
    logger = logging.Logger("x")
    logger.addHandler(JSONLines(out))
    logger.info("two\nlines %s", "ü", extra={"device": "a/b", "odd": object(), "nan": float("nan")})
    try:
        raise ValueError("no water")
    except ValueError:
        logger.exception("it failed")
    first, second = map(json.loads, out.getvalue().splitlines())
    assert (first["level"], first["logger"], first["message"]) == ("info", "x", "two\nlines ü")
    assert (first["device"], first["nan"]) == ("a/b", "NaN")
    assert first["odd"].startswith("<object")
    assert "ValueError: no water" in second["trace"]


def test_an_agent_process_runs_until_it_is_asked_to_end(folder: Path, real_node: NodeWorld) -> None:
    async def grant() -> None:
        await real_node.grant("watch", voltbus.Wants(subscribe=["demo/**"]))

    asyncio.run(grant())
    place = real_node.bus("watch")._transport
    source = str(Path(voltbus.__file__).parents[1])
    environment = os.environ | {
        "PYTHONPATH": f"{folder}{os.pathsep}{source}",
        "VOLTBUS_BUS": place._address,  # type: ignore[attr-defined]
        "VOLTBUS_CA": str(real_node._data / "tls" / "ca.pem"),
        "VOLTBUS_KEY": str(real_node._folder / "watch.nk"),
        "VOLTBUS_AGENT": "watch",
    }
    command = [sys.executable, "-m", "voltbus", "run", "sample_agent:Watch"]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        first = json.loads(process.stderr.readline())
        assert (first["message"], first["limit"]) == ("here I am", 80.0)
        process.send_signal(signal.SIGTERM)
        rest = [json.loads(line)["message"] for line in process.stderr]
        assert "bye" in rest
        assert process.wait(30) == 0
