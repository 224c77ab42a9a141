"""Write agents for Voltbus.

An agent is a class with marked methods::

    from voltbus import Agent, Config, Sample, Wants, alert, every, on, rpc

    class Settings(Config):
        limit: float = 80.0

    class Watch(Agent[Settings]):
        wants = Wants(subscribe=["demo/plant/**"])

        @on("demo/plant/*/supply_temp")
        async def warm(self, sample: Sample) -> None:
            if sample.good and sample.value > self.settings.limit:
                await alert("too-hot", f"{sample.point} is {sample.value} °C")

        @rpc
        async def limit(self) -> float:
            "Return the limit, in degrees Celsius."
            return self.settings.limit

and a script uses a connection::

    async with voltbus.connect(data="data", name="script") as bus:
        async for sample in bus.samples("demo/**"):
            print(sample)

``voltbus.errors`` draws the tree of what can go wrong; ``voltbus.testing`` has a bus in memory and
a virtual clock.
"""

from ._serve import caller
from ._stream import Stream
from ._version import __version__
from .agent import Agent, Config, alert, clear
from .bus import Bus, connect
from .control import Reading, Window, Written
from .errors import (
    Canceled,
    Conflict,
    Corrupt,
    Error,
    Invalid,
    NotFound,
    Refused,
    Rejected,
    RemoteError,
    Timeout,
    Unavailable,
    Unreachable,
)
from .grant import Call, Command, Grants, Hold, Standing, Wants
from .mark import at, cron, every, on, on_change, rpc
from .model import Fence, Holder, Message, Sample, Scan, Value
from .recorder import Recorder

__all__ = [
    "Agent",
    "Bus",
    "Call",
    "Canceled",
    "Command",
    "Config",
    "Conflict",
    "Corrupt",
    "Error",
    "Fence",
    "Grants",
    "Hold",
    "Holder",
    "Invalid",
    "Message",
    "NotFound",
    "Reading",
    "Recorder",
    "Refused",
    "Rejected",
    "RemoteError",
    "Sample",
    "Scan",
    "Standing",
    "Stream",
    "Timeout",
    "Unavailable",
    "Unreachable",
    "Value",
    "Wants",
    "Window",
    "Written",
    "__version__",
    "alert",
    "at",
    "caller",
    "clear",
    "connect",
    "cron",
    "every",
    "on",
    "on_change",
    "rpc",
]
