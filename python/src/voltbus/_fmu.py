"""A Functional Mock-up Unit for co-simulation in a process of its own, for ``voltbus world``.

That program writes one JSON object a line, and gets one back for each: first the unit, then moments
with inputs. The unit may print what it likes: answers have a file of their own.
"""

from __future__ import annotations

import importlib
import shutil
import tempfile
from collections.abc import Sequence
from typing import Any

import msgspec

from ._outside import Model, serve

SECOND = 1_000_000_000


class Port(msgspec.Struct):
    """A variable of the unit."""

    reference: int
    type: str


class Setting(Port, kw_only=True):
    """A parameter with its value."""

    value: float


class Hello(msgspec.Struct):
    """What the process begins with."""

    file: str
    name: str
    begin: float
    parameters: list[Setting]
    inputs: list[Port]
    outputs: list[Port]


class Unit(Model):
    """The unit, in the state that it has."""

    def __init__(self, hello: Hello) -> None:
        try:
            fmpy = importlib.import_module("fmpy")
        except ModuleNotFoundError as e:
            if e.name != "fmpy":
                raise
            raise RuntimeError(
                "an FMU needs fmpy; install it into world.python: pip install 'voltbus[fmu]'"
            ) from None
        self._hello = hello
        self._now = 0  # ns since the start of the world
        self._folder = tempfile.mkdtemp(prefix="voltbus-fmu-")
        about = fmpy.read_model_description(hello.file, validate=False)
        self._three = about.fmiVersion.startswith("3")
        fmpy.extract(hello.file, unzipdir=self._folder)
        kind = (
            importlib.import_module("fmpy.fmi3").FMU3Slave
            if self._three
            else importlib.import_module("fmpy.fmi2").FMU2Slave
        )
        self._fmu: Any = kind(
            guid=about.guid,
            unzipDirectory=self._folder,
            modelIdentifier=about.coSimulation.modelIdentifier,
            instanceName=hello.name,
        )
        self._fmu.instantiate()
        self._set(hello.parameters, _by_type(hello.parameters), [one.value for one in hello.parameters])
        if self._three:
            self._fmu.enterInitializationMode(startTime=hello.begin)
            self._fmu.exitInitializationMode()
        else:
            self._fmu.setupExperiment(startTime=hello.begin)
            self._fmu.enterInitializationMode()
            self._fmu.exitInitializationMode()
        self._inputs = _by_type(hello.inputs)
        self._outputs = _by_type(hello.outputs)

    def close(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def _set(self, ports: Sequence[Port], by_type: dict[str, list[int]], values: list[float]) -> None:
        for kind, places in by_type.items():
            convert = (
                float
                if kind in ("Real", "Float32", "Float64")
                else _truth
                if kind == "Boolean"
                else round
            )
            put = getattr(self._fmu, "set" + ("Integer" if kind == "Enumeration" else kind))
            put([ports[i].reference for i in places], [convert(values[i]) for i in places])

    def advance(self, to: int, u: list[float]) -> list[float]:
        """Go on to a moment."""
        self._set(self._hello.inputs, self._inputs, u)
        if to > self._now:
            begin = self._hello.begin + self._now / SECOND
            done = self._fmu.doStep(begin, (to - self._now) / SECOND)
            if done is not None and done[1]:
                raise RuntimeError("it asked to end the simulation")
            self._now = to
        return self._look()

    def _look(self) -> list[float]:
        y = [0.0] * len(self._hello.outputs)
        for kind, places in self._outputs.items():
            get = getattr(self._fmu, "get" + ("Integer" if kind == "Enumeration" else kind))
            for i, value in zip(
                places, get([self._hello.outputs[i].reference for i in places]), strict=True
            ):
                y[i] = float(value)
        return y

    def save(self) -> bytes:
        """Return the state."""
        if self._three:
            state = self._fmu.getFMUState()
            try:
                return bytes(self._fmu.serializeFMUState(state))
            finally:
                self._fmu.freeFMUState(state)
        state = self._fmu.getFMUstate()
        try:
            return bytes(self._fmu.serializeFMUstate(state))
        finally:
            self._fmu.freeFMUstate(state)

    def load(self, to: int, state: bytes) -> None:
        """Take a state of a moment."""
        if self._three:
            there = self._fmu.deserializeFMUState(state)
            self._fmu.setFMUState(there)
            self._fmu.freeFMUState(there)
        else:
            there = self._fmu.deSerializeFMUstate(state)
            self._fmu.setFMUstate(there)
            self._fmu.freeFMUstate(there)
        self._now = to


def _truth(value: float) -> bool:
    return value != 0


def _by_type(ports: Sequence[Port]) -> dict[str, list[int]]:
    """Return the places of variables in a list by their types."""
    found: dict[str, list[int]] = {}
    for i, port in enumerate(ports):
        found.setdefault(port.type, []).append(i)
    return found


def main() -> None:
    """Serve on standard input and output."""
    serve(lambda line: Unit(msgspec.json.decode(line, type=Hello)))
