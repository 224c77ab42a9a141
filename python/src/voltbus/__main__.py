"""``python -m voltbus run|describe package.module:Class``; the rest is for ``voltbus world``."""

from __future__ import annotations

import argparse
import asyncio
import importlib
import inspect
import sys
from typing import Any

import msgspec

from . import _json, _place, _run
from ._connection import Connection
from ._serve import Served
from .agent import Agent
from .bus import Bus
from .errors import Error, Invalid, NotFound
from .log import set_up
from .mark import Offered


def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m voltbus", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (
        ("run", "run an agent until it is told to end"),
        ("describe", "print what an agent is and wants, as JSON, without connecting"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("agent", help="package.module:Class")
        if name == "run":
            command.add_argument("--data", help="data directory of a node on this machine")
            command.add_argument("--name", help="the agent's name; else VOLTBUS_AGENT")
            command.add_argument("--level", default="INFO", help="lowest level that is logged")
    commands.add_parser("world", help="run agents of a site for voltbus world, which starts this")
    commands.add_parser("fmu", help="run an FMU for voltbus world, which starts this")
    commands.add_parser("energyplus", help="run EnergyPlus for voltbus world, which starts this")
    args = parser.parse_args(argv)
    try:
        if args.command == "describe":
            print(_json.encode(describe(load(args.agent))).decode())  # noqa: T201 - its purpose
        elif args.command == "world":
            from . import _world

            set_up("INFO")
            _world.main()
        elif args.command == "fmu":
            from . import _fmu

            _fmu.main()
        elif args.command == "energyplus":
            from . import _energyplus

            _energyplus.main()
        else:
            set_up(args.level.upper())
            agent = load(args.agent)()
            asyncio.run(_serve(agent, args))
    except Error as e:
        print(f"{e}", file=sys.stderr)  # noqa: T201
        return 1
    return 0


async def _serve(agent: Agent[Any], args: argparse.Namespace) -> None:
    place = _place.find(name=args.name, data=args.data)
    trust, key = place.trust(), place.secret()
    await _run.run(agent, lambda: Bus(Connection(place.address, place.name, trust, key), place.name))


def load(text: str) -> type[Agent[Any]]:
    """Return the class that ``package.module:Class`` names."""
    module_name, colon, class_name = text.partition(":")
    if not colon or not module_name or not class_name:
        raise Invalid("name the agent as package.module:Class", subject=text)
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as e:
        if e.name is None or not (module_name + ".").startswith(e.name + "."):
            raise  # something that the agent needs: the trace tells from where
        raise NotFound("there is no such module; is it installed here?", subject=e.name) from None
    found = getattr(module, class_name, None)
    if found is None:
        classes = [n for n, c in vars(module).items() if _is_agent(c) and c is not Agent]
        hint = f"; there is {', '.join(classes)}" if classes else ""
        raise NotFound(f"{module_name} has no {class_name}{hint}", subject=text)
    if not _is_agent(found):
        raise Invalid("this is no agent: derive the class from voltbus.Agent", subject=text)
    return found  # type: ignore[no-any-return]


def _is_agent(thing: Any) -> bool:
    return isinstance(thing, type) and issubclass(thing, Agent)


def describe(kind: type[Agent[Any]]) -> dict[str, Any]:
    """Return what an agent is and wants, as JSON has it."""
    problems = kind.wants.check()
    if problems:
        raise Invalid("; ".join(problems), subject=f"{kind.__name__}.wants")
    offered = [
        Served(mark.name, getattr(kind, name), mark.needs).describe()
        for name, mark in kind.marked()
        if isinstance(mark, Offered)
    ]
    methods: list[dict[str, Any]] = msgspec.to_builtins(offered)
    for method in methods:  # the first parameter is the agent itself
        method["params"] = method["params"][1:]
    return {
        "name": kind.__name__.lower(),
        "doc": inspect.getdoc(kind) if kind.__doc__ else "",
        "class": f"{kind.__module__}:{kind.__qualname__}",
        "version": kind.version or _version(kind),
        "wants": msgspec.to_builtins(kind.wants),
        "config_schema": msgspec.json.schema(kind.settings_type()),
        "methods": methods,
    }


def _version(kind: type[Agent[Any]]) -> str:
    """Return the version of the package that the agent was installed with."""
    from importlib import metadata

    for name in metadata.packages_distributions().get(kind.__module__.partition(".")[0], []):
        return metadata.version(name)
    return ""


if __name__ == "__main__":
    sys.exit(main())
