"""The search engine that the tests of the agent searchalarm have, and the agent's question to it.

It serves a free port, whose time is that of the argument, and prints "ready <port>". A line on standard input is a rule of the agent in JSON: the rule is asked,
the value and the reason of each point that is an alarm are printed, one a line, and the program ends.
"""

import datetime
import pathlib
import sys

import msgspec

agent = pathlib.Path(__file__).parents[2] / "agents" / "searchalarm"
sys.path[:0] = [str(agent), str(agent / "src")]

from searchalarm.query import Rule, values  # noqa: E402
from searchalarm.wire import Secret, Server  # noqa: E402
from tests.index import search_engine  # noqa: E402

with search_engine() as index:
    index.now = datetime.datetime.fromisoformat(sys.argv[1])
    print("ready", index.url.rpartition(":")[2], flush=True)
    if line := sys.stdin.readline():
        rule = msgspec.json.decode(line, type=Rule)
        server = Server(index.url, "plant", Secret(file=sys.argv[2]))
        for point, value in values(server.ask(rule.index, rule.body())).items():
            if why := rule.why(value):
                print(f"{point}: {value:g}, {why}")
