"""`torchaudio.load` and `torchaudio.save`, which need TorchCodec now."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlift.finding import Finding, Severity
from torchlift.project import Project
from torchlift.rules.api.uses.table_rule import is_plain_use
from torchlift.rules.rule import Bad, Context, Ok, Rule
from torchlift.versions import TorchVersion
from torchlift.view import Use

_SINCE = TorchVersion(2, 9)
_IGNORED = {
    "torchaudio.load": ("normalize", "format", "buffer_size", "backend"),
    "torchaudio.save": ("format", "encoding", "bits_per_sample", "buffer_size", "backend"),
}

RULE = Rule(
    code="TL433",
    name="torchaudio-codec",
    summary="`torchaudio.load` and `torchaudio.save`, which need TorchCodec since torchaudio 2.9",
    why=(
        "Since torchaudio 2.9, which goes with torch 2.9, both only call TorchCodec: without the package `torchcodec` they raise "
        "ImportError, and TorchCodec needs FFmpeg. `load` returns float32 samples whatever `normalize` says; of `save` the ending of the "
        "path decides about the format, and `encoding` and `bits_per_sample` count for nothing. Each ignored argument is a warning."
    ),
    fix="Manual: install `torchcodec`, or another reader such as `soundfile`; the advice says which arguments do nothing any more.",
    targets=tuple(_IGNORED),
    triggers=("load & torchaudio", "save & torchaudio"),
    sources=(
        "torchaudio/__init__.py and torchaudio/_torchcodec.py of torchaudio 2.9.1 and 2.11.0, read 2026-11-23",
        "https://github.com/pytorch/audio/issues/3902",
    ),
)


def changed_in(target: str) -> TorchVersion | None:
    return _SINCE


def check(use: Use, context: Context) -> Iterator[Finding]:
    if use.kind not in {"call", "reference"} or use.name != use.target or context.settings.target < _SINCE:
        return
    if not is_plain_use(use, context) and not isinstance(use.node, ast.Name):
        return
    given = {keyword.arg for keyword in use.call.keywords} if use.call is not None else set()
    if (context.project.once(_requires_codec) or "torchcodec" in context.view.source.text) and given.isdisjoint(
        _IGNORED[use.target]
    ):
        return
    message = f"`{use.target}` is TorchCodec's since torchaudio 2.9 (for torch 2.9): without the package `torchcodec`, and FFmpeg, it raises."
    yield Finding(
        "TL433",
        context.view.path,
        context.view.span(use.node),
        message,
        Severity.WARNING,
        _advice(use.target, use.call),
    )


_METADATA = ("pyproject.toml", "setup.cfg", "setup.py", "requirements.txt")


def _requires_codec(project: Project) -> bool:
    """Whether the project's own requirements name TorchCodec."""
    for path in _METADATA:
        try:
            if b"torchcodec" in project.data(path):
                return True
        except OSError:
            continue
    return False


def _advice(target: str, call: ast.Call | None) -> str:
    keywords = call.keywords if call is not None else []
    given = [keyword.arg for keyword in keywords if keyword.arg in _IGNORED[target]]
    files = "; of file objects it reads those with `read` and `seek`" if target == "torchaudio.load" else ""
    text = f"Add `torchcodec` to the requirements, in the release that goes with your torch{files}."
    if not given:
        return text
    names = ", ".join(f"`{name}`" for name in given)
    return f"{text} Of this call {names} {'has' if len(given) == 1 else 'have'} no effect any more{_instead(target, given)}."


def _instead(target: str, given: list[str]) -> str:
    if target == "torchaudio.load":
        return ": samples are float32 between -1 and 1 in any case" if "normalize" in given else ""
    return ": the ending of the path decides" if "format" in given else ""


EXAMPLES = (
    Ok(
        "import torchaudio\n\n\ndef read(path):\n    try:\n        import torchcodec\n    except ImportError:\n        return None\n"
        "    return torchaudio.load(path)\n",
        "a file that asks for the package itself",
    ),
    Bad(
        "import torchaudio\n\n\nclass Reader:\n    def __init__(self):\n        self.read = torchaudio.load\n",
        why="a function that is handed on",
    ),
    Bad(
        "import torchaudio\n\n\ndef samples(path):\n    return torchaudio.load(path, normalize=False)\n",
        why="a call with an argument that is ignored now",
    ),
    Bad(
        "from torchaudio import save as write\n\n\ndef keep(path, wave):\n    write(path, wave, 16000, format='wav', bits_per_sample=16)\n",
        why="an imported name",
    ),
    Bad("import torchaudio as ta\n\nwave, rate = ta.load('speech.wav')\n", why="another name for the package"),
    Ok(
        "import torchaudio\n\nx, rate = torchaudio.load('a.wav')\n",
        "a project that requires TorchCodec",
        files=(("requirements.txt", "torchaudio>=2.9\ntorchcodec\n"),),
    ),
    Ok("import torchaudio\n\nresample = torchaudio.transforms.Resample(8000, 16000)\n", "what needs no codec"),
    Ok(
        "from torchcodec.decoders import AudioDecoder\n\nprint(AudioDecoder('speech.wav').metadata)\n",
        "TorchCodec itself",
    ),
    Ok(
        "import torch\n\n\ndef load(torchaudio, path):\n    return torchaudio.load(path)\n",
        "a parameter of that name",
    ),
    Ok(
        "import torchaudio\n\nif hasattr(torchaudio, 'info'):\n    wave, rate = torchaudio.load('speech.wav')\n",
        "under a question that only older releases answer",
    ),
)
