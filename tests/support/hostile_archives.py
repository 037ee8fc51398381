"""Files that were made to harm whoever inspects, loads or converts them. Each leaves a mark if any of it runs."""

from __future__ import annotations

import io
import os
import pickle
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

MARK = "TORCHLIFT_HOSTILE_MARK"
"""Environment variable with the path of the file that appears if anything runs."""

_PLAIN = b"\x80\x02c__torch__\nNet\n)\x81}(X\x08\x00\x00\x00training\x89ub."
_CODE = """class Net(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
  def forward(self: __torch__.Net,
    x: Tensor) -> Tensor:
    return {body}
"""


class _Runs:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, (f"touch ${MARK}",)


class _Evaluates:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return eval, (f"__import__('os').system('touch ${MARK}')",)


def torchscript(body: str = "x", data: bytes = _PLAIN, code: str | None = None, **more: bytes) -> bytes:
    """A TorchScript archive by hand."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("m/data.pkl", data)
        archive.writestr("m/constants.pkl", b"\x80\x02).")
        archive.writestr("m/code/__torch__.py", code if code is not None else _CODE.format(body=body))
        archive.writestr("m/version", "3\n")
        for name, content in more.items():
            archive.writestr(name, content)
    return made.getvalue()


def _zip(**entries: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return made.getvalue()


def _statement(text: str) -> bytes:
    return torchscript(code=_CODE.format(body="x").replace("    return x", f"    {text}\n    return x"))


def _edited(data: bytes, mark: bytes, offset: int, content: bytes) -> bytes:
    place = data.rfind(mark) + offset
    return data[:place] + content + data[place + len(content) :]


def _tar(names: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name, content in names.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return made.getvalue()


def _tensor(shape: bytes) -> bytes:
    return (
        b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000"
        b"X\x03\x00\x00\x00cpuK\x01tQK\x00" + shape + shape + b"\x89N tR.".replace(b" ", b"")
    )


def _bomb() -> bytes:
    zeros = zlib.compressobj(9, zlib.DEFLATED, -15)
    body = b"".join(zeros.compress(b"\0" * (1 << 20)) for _ in range(100)) + zeros.flush()
    small = _zip(**{"m/data.pkl": b""})
    # An entry that says it has 10 bytes and has 100 MB.
    name = b"m/data.pkl"
    head = struct.pack("<4s5H3L2H", b"PK\x03\x04", 20, 0, 8, 0, 33, 0, len(body), 10, len(name), 0) + name
    entry = struct.pack(
        "<4s6H3L5H2L", b"PK\x01\x02", 20, 20, 0, 8, 0, 33, 0, len(body), 10, len(name), 0, 0, 0, 0, 0, 0
    )
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, len(entry) + len(name), len(head) + len(body), 0)
    assert small.startswith(head[:4])
    return head + body + entry + name + end


def _deep_list() -> bytes:
    return b"\x80\x02" + b"]" * 100_000 + b"a" * 99_999 + b"."


def _laughs() -> bytes:
    rounds = b"".join(b"(" + f"g{n}\n".encode() * 10 + b"l" + f"p{n + 1}\n".encode() for n in range(60))
    return b"\x80\x02]p0\n" + rounds + b"."


def _laughing_key() -> bytes:
    rounds = b"".join(f"g{n}\ng{n}\n".encode() + b"\x86" + f"p{n + 1}\n".encode() for n in range(60))
    return b"\x80\x02}(K\x01p0\n" + rounds + b"K\x01u."


HOSTILE: dict[str, Callable[[], bytes]] = {
    "pickle that calls os.system": lambda: pickle.dumps(_Runs()),
    "pickle that evaluates": lambda: pickle.dumps({"weight": _Evaluates()}, 2),
    "pickle of protocol 0 that calls": lambda: pickle.dumps(_Runs(), 0),
    "zip with a pickle that calls": lambda: _zip(**{"m/data.pkl": pickle.dumps(_Runs(), 2), "m/version": b"3"}),
    "archive whose data calls": lambda: torchscript(data=pickle.dumps(_Runs(), 2)),
    "archive whose constants call": lambda: torchscript(**{"m/constants.pkl": pickle.dumps((_Runs(),), 2)}),
    "archive whose traced inputs call": lambda: torchscript(**{"m/traced_inputs.pkl": pickle.dumps(_Evaluates(), 2)}),
    "tar with a pickle that calls": lambda: _tar({"pickle": pickle.dumps(_Runs(), 2), "storages": b"", "tensors": b""}),
    "pickle that builds through setstate": lambda: b"\x80\x02cbuiltins\nexec\nX\x04\x00\x00\x00passb.",
    "pickle nested deeply": _deep_list,
    "zip with a pickle nested deeply": lambda: _zip(**{"m/data.pkl": _deep_list()}),
    "pickle that doubles sixty times": _laughs,
    "key that doubles sixty times": _laughing_key,
    "memo at the end of memory": lambda: b"\x80\x02]r\xff\xff\xff\x7f.",
    "string longer than the file": lambda: b"\x80\x04\x8d" + struct.pack("<Q", 1 << 62) + b"abc.",
    "number of a million digits": lambda: b"\x80\x02I" + b"9" * 1_000_000 + b"\n.",
    "pickle that ends early": lambda: pickle.dumps({"a": [1, 2, 3]})[:-4],
    "pickle that takes from nothing": lambda: b"\x80\x020000.",
    "pickle with a step of its own": lambda: b"\x80\x02\x82\x01.",
    "tensor larger than memory": lambda: _zip(
        **{"m/data.pkl": _tensor(b"(" + b"\x8a\x08" + b"\xff" * 7 + b"\x7f" + b"t")}
    ),
    "tensor of negative size": lambda: _zip(**{"m/data.pkl": _tensor(b"(J\xff\xff\xff\xfft")}),
    "zip bomb that lies about its size": _bomb,
    "zip with paths that lead out": lambda: torchscript(**{"../../escaped.py": b"x", "/etc/torchlift": b"y"}),
    "zip cut off": lambda: torchscript()[:-30],
    "zip without its end": lambda: torchscript()[:200],
    "zip with a directory elsewhere": lambda: _edited(torchscript(), b"PK\x05\x06", 16, b"\xff\xff\xff\x7f"),
    "zip with a directory of 2 GB": lambda: _edited(torchscript(), b"PK\x05\x06", 12, b"\xff\xff\xff\x7f"),
    "zip with damaged bytes": lambda: torchscript().replace(b"class Net", b"class Mut", 1),
    "zip with an entry twice": lambda: torchscript(**{"m/version": b"4"}),
    "import in the code": lambda: _statement("import os"),
    "code outside of functions": lambda: torchscript(code="import os\nos.system('touch $TORCHLIFT_HOSTILE_MARK')\n"),
    "builtins in the code": lambda: torchscript("__import__('os').system('true')"),
    "classes of objects in the code": lambda: torchscript("x.__class__.__mro__[1].__subclasses__()"),
    "globals of a function in the code": lambda: torchscript("(self).forward.__globals__"),
    "getattr with a name that is computed": lambda: torchscript("getattr(x, torch.add('__cl', 'ass__'))"),
    "lambda in the code": lambda: torchscript("(lambda: x)()"),
    "comprehension in the code": lambda: torchscript("[y for y in x]"),
    "formatted string in the code": lambda: torchscript("f'{x}'"),
    "operator that writes a file": lambda: torchscript("torch.save(x, 'mark')"),
    "operator that reads a file": lambda: torchscript("torch.from_file('/etc/passwd', None, 10)"),
    "operator of another library": lambda: torchscript("ops.image.write_file('mark', x)"),
    "decorator in the code": lambda: torchscript(code="@print\n" + _CODE.format(body="x")),
    "default that calls": lambda: torchscript(
        code=_CODE.format(body="x").replace("x: Tensor)", "x: Tensor=exec('1'))")
    ),
    "type that calls": lambda: torchscript(code=_CODE.format(body="x").replace("x: Tensor)", "x: exec('1'))")),
    "attribute with the name of the class": lambda: torchscript(
        code=_CODE.format(body="x").replace("training : bool", "__class__ : Tensor")
    ),
    "brackets without end": lambda: torchscript("(" * 5000 + "x" + ")" * 5000),
    "signs without end": lambda: torchscript("-" * 200_000 + "1"),
    "code that is no text": lambda: torchscript(**{"m/code/more.py": b"\xff\xfe\x00"}),
    "code with a null": lambda: torchscript("x\x00"),
}


def write(name: str, folder: Path) -> Path:
    """Writes the file."""
    path = folder / "hostile.pt"
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the entry that is there twice, on purpose
        path.write_bytes(HOSTILE[name]())
    return path
