"""Where the node is, and who this agent is: from arguments, the environment, or a data directory."""

from __future__ import annotations

import os
import ssl
from dataclasses import dataclass
from pathlib import Path

import msgspec

from ._nkey import Key
from .errors import Invalid, NotFound, Unreachable
from .path import check_name


@dataclass(frozen=True)
class Place:
    """All that a connection needs."""

    address: str
    name: str
    ca: Path
    key: Path

    def trust(self) -> ssl.SSLContext:
        """Return what the node's certificate is checked with: its own authority, TLS 1.3."""
        try:
            context = ssl.create_default_context(cafile=str(self.ca))
        except FileNotFoundError:
            message = "there is no certificate; give the node's tls/ca.pem"
            raise NotFound(message, subject=str(self.ca)) from None
        except (OSError, ssl.SSLError) as e:
            raise Invalid(f"the certificate cannot be read: {e}", subject=str(self.ca)) from None
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        return context

    def secret(self) -> Key:
        """Read the key file."""
        return Key.read(self.key)


def find(
    address: str | None = None,
    *,
    name: str | None = None,
    ca: str | Path | None = None,
    key: str | Path | None = None,
    data: str | Path | None = None,
) -> Place:
    """Return the place. What is not given comes from ``data``, then from the environment.

    ``VOLTBUS_BUS`` is host:port, ``VOLTBUS_CA`` and ``VOLTBUS_KEY`` are files, ``VOLTBUS_AGENT`` is
    the name. ``data`` is the data directory of a node on this machine.
    """
    name = name or os.environ.get("VOLTBUS_AGENT")
    if not name:
        message = "an agent needs a name: give name=, or set VOLTBUS_AGENT"
        raise Invalid(message)
    check_name(name)
    if data is not None:
        folder = Path(data)
        address = address or _running(folder)
        ca = ca or folder / "tls" / "ca.pem"
        key = key or folder / "agents" / name / "key.nk"
    address = address or os.environ.get("VOLTBUS_BUS")
    ca = ca or os.environ.get("VOLTBUS_CA")
    key = key or os.environ.get("VOLTBUS_KEY")
    for what, value, variable in (
        ("where the node is", address, "VOLTBUS_BUS (host:port)"),
        ("the node's certificate", ca, "VOLTBUS_CA (a file)"),
        ("the agent's key", key, "VOLTBUS_KEY (a file)"),
    ):
        if not value:
            message = f"it is not said {what}: set {variable}, or give data= with a node's directory"
            raise Invalid(message, subject=name)
    assert address is not None
    assert ca is not None
    assert key is not None
    return Place(address, name, Path(ca), Path(key))


def _running(folder: Path) -> str:
    file = folder / "node.json"
    try:
        content = msgspec.json.decode(file.read_bytes())
    except FileNotFoundError:
        message = "no node runs with this data directory; start it, or name the right directory"
        raise Unreachable(message, subject=str(folder)) from None
    except (OSError, msgspec.DecodeError) as e:
        raise Invalid(f"cannot be read: {e}", subject=str(file)) from None
    address = content.get("bus") if isinstance(content, dict) else None
    if not isinstance(address, str) or not address:
        message = "the node has no bus for others; set listen.bus in its configuration"
        raise Unreachable(message, subject=str(folder))
    return address
