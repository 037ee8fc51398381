"""Digests of contents and of JSON values."""

from __future__ import annotations

import json
from typing import Any

try:
    # `hashlib` loads OpenSSL before it takes BLAKE2 from here: 5 ms, a twentieth of the time to start.
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b


def digest(value: Any) -> str:
    """A digest of a JSON value."""
    return hashed(json.dumps(value, separators=(",", ":")).encode())


def hashed(data: bytes) -> str:
    """A digest of bytes."""
    return blake2b(data, digest_size=16).hexdigest()
