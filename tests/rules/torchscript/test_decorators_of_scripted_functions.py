"""A decorator that is handed a scripted function, and a look through everything that was scripted, may need it as such."""

from __future__ import annotations

from pathlib import Path

import pytest
from dropped_scripting import migrated

SCRIPTED = "import torch\n{imports}\n\n{before}@{decorator}\n@torch.jit.script\ndef double(x):\n    return 2 * x\n"
READS = {
    "a compiler of another package, by its name": (
        "from net_jit.jit_ir_importer import ModuleBuilder\n", "mb = ModuleBuilder()\n\n\n", "mb.import_function",
    ),
    "a decorator of the file that looks at the graph": (
        "", "def shows(f):\n    print(f.graph)\n    return f\n\n\n", "shows",
    ),
    "a function in a decorator that is called with options": (
        "", "def shows(name):\n    def inner(f):\n        print(name, f.code)\n        return f\n\n    return inner\n\n\n", "shows('net')",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("imports", "before", "decorator"), READS.values(), ids=READS)
def test_a_function_stays_scripted_whose_decorator_reads_that(
    imports: str, before: str, decorator: str, tmp_path: Path
) -> None:
    code = SCRIPTED.format(imports=imports, before=before, decorator=decorator)
    changed, found = migrated(tmp_path, {"net.py": code}, unsafe=True)
    assert changed == {}
    assert ["is handed the scripted function" in (item.help or "") for item in found if item.code == "TL102"] == [True]


def test_a_decorator_that_nobody_read_is_left_to_review(tmp_path: Path) -> None:
    code = SCRIPTED.format(imports="from registry import register\n", before="", decorator="register")
    changed, found = migrated(tmp_path, {"net.py": code})
    assert changed == {}
    assert "`@register` is handed the scripted function, and what it does with it was not read" in (found[0].help or "")
    changed, _ = migrated(tmp_path, {"net.py": code}, unsafe=True)
    assert changed["net.py"].endswith("@register\ndef double(x):\n    return 2 * x\n")


@pytest.mark.parametrize("before", ["KNOWN = []\n\n\ndef keep(f):\n    KNOWN.append(f)\n    return f\n\n\n"])
def test_a_decorator_of_the_project_that_asks_nothing_is_no_reason(before: str, tmp_path: Path) -> None:
    code = SCRIPTED.format(imports="", before=before, decorator="keep")
    changed, _ = migrated(tmp_path, {"net.py": code})
    assert "torch.jit" not in changed["net.py"] and "@keep\ndef double" in changed["net.py"]


LIBRARY = """\
import torch


def fill(functions):
    for function in functions:
        torch.jit.script(function)
{then}"""
UNIT = "for function in torch.jit._state._python_cu.get_functions():\n    print(function)\n"


def test_what_is_scripted_stays_where_the_file_looks_through_all_of_it(tmp_path: Path) -> None:
    then = "".join(f"    {line}\n" for line in UNIT.splitlines())
    assert migrated(tmp_path, {"net.py": LIBRARY.format(then=then)}, unsafe=True)[0] == {}


def test_a_look_through_what_was_scripted_in_another_file_is_said(tmp_path: Path) -> None:
    files = {"net.py": LIBRARY.format(then=""), "show.py": "import torch\n\n" + UNIT}
    changed, found = migrated(tmp_path, files)
    assert changed == {}
    helps = [item.help or "" for item in found if item.path.endswith("net.py")]
    assert "show.py:3 looks through everything that was scripted" in helps[0]


EXPORTED = """\
import torch
import {base}


class Net({base}.Module):
    @torch.jit.export
    def encode(self, x):
        return x + 1
"""


def test_a_mark_for_a_base_that_nobody_read_is_left_to_review(tmp_path: Path) -> None:
    changed, found = migrated(tmp_path, {"net.py": EXPORTED.format(base="sounds")})
    assert changed == {} and "`sounds.Module`, from which `Net` derives, was not found" in (found[0].help or "")
    assert "torch.jit" not in migrated(tmp_path, {"net.py": EXPORTED.format(base="torch.nn")})[0]["net.py"]


def test_a_mark_stays_where_nn_tilde_scripts_the_class(tmp_path: Path) -> None:
    code = EXPORTED.format(base="nn_tilde") + "\n\nNet().export_to_ts('net.ts')\n"
    changed, found = migrated(tmp_path, {"net.py": code}, unsafe=True)
    assert changed == {} and [item.code for item in found] == ["TL112", "TL107"]


HANDED = {
    "a function by its name": "import torch\nimport nested\n\n\n@torch.jit.script\ndef double(x):\n    return 2 * x\n\n\nnested.jit_apply_function(double)\n",
    "a method by its name": "import torch\n\n\ndef double(x):\n    return 2 * x\n\n\ndef run(arg):\n    return arg.jit_apply(torch.jit.script(double))\n",
}  # fmt: skip


@pytest.mark.parametrize("code", HANDED.values(), ids=HANDED)
def test_what_speaks_of_scripting_in_its_name_goes_on_getting_it(code: str, tmp_path: Path) -> None:
    changed, found = migrated(tmp_path, {"net.py": code}, unsafe=True)
    assert changed == {} and "which by its name takes a scripted function" in (found[0].help or "")


FOREIGN = {
    "a class of another package": (
        "from labels import Labels\n\n\n@torch.jit.script\ndef is_labels(obj):\n    return isinstance(obj, Labels)\n",
        "asks for `Labels`, which was not read",
    ),
    "a bool that another package gets": (
        "from vesin import Neighbors\n\n\n@torch.jit.script\ndef near(x, periodic: bool):\n    found = Neighbors()\n"
        "    return found.compute(x, periodic=periodic)\n",
        "a caller may pass another kind of bool for `periodic`",
    ),
}


@pytest.mark.parametrize(("code", "said"), FOREIGN.values(), ids=FOREIGN)
def test_code_that_was_not_read_may_know_what_scripting_made(code: str, said: str, tmp_path: Path) -> None:
    changed, found = migrated(tmp_path, {"net.py": f"import torch\n{code}"})
    assert changed == {} and said in (found[0].help or "")


def test_a_function_that_overrides_torch_is_no_subclass_of_tensor(tmp_path: Path) -> None:
    other = "class Operator:\n    @classmethod\n    def __torch_function__(cls, function, types, args=(), kwargs=None):\n        return None\n"
    code = "import torch\n\n\n@torch.jit.script\ndef double(x):\n    return 2 * x\n"
    assert "torch.jit" not in migrated(tmp_path, {"net.py": code, "operator.py": other})[0]["net.py"]


def test_a_parameter_of_a_class_of_its_own_gives_plain_tensors(tmp_path: Path) -> None:
    other = "import torch\nimport net\n\n\nclass Packed(torch.nn.Parameter):\n    def __new__(cls, data):\n        return torch.Tensor._make_subclass(cls, data)\n"
    code = "import torch\n\n\n@torch.jit.script\ndef double(x):\n    return 2 * x\n"
    assert "torch.jit" not in migrated(tmp_path, {"net.py": code, "packed.py": other})[0]["net.py"]
    own = "\n    @classmethod\n    def __torch_function__(cls, function, types, args=(), kwargs=None):\n        return None\n"
    assert migrated(tmp_path, {"net.py": code, "packed.py": other + own})[0] == {}
