"""A building of EnergyPlus in a process of its own, for ``voltbus world``.

EnergyPlus runs in a thread, and waits at the beginning of each of its steps until the world has come to
the end of that step. Its clock shows the time of the world in UTC.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import re
import shutil
import tempfile
import threading
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import msgspec

from ._outside import Model, serve

SECOND = 1_000_000_000


class Hello(msgspec.Struct):
    """What the process begins with."""

    file: str
    weather: str
    start: datetime
    seconds: float  # how long the world lasts
    actuators: list[str]
    outputs: list[str]
    values: list[float]  # of the actuators at the start


class Building(Model):
    """The building. The thread of EnergyPlus and the one that asks take turns."""

    def __init__(self, hello: Hello) -> None:
        start = hello.start.astimezone(timezone.utc)
        midnight = start.replace(hour=0, minute=0, second=0, microsecond=0)
        self._hello = hello
        self._offset = (start - midnight).total_seconds()
        self._u = hello.values
        self._steps = 0  # that have begun
        self._y: list[float] = []
        self._until = -1.0  # s since midnight, up to when it may run
        self._turn = threading.Condition()
        self._waits = self._ended = self._stops = False
        self._handles: tuple[list[int], list[int]] | None = None
        self._error = ""
        api, dataset = _load()
        self._runtime, self._exchange = api.runtime, api.exchange
        self._state = api.state_manager.new_state()
        self._folder = Path(tempfile.mkdtemp(prefix="voltbus-energyplus-"))
        model = prepare(
            Path(dataset.ref_models.get(hello.file, hello.file)),
            self._folder,
            midnight,
            midnight + timedelta(days=1, seconds=self._offset + hello.seconds),
        )
        weather = dataset.weather_files.get(hello.weather, hello.weather)
        self._arguments = ["-w", str(weather), "-d", str(self._folder), str(model)]
        for output in hello.outputs:
            self._exchange.request_variable(self._state, *_parts(output, 2))
        self._runtime.set_console_output_status(self._state, False)
        self._runtime.callback_begin_zone_timestep_before_set_current_weather(self._state, self._begin)
        self._runtime.callback_begin_system_timestep_before_predictor(self._state, self._command)
        threading.Thread(target=self._run, daemon=True).start()
        self._until = 0.0
        self._wait()

    def _run(self) -> None:
        code = self._runtime.run_energyplus(self._state, self._arguments)
        with self._turn:
            self._ended = True
            if code and not self._error:
                self._error = f"EnergyPlus ended with {code}: {why(self._folder)}"
            self._turn.notify_all()

    def _begin(self, state: Any) -> None:
        """Wait at the beginning of a step, in the thread of EnergyPlus."""
        x = self._exchange
        if x.warmup_flag(state) or x.kind_of_sim(state) != 3 or not x.api_data_fully_ready(state):
            return
        try:
            _, outputs = self._find()
            y = [x.get_variable_value(state, handle) for handle in outputs]
        except Exception as e:
            self._error = str(e)
            self._runtime.stop_simulation(state)
            return
        self._steps += 1
        end = self._steps * 3600 / x.num_time_steps_in_hour(state)
        with self._turn:
            self._y = y
            while self._until < end - 1e-3 and not self._stops:
                self._waits = True
                self._turn.notify_all()
                self._turn.wait()
            self._waits = False
        if self._stops:
            self._runtime.stop_simulation(state)

    def _command(self, state: Any) -> None:
        """Set the actuators before a step is computed."""
        if not self._exchange.api_data_fully_ready(state):
            return
        with contextlib.suppress(LookupError):  # _begin tells
            for handle, value in zip(self._find()[0], self._u, strict=True):
                self._exchange.set_actuator_value(state, handle, value)

    def _find(self) -> tuple[list[int], list[int]]:
        """Return the handles of actuators and outputs."""
        if self._handles is None:
            x, state = self._exchange, self._state
            actuators = [x.get_actuator_handle(state, *_parts(a, 3)) for a in self._hello.actuators]
            outputs = [x.get_variable_handle(state, *_parts(o, 2)) for o in self._hello.outputs]
            names = self._hello.actuators + self._hello.outputs
            missing = [n for n, handle in zip(names, actuators + outputs, strict=True) if handle < 0]
            if missing:
                raise LookupError(f"the model has no {'; no '.join(missing)}")
            self._handles = (actuators, outputs)
        return self._handles

    def _wait(self) -> None:
        """Wait until EnergyPlus waits or has ended."""
        with self._turn:
            self._turn.wait_for(lambda: self._ended or self._waits)
        if self._error:
            raise RuntimeError(self._error)
        if self._ended:
            raise RuntimeError("the run period of EnergyPlus is over; set world.duration")

    def advance(self, to: int, u: list[float]) -> list[float]:
        """Go on to a moment: by those steps that end until then."""
        with self._turn:
            self._u = u
            self._until = self._offset + to / SECOND
            self._waits = False
            self._turn.notify_all()
        self._wait()
        return self._y

    def save(self) -> bytes:
        """Fail: EnergyPlus keeps no state."""
        raise RuntimeError("EnergyPlus cannot keep its state")

    def load(self, to: int, state: bytes) -> None:
        """Fail: EnergyPlus keeps no state."""
        raise RuntimeError("EnergyPlus cannot take a state")

    def close(self) -> None:
        """End EnergyPlus."""
        with self._turn:
            self._stops = True
            self._turn.notify_all()
            self._turn.wait_for(lambda: self._ended, timeout=10)
        shutil.rmtree(self._folder, ignore_errors=True)


def _load() -> tuple[Any, Any]:
    try:
        api = importlib.import_module("pyenergyplus.api").EnergyPlusAPI()
        return api, importlib.import_module("pyenergyplus.dataset")
    except ModuleNotFoundError as e:
        if e.name not in ("pyenergyplus", "pyenergyplus.dataset"):
            raise
        raise RuntimeError(
            "install EnergyPlus into world.python: pip install 'voltbus[energyplus]'"
        ) from None


def _parts(name: str, count: int) -> list[str]:
    parts = [part.strip() for part in name.split("/", count - 1)]
    if len(parts) != count:
        raise RuntimeError(f"{name!r}: write {count} names with / between")
    return parts


def prepare(model: Path, folder: Path, first: datetime, last: datetime) -> Path:
    """Write a model whose run period is from one day to another one, and return its file."""
    text = model.read_text(encoding="utf-8", errors="replace")
    to = folder / model.name
    if model.suffix.lower() == ".epjson":
        document = json.loads(text)
        period = {
            "begin_month": first.month,
            "begin_day_of_month": first.day,
            "begin_year": first.year,
            "end_month": last.month,
            "end_day_of_month": last.day,
            "end_year": last.year,
        }
        document["RunPeriod"] = {"world": period}
        for control in document.setdefault("SimulationControl", {"control": {}}).values():
            control["run_simulation_for_sizing_periods"] = "No"
            control["run_simulation_for_weather_file_run_periods"] = "Yes"
        to.write_text(json.dumps(document), encoding="utf-8")
        return to
    text = re.sub(r"(?ims)^\s*RunPeriod\s*,.*?;[^\n]*\n", "\n", text)
    text = re.sub(
        r"(?ims)(^\s*SimulationControl\s*,(?:[^,;]*,){3})[^,;]*,[^,;]*([,;])", r"\1 No, Yes\2", text
    )
    days = ", ".join(str(n) for d in (first, last) for n in (d.month, d.day, d.year))
    to.write_text(f"{text}\nRunPeriod, world, {days};\n", encoding="utf-8")
    return to


def why(folder: Path) -> str:
    """Return what EnergyPlus says of its end."""
    try:
        lines = (folder / "eplusout.err").read_text(errors="replace").splitlines()
    except OSError:
        return "it wrote nothing about it"
    found = [line.strip(" *") for line in lines if "Severe" in line or "Fatal" in line]
    return "; ".join(found[:3]) or "it wrote no reason"


def main() -> None:
    """Serve on standard input and output."""
    serve(lambda line: Building(msgspec.json.decode(line, type=Hello)))
