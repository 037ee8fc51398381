"""Virtual environments with packages made by hand."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from native_files import CUBIN, PTX, SPECIFIC, elf, fatbin, image

from torchlift.doctor.facts import Facts
from torchlift.doctor.facts.facts_json import from_json, to_json
from torchlift.doctor.probes import python_environment

GPU_CODE = elf([(".nv_fatbin", fatbin(image(CUBIN, 80), image(CUBIN, 90, SPECIFIC), image(PTX, 120)))])
TORCH = {
    "torch/__init__.py": "raise SystemExit('torch was imported')\n",
    "torch/version.py": "from typing import Optional\n__version__ = '2.15.0+cu132'\ndebug = False\n"
    "cuda: Optional[str] = '13.2'\ngit_version = 'abc'\nhip: Optional[str] = None\nxpu: Optional[str] = None\n",
    "torch/lib/libtorch_cuda.so": GPU_CODE,
}


@dataclass
class Environment:
    """A virtual environment without pip."""

    root: Path
    site: Path
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def python(self) -> str:
        return str(self.root / "bin" / "python")

    def write(self, files: Mapping[str, bytes | str], site: Path | None = None) -> None:
        for name, content in files.items():
            path = (site or self.site) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)

    def install(
        self,
        name: str,
        version: str = "1.0",
        files: Mapping[str, bytes | str] | None = None,
        info: Mapping[str, bytes | str] | None = None,
        site: Path | None = None,
    ) -> Path:
        """A wheel's files as pip leaves them, RECORD included; `info` are further files of the dist-info folder."""
        folder = f"{name.replace('-', '_')}-{version}.dist-info"
        whole: dict[str, bytes | str] = {
            **(files or {}),
            f"{folder}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
            f"{folder}/WHEEL": "Wheel-Version: 1.0\nTag: py3-none-any\n",
            f"{folder}/INSTALLER": "pip\n",
            **{f"{folder}/{key}": content for key, content in (info or {}).items()},
        }
        record = "".join(f"{path},{_hash(content)},{len(_bytes(content))}\n" for path, content in whole.items())
        self.write({f"{folder}/RECORD": f"{record}{folder}/RECORD,,\n", **whole}, site)
        return (site or self.site) / folder

    def facts(self, **options: object) -> Facts:
        child = python_environment.start(self.python, {**os.environ, "PYTHONPATH": "", **self.variables}, **options)  # type: ignore[arg-type]
        facts = Facts()
        python_environment.read(child.result(), facts)
        # Whatever was found goes into a file and back.
        assert to_json(from_json(json.loads(json.dumps(to_json(facts))))) == to_json(facts)
        json.dumps(to_json(facts), ensure_ascii=False).encode()
        return facts


def _bytes(content: bytes | str) -> bytes:
    return content.encode() if isinstance(content, str) else content


def _hash(content: bytes | str) -> str:
    digest = hashlib.sha256(_bytes(content)).digest()
    return "sha256=" + base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
