"""Keys of agents: an nkey seed in a file, which signs what the server asks for.

An agent signs once a connection, so Ed25519 (RFC 8032) is written out here: a signature takes a few
milliseconds, and no library has to be loaded for it, which would cost 1 to 8 MB in every agent.
The time it takes depends on the key; what is signed is the server's nonce, over TLS, once a
connection, which gives nobody the measurements that such an attack needs.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
from pathlib import Path

from .errors import Corrupt, NotFound, Refused

_PRIME = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, _PRIME - 2, _PRIME) % _PRIME
_ROOT = pow(2, (_PRIME - 1) // 4, _PRIME)

# The first bytes of a decoded nkey: a seed (S) of a user (U), and a user's public key.
_SEED, _USER = 18 << 3, 20 << 3

_Point = tuple[int, int, int, int]  # extended coordinates: x = X/Z, y = Y/Z, xy = T/Z


def _base_point() -> _Point:
    y = 4 * pow(5, _PRIME - 2, _PRIME) % _PRIME
    square = (y * y - 1) * pow(_D * y * y + 1, _PRIME - 2, _PRIME)
    x = pow(square, (_PRIME + 3) // 8, _PRIME)
    if (x * x - square) % _PRIME:
        x = x * _ROOT % _PRIME
    if x % 2:
        x = _PRIME - x
    return x, y, 1, x * y % _PRIME


_BASE = _base_point()


def _add(p: _Point, q: _Point) -> _Point:
    a = (p[1] - p[0]) * (q[1] - q[0]) % _PRIME
    b = (p[1] + p[0]) * (q[1] + q[0]) % _PRIME
    c = 2 * p[3] * q[3] * _D % _PRIME
    d = 2 * p[2] * q[2] % _PRIME
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _PRIME, g * h % _PRIME, f * g % _PRIME, e * h % _PRIME


def _times_base(scalar: int) -> bytes:
    result: _Point = (0, 1, 1, 0)
    p = _BASE
    while scalar:
        if scalar & 1:
            result = _add(result, p)
        p = _add(p, p)
        scalar >>= 1
    inverse = pow(result[2], _PRIME - 2, _PRIME)
    x, y = result[0] * inverse % _PRIME, result[1] * inverse % _PRIME
    return (y | (x & 1) << 255).to_bytes(32, "little")


def _number(*parts: bytes) -> int:
    return int.from_bytes(hashlib.sha512(b"".join(parts)).digest(), "little")


class Key:
    """An Ed25519 key pair, made of 32 bytes. It is immutable."""

    def __init__(self, secret: bytes) -> None:
        digest = hashlib.sha512(secret).digest()
        scalar = int.from_bytes(digest[:32], "little")
        self._scalar = scalar & ((1 << 254) - 8) | 1 << 254
        self._prefix = digest[32:]
        self._public = _times_base(self._scalar)
        self._secret = secret

    @classmethod
    def new(cls) -> Key:
        """Make a key that nobody had before."""
        return cls(os.urandom(32))

    @classmethod
    def parse(cls, seed: str) -> Key:
        """Read a seed, which begins with ``SU``; ``Corrupt`` if it is none."""
        raw = _decode(seed.strip())
        kind = (raw[0] & 7) << 5 | raw[1] >> 3
        if raw[0] & 0xF8 != _SEED or kind != _USER or len(raw) != 34:
            raise Corrupt("not the seed of an agent, which has 58 characters and begins with SU")
        return cls(raw[2:])

    @classmethod
    def read(cls, file: str | Path) -> Key:
        """Read a key file; ``NotFound``, ``Refused`` or ``Corrupt`` if that fails."""
        try:
            seed = Path(file).read_text(encoding="ascii")
        except FileNotFoundError:
            message = "there is no key file; install or register the agent first"
            raise NotFound(message, subject=str(file)) from None
        except PermissionError:
            message = "the key file cannot be read; start the agent as the user that it belongs to"
            raise Refused(message, subject=str(file)) from None
        except (UnicodeDecodeError, OSError) as e:
            raise Corrupt(f"the key file cannot be read: {e}", subject=str(file)) from None
        try:
            return cls.parse(seed)
        except Corrupt as e:
            raise Corrupt(e.message, subject=str(file)) from None

    @property
    def public_bytes(self) -> bytes:
        """The public key as 32 bytes."""
        return self._public

    @property
    def public(self) -> str:
        """The public nkey, which begins with ``U``."""
        return _encode(bytes([_USER]) + self._public)

    @property
    def seed(self) -> str:
        """The seed, which begins with ``SU``. It is the secret: keep it in a file of mode 0600."""
        return _encode(bytes([_SEED | _USER >> 5, (_USER & 31) << 3]) + self._secret)

    def sign(self, data: bytes) -> bytes:
        """Return the signature of RFC 8032 (Ed25519, 64 bytes)."""
        r = _number(self._prefix, data) % _ORDER
        point = _times_base(r)
        s = (r + _number(point, self._public, data) * self._scalar) % _ORDER
        return point + s.to_bytes(32, "little")


def _decode(text: str) -> bytes:
    try:
        raw = base64.b32decode(text + "=" * (-len(text) % 8))
    except (binascii.Error, ValueError):
        raise Corrupt("not a key: it holds characters that no key has") from None
    if len(raw) < 4 or binascii.crc_hqx(raw[:-2], 0) != int.from_bytes(raw[-2:], "little"):
        raise Corrupt("not a key, or one with a typing error: its checksum is wrong")
    return raw[:-2]


def _encode(raw: bytes) -> str:
    crc = binascii.crc_hqx(raw, 0).to_bytes(2, "little")
    return base64.b32encode(raw + crc).decode().rstrip("=")
