"""A listener of the lab on the SDK: it says when it has every message of a scan.

It reads its work from the first line of its input, and ends with the input. The arguments are the SDK, a wheel or a
folder, and the subject of the scans.
"""

import asyncio
import datetime
import sys
import time

sys.path.insert(0, sys.argv[1])

import msgspec  # noqa: E402
from voltbus._connection import Connection  # noqa: E402
from voltbus._place import find  # noqa: E402


def say(**what):
    print(msgspec.json.encode(what).decode(), flush=True)


def micro(text):
    at = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    return int(at.timestamp()) * 1_000_000 + at.microsecond


class Scans:
    """The messages of each scan so far."""

    def __init__(self, want):
        self.want = want
        self.slots = {}

    def receive(self, raw):
        message = msgspec.json.decode(raw.data)  # all of it, as an agent has it
        slot, first = message["slot"], micro(message["time"])
        count, earliest = self.slots.get(slot, (0, first))
        count, first = count + 1, min(first, earliest)
        self.slots[slot] = (count, first)
        if count == self.want:
            del self.slots[slot]
            say(arrival={"slot": slot, "first": first, "last": time.time_ns() // 1000})


async def main():
    work = msgspec.json.decode(sys.stdin.readline())
    place = find(work["address"], name="listener", ca=work["ca"], key=work["key"])
    bus = Connection(place.address, place.name, place.trust(), place.secret())
    await bus.open()
    bus.subscribe(sys.argv[2], Scans(work["want"]).receive)
    await bus._link.ping()  # the node has the subscription
    say(ready=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await bus.close()


asyncio.run(main())
