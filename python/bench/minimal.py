"""The least that an agent can be."""

from voltbus import Agent, Config, Wants


class Minimal(Agent[Config]):
    """Listens, and does nothing."""

    wants = Wants(subscribe=["bench/**"])
