"""What a package index lists, and files on it read by ranges: nothing is downloaded whole. Shared by the scripts here."""

from __future__ import annotations

import html.parser
import io
import json
import re
import ssl
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from packaging.utils import parse_wheel_filename
from packaging.version import Version

PUBLIC_INDEX = "https://pypi.org/simple"


@dataclass(frozen=True)
class Wheel:
    """A file that the index lists."""

    name: str
    url: str
    version: Version
    build_tag: str
    python: str
    """"3.14t"; "3" where any will do."""
    tag: str
    """"manylinux_2_28_x86_64"."""
    platform: str
    """"linux_x86_64", "linux_aarch64", "windows_amd64", "darwin_arm64", "darwin_x86_64", or "any"."""
    has_metadata: bool
    uploaded: str
    """Date of the upload, "2026-10-28"; empty where the index does not say."""


class _Links(html.parser.HTMLParser):
    """The links of a simple index page, with their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[dict[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.found.append(dict(attrs))


class RemoteFile(io.RawIOBase):
    """A file on a server, read by ranges."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.position = 0
        with opened(url, {"Range": "bytes=0-0"}) as answer:
            if answer.status != 206:
                raise OSError(f"{url} does not answer range requests")
            self.size = int(answer.headers["Content-Range"].rpartition("/")[2])

    def seekable(self) -> bool:
        """Always: a range can start anywhere."""
        return True

    def readable(self) -> bool:
        """Always."""
        return True

    def tell(self) -> int:
        """Bytes from the start of the file."""
        return self.position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move without asking the server; the new position in bytes."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self.position, io.SEEK_END: self.size}[whence]
        self.position = max(0, start + offset)
        return self.position

    def readinto(self, buffer: Any) -> int:
        """Fill `buffer` by one range request; the number of bytes, 0 at the end."""
        last = min(self.position + len(buffer), self.size) - 1
        if last < self.position:
            return 0
        with opened(self.url, {"Range": f"bytes={self.position}-{last}"}) as answer:
            data = answer.read()
        buffer[: len(data)] = data
        self.position += len(data)
        return len(data)


def listing(index: str, package: str) -> Iterator[Wheel]:
    """The wheels of `package` that a simple index offers, pre-releases left out."""
    page = f"{index}/{package}/"
    accept = "application/vnd.pypi.simple.v1+json, text/html;q=0.2"
    with opened(page, {"Accept": accept}) as answer:
        text = answer.read().decode()
        is_json = "json" in (answer.headers.get("Content-Type") or "")
    if is_json:
        links = [
            (item["url"], bool(item.get("core-metadata")), (item.get("upload-time") or "")[:10])
            for item in json.loads(text)["files"]
        ]
    else:
        parser = _Links()
        parser.feed(text)
        keys = ("data-core-metadata", "data-dist-info-metadata")
        links = [
            (link["href"] or "", any(key in link for key in keys), "") for link in parser.found if link.get("href")
        ]
    for link, has_metadata, uploaded in links:
        url = urllib.parse.urljoin(page, urllib.parse.urldefrag(link).url)
        name = urllib.parse.unquote(url.rpartition("/")[2])
        if not name.endswith(".whl"):
            continue
        try:
            _, version, build_tag, tags = parse_wheel_filename(name)
        except ValueError:
            continue
        tag = next(iter(tags))
        platform = platform_of(tag.platform)
        match = re.fullmatch(r"cp(\d)(\d+)|py(3)", tag.interpreter)
        if platform and match and not version.is_prerelease:
            python = match[3] or f"{match[1]}.{match[2]}{'t' if tag.abi.endswith('t') else ''}"
            build = "".join(map(str, build_tag))
            yield Wheel(name, url, version, build, python, tag.platform, platform, has_metadata, uploaded)


def opened(url: str, headers: dict[str, str]) -> Any:
    """The open answer to a request.

    Raises:
        OSError: the address cannot be read.
    """
    if not url.startswith(("https://", "http://", "file://")):
        raise OSError(f"{url} is no address that can be read")
    request = urllib.request.Request(url, headers={"User-Agent": "torchlift maintenance", **headers})
    return urllib.request.urlopen(request, timeout=120, context=ssl.create_default_context())


def configured_index() -> str | None:
    """The simple index that pip is configured to use, if any."""
    asked = subprocess.run(
        [sys.executable, "-m", "pip", "config", "get", "global.index-url"], capture_output=True, text=True, check=False
    )
    return asked.stdout.strip() or None


def platform_of(tag: str) -> str | None:
    """The system and processor of a platform tag; None for those that torchlift knows nothing of."""
    if tag in {"win_amd64", "any"}:
        return {"win_amd64": "windows_amd64"}.get(tag, tag)
    for pattern, system in ((r"manylinux.*_(x86_64|aarch64)", "linux"), (r"macosx_.*_(x86_64|arm64)", "darwin")):
        match = re.fullmatch(pattern, tag)
        if match:
            return f"{system}_{match[1]}"
    return None
