"""Take names out of an examination, so that it can be shown in public.

Replaced are user names, home folders, host names, addresses, UUIDs, folders of environments and projects, addresses of
private packages and indexes, and values of variables that are free text. The same thing gets the same placeholder
everywhere, of the same shape: a path stays an absolute path, a UUID stays one. PCI addresses stay, they name a slot and
no machine. Redacted facts give the same diagnosis.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from torchlift.doctor.check import Check
from torchlift.doctor.derived.installing import MIRROR_OF_PYTORCH
from torchlift.doctor.examination import Examination
from torchlift.doctor.facts import Facts

_Value = TypeVar("_Value")

_REDACTED = "redacted"

_UUID = re.compile(r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b")
_SHORT_UUID = re.compile(r"\b(GPU-|MIG-(?:GPU-)?)([0-9a-fA-F][0-9a-fA-F-]{2,34})(?![\w-])")
_UNIX_PATH = re.compile(r"(?<![\w.\]>)/-])/[^\s:;,'\"`()<>|\[\]]+")
_WINDOWS_PATH = re.compile(r"(?<!\w)[A-Za-z]:[\\/][^\s;,'\"`()<>|\[\]]*|\\\\[^\s;,'\"`()<>|\[\]]+")
_URL = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s'\"`<>]+")
_MAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_IP4 = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.])")
_UUID_TAIL = "-0000-4000-8000-000000000000"

# Folders whose content every machine shares.
_SHARED_ROOTS = tuple(
    """
    /bin /sbin /lib /lib32 /lib64 /usr/bin /usr/sbin /usr/lib /usr/lib32 /usr/lib64 /usr/libexec /usr/include /usr/share
    /usr/local/bin /usr/local/lib /usr/local/sbin /usr/src /etc /proc /sys /dev /boot /run/nvidia-persistenced /opt/conda
    /run/nvidia-fabricmanager /opt/rocm /opt/nvidia /opt/intel /opt/amazon /System /Library/Frameworks /Applications
    /var/run/nvidia-persistenced /var/lib/dkms /run/nvidia
    """.split()
)
_SHARED_PATTERN = re.compile(
    r"/usr/local/(?:cuda|nvidia|python)[\w.-]*|/opt/(?:rocm|cuda|nvidia|python|miniconda|anaconda|miniforge)[\w.-]*|/usr"
    r"|/usr/local|/opt|/"
)
_SHARED_WINDOWS = re.compile(
    r"[A-Za-z]:[\\/](?:Windows|Program Files(?: \(x86\))?[\\/](?:NVIDIA[^\\/]*|Python\d*)|Python\d+)(?=[\\/]|$)",
    re.IGNORECASE,
)
_HOME = re.compile(
    r"(?:/(?:home|Users|export/home|data/home|var/home|nfs/home)/|(?<!\w)[A-Za-z]:[\\/]Users[\\/])([^\\/\s:;,'\"`()<>|]+)"
)
_WHOLE_HOME = re.compile(
    r"(?:/(?:home|Users|export/home|data/home|var/home|nfs/home)/|[A-Za-z]:[\\/]Users[\\/])([^\\/]+)"
)
_OURS = re.compile(r"(?:user|host|conda|environment|path|url|mail|value|address|gpu)-\d+")
_PUBLIC_HOSTS = frozenset(
    "pypi.org files.pythonhosted.org download.pytorch.org pypi.nvidia.com conda.anaconda.org".split()
)

# A folder of this name, and everything below, says nothing about whose it is.
_TAIL = re.compile(
    r"[\\/](?:site-packages|dist-packages|lib|lib64|Lib|bin|Scripts|include|stubs|compat|targets|nvidia|torch)(?=[\\/]|$)"
)

# Words that are user names somewhere and everywhere else words that a report cannot do without.
_COMMON_NAMES = frozenset(
    """
    root user users home admin ubuntu debian centos fedora rocky opc ec2-user ec2 azureuser jovyan vscode runner docker
    nobody default public shared torch pytorch torchlift cuda nvidia python conda pip uv gpu gpus cpu linux windows darwin
    triton driver doctor machine machines environment environments package packages wheel wheels project tesla localhost
    slurm test data work app src lib bin opt usr var tmp redacted path host name none true false
    """.split()
)

# Values that are numbers, switches or come from short lists.
_PLAIN_VALUE = re.compile(
    r"(?:[-+]?\d[\d.,;:+a-fx%-]*[kKmMgGtT]?[bB]?|true|false|yes|no|on|off|all|none|void|info|warn|warning|debug|trace|version"
    r"|offline|online|default|disabled?|enabled?)?",
    re.IGNORECASE,
)
_PLAIN_NAMES = re.compile(
    r"(VISIBLE_DEVICES|DRIVER_CAPABILITIES|ARCH_LIST|ALLOC_CONF|CUDA_ALLOC_CONF|DEVICE_ORDER|MODULE_LOADING|PROTO|ALGO|"
    r"DEBUG_SUBSYS|REQUIRE_CUDA|_VERSION|OVERRIDE_GFX_VERSION|TORCH_LOGS|TORCH_BACKEND|_DEBUG|_LEVEL|_MODE|_POLICY|PLUGIN)$"
)


def redacted(examination: Examination) -> Examination:
    """The examination without names; text, JSON and saved facts are made from this as from any other."""
    project = examination.project
    names = _Names(examination.facts, *(([project.root], project.indexes) if project is not None else ()))
    facts = redact_facts(examination.facts, names)
    return replace(
        examination,
        facts=facts,
        findings=names.walk(examination.findings),
        answer=names.walk(examination.answer),
        project=names.walk(project),
        smokes=names.walk(examination.smokes),
    )


def redact_facts(facts: Facts, names: _Names | None = None) -> Facts:
    """The facts alone."""
    names = names or _Names(facts)
    changed = names.walk(facts)
    changed.environment = {name: names.variable(name, value) for name, value in facts.environment.items()}
    return changed


def without_names(facts: Facts, value: _Value) -> _Value:
    """Anything else that was said about a machine or stood in a text of it: the same, without names."""
    return _Names(facts).walk(value)


class _Names:
    """What is replaced by what. Placeholders are numbered in the order in which things are first seen."""

    def __init__(self, facts: Facts, more_paths: Iterable[str] = (), more_urls: Iterable[str] = ()) -> None:
        self._numbers: dict[str, dict[str, str]] = {}
        self._heads: dict[str, str] = {}
        self._words: dict[str, str] = {}
        self._urls: dict[str, str] = {}
        self._uuids: dict[str, str] = {}
        leaves = [*_strings(facts), *more_paths]
        self._learn_names(facts, leaves)
        self._learn_environments(facts)
        for text in [*leaves, *more_urls]:
            self._learn_urls(text)
        for text in leaves:
            for found in _UUID.findall(text):
                self._uuid(found)
        for text in [*leaves, *_path_lists(facts)]:
            if _is_path(text):
                self._learn_path(text)
        self._url_pattern = _alternatives(self._urls, "", r"(?![\w-])")
        self._head_pattern = _alternatives(self._heads, "", r"(?![\w-])")
        self._word_pattern = _alternatives(self._words, r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])", re.IGNORECASE)

    # Learning

    def _learn_names(self, facts: Facts, leaves: Iterable[str]) -> None:
        found: dict[str, list[str]] = {"host": [], "user": [], "conda": []}
        for text in leaves:
            found["user"] += (_WHOLE_HOME if _is_path(text) else _HOME).findall(text)
        for name, value in facts.environment.items():
            if name.endswith(("HOSTNAME", "NODENAME")) or name == "MASTER_ADDR":
                found["host"] += [value, value.partition(".")[0]]
        found["conda"] += [facts.python.conda_environment or "", facts.environment.get("CONDA_DEFAULT_ENV", "")]
        if not facts.hypothetical:
            found["user"] += _own_users()
            found["host"] += _own_hosts()
        for kind, names in found.items():
            for name in sorted(dict.fromkeys(names), key=len, reverse=True):
                if (
                    len(name) > 1
                    and not name.isdigit()
                    and not _is_path(name)
                    and not _IP4.fullmatch(name)
                    and not (name.lower() in _COMMON_NAMES or _OURS.fullmatch(name))
                ):
                    self._words.setdefault(name.lower(), self._number(kind, name.lower()))

    def _learn_environments(self, facts: Facts) -> None:
        environment = facts.environment
        for prefix in (facts.python.prefix, environment.get("VIRTUAL_ENV"), environment.get("CONDA_PREFIX")):
            if prefix and _is_path(prefix) and not _is_shared(prefix):
                head = prefix.rstrip("/\\")
                self._heads[head] = self._folder("environment", head)

    def _learn_urls(self, text: str) -> None:
        for url in _URL.findall(text):
            scheme, _, rest = url.partition("://")
            host = rest.partition("/")[0].partition(":")[0].lower()
            if host not in _PUBLIC_HOSTS:
                # Of a mirror of PyTorch's indexes its other builds have addresses, too.
                mirror = MIRROR_OF_PYTORCH.fullmatch(url)
                known = url if mirror is None else mirror["root"].rstrip("/")
                self._urls[known] = f"{scheme}://{_REDACTED}.invalid/{self._number('url', known)}"

    def _learn_path(self, path: str) -> None:
        """Remember the part of a path that is somebody's; it may hold blanks, which no pattern can find in a sentence."""
        if _is_shared(path) or any(path == head or path.startswith((f"{head}/", f"{head}\\")) for head in self._heads):
            return
        head = _head(path)
        self._heads[head] = self._folder("path", head)

    def _number(self, kind: str, thing: str) -> str:
        known = self._numbers.setdefault(kind, {})
        return known.setdefault(thing, f"{kind}-{len(known) + 1}")

    def _folder(self, kind: str, path: str) -> str:
        drive = path[:2] if re.match(r"[A-Za-z]:", path) else ""
        slash = "\\" if "\\" in path else "/"
        return f"{drive}{slash}{_REDACTED}{slash}{self._number(kind, path)}"

    # Replacing

    def walk(self, value: _Value) -> _Value:
        """The same structure with every string redacted; checks themselves are ours and stay."""
        result: Any = value
        if isinstance(value, str):
            result = self.text(value)
        elif isinstance(value, (list, tuple)):
            result = type(value)(self.walk(item) for item in value)
        elif isinstance(value, dict):
            result = {key: self.walk(item) for key, item in value.items()}
        elif is_dataclass(value) and not isinstance(value, (type, Check)):
            result = replace(value, **{field.name: self.walk(getattr(value, field.name)) for field in fields(value)})
        return result  # type: ignore[no-any-return]

    def text(self, text: str) -> str:
        """One string, a path or a sentence."""
        kept: list[str] = []

        def keep(match: re.Match[str]) -> str:
            kept.append(match[0])
            return f"\0{len(kept) - 1}\0"

        text = text.replace("\0", "")
        text = _replaced(self._url_pattern, text, self._urls)
        # Addresses of documentation are ours, and no paths.
        text = _URL.sub(keep, text)
        text = _replaced(self._head_pattern, text, self._heads)
        text = _WINDOWS_PATH.sub(lambda match: self._path(match[0]), text)
        text = _UNIX_PATH.sub(lambda match: self._path(match[0]), text)
        text = _UUID.sub(lambda match: self._uuid(match[0]), text)
        text = _SHORT_UUID.sub(lambda match: match[1] + self._short_uuid(match[2]), text)
        text = _MAIL.sub(lambda match: self._number("mail", match[0]), text)
        if self._word_pattern is not None:
            text = self._word_pattern.sub(lambda match: self._words[match[0].lower()], text)
        return re.sub("\0(\\d+)\0", lambda match: kept[int(match[1])], text)

    def variable(self, name: str, value: str) -> str:
        """The value of an environment variable: kept is what comes from a short list, redacted are paths in it."""
        if name.endswith(("VISIBLE_DEVICES", "VERSION")):  # a version of four numbers is no address
            return self.text(value)
        if _PLAIN_VALUE.fullmatch(value) and not _IP4.search(value):
            return value
        if _PLAIN_NAMES.search(name):
            return self._addresses(self.text(value))
        separator = ";" if ";" in value or re.match(r"[A-Za-z]:[\\/]", value) else ":"
        parts = value.split(separator)
        if any(map(_is_path, parts)):
            return separator.join(self.text(part) if _is_path(part) else self._free(part) for part in parts)
        return self._free(value)

    def _free(self, value: str) -> str:
        known = self._words.get(value.lower())
        if known is not None:
            return known
        return value if not value or _OURS.fullmatch(value) else self._number("value", value)

    def _addresses(self, text: str) -> str:
        return _IP4.sub(lambda match: self._number("address", match[0]), text)

    def _path(self, path: str) -> str:
        stripped = path.rstrip(".,:;!?")
        if _is_shared(stripped):
            return path
        head = _head(stripped)
        return self._folder("path", head) + stripped[len(head) :] + path[len(stripped) :]

    def _uuid(self, uuid: str) -> str:
        lower = uuid.lower()
        if lower.endswith(_UUID_TAIL):
            return uuid
        return self._uuids.setdefault(lower, f"{len(self._uuids) + 1:08x}{_UUID_TAIL}")

    def _short_uuid(self, start: str) -> str:
        """The beginning of a UUID, with which CUDA_VISIBLE_DEVICES may name a GPU."""
        lower = start.lower()
        if lower.endswith(_UUID_TAIL) or re.fullmatch("0000[0-9a-f]{4}", lower):
            return start
        match = next((placeholder for uuid, placeholder in self._uuids.items() if uuid.startswith(lower)), None)
        return match[:8] if match else f"ffff{int(self._number('gpu', lower)[4:]):04x}"


def _replaced(pattern: re.Pattern[str] | None, text: str, words: Mapping[str, str]) -> str:
    return text if pattern is None else pattern.sub(lambda match: words[match[0]], text)


def _alternatives(words: Iterable[str], before: str, after: str, flags: int = 0) -> re.Pattern[str] | None:
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    if not longest_first:
        return None
    return re.compile(f"{before}(?:{'|'.join(map(re.escape, longest_first))}){after}", flags)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif is_dataclass(value):
        for field in fields(value):
            yield from _strings(getattr(value, field.name))


def _path_lists(facts: Facts) -> Iterator[str]:
    for value in facts.environment.values():
        yield from value.split(";" if facts.system.os == "windows" else ":")


def _is_path(text: str) -> bool:
    return (text.startswith("/") or re.match(r"[A-Za-z]:[\\/]|\\\\", text) is not None) and "\n" not in text


def _is_shared(path: str) -> bool:
    """A path that every machine may have."""
    plain = path.rstrip("/\\") or "/"
    if _SHARED_PATTERN.fullmatch(plain) or _SHARED_WINDOWS.match(plain):
        return True
    if (
        plain == f"/{_REDACTED}"
        or plain.startswith(f"/{_REDACTED}/")
        or re.match(rf"[A-Za-z]:[\\/]{_REDACTED}[\\/]", plain)
    ):
        return True
    if plain.startswith("/dev/shm/"):  # files that somebody keeps in memory
        return False
    if any(plain == root or plain.startswith(f"{root}/") for root in _SHARED_ROOTS):
        return True
    first = re.match(r"/(?:usr/local|opt)/[^/]+", plain)
    return first is not None and _SHARED_PATTERN.fullmatch(first[0]) is not None


def _head(path: str) -> str:
    """The part of a path that is somebody's: up to a folder that every environment has."""
    found = _TAIL.search(path, 1)
    return path[: found.start()] if found and found.start() > 0 else path.rstrip("/\\") or path


def _own_users() -> Iterator[str]:
    for name in ("USER", "LOGNAME", "USERNAME", "SUDO_USER"):
        yield os.environ.get(name, "")
    home = os.environ.get("HOME", os.environ.get("USERPROFILE", "")).rstrip("/\\")
    yield re.split(r"[\\/]", home)[-1]


def _own_hosts() -> Iterator[str]:
    import platform

    host = platform.node()
    yield host
    yield host.partition(".")[0]
