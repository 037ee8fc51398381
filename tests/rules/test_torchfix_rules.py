"""Inputs on which a rewrite of old calls goes wrong easily: spread arguments, comments, nesting, names, line ends."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
from example_project import all_findings, analyse_files, new_bytes

from torchlift.finding import Finding, Safety
from torchlift.rules.api.tables.torchvision_builders import BUILDERS

REWRITTEN = {
    "an alias of the module": (
        "import torch as th\n\nq, r = th.qr(th.eye(2))\n",
        "import torch as th\n\nq, r = th.linalg.qr(th.eye(2))\n",
    ),
    "a name imported under another one, without torch itself": (
        "from torch import eye, qr as q\n\nx = q(eye(2))\n",
        "from torch import eye\nimport torch\n\nx = torch.linalg.qr(eye(2))\n",
    ),
    "a module called as the new one would be": (
        "import torch.cuda.amp as amp\n\nwith amp.autocast(enabled=False):\n    pass\n",
        'import torch\n\nwith torch.amp.autocast("cuda", enabled=False):\n    pass\n',
    ),
    "comments and lines of a call": (
        "import torch\n\nx = torch.cholesky(\n    # positive definite\n    torch.eye(2),  # here\n    True,\n)\n",
        "import torch\n\nx = torch.linalg.cholesky(\n    # positive definite\n    torch.eye(2),  # here\n    upper=True,\n)\n",
    ),
    "calls inside calls, of several rules": (
        "import torch\n\nx = torch.qr(torch.cholesky(torch.ger(a, a)), some=not torch.qr(a).Q.any())\n",
        "import torch\n\nx = torch.linalg.qr(torch.linalg.cholesky(torch.outer(a, a)), "
        'mode="reduced" if (not torch.linalg.qr(a).Q.any()) else "complete")\n',
    ),
    "carriage returns": (
        "import torch\r\n\r\nx = torch.qr(torch.eye(2))\r\n",
        "import torch\r\n\r\nx = torch.linalg.qr(torch.eye(2))\r\n",
    ),
    "an import in a function": (
        "def f(a):\n    from torch import cholesky\n\n    return cholesky(a)\n",
        "def f(a):\n    import torch\n\n    return torch.linalg.cholesky(a)\n",
    ),
    "a truth value that is no boolean": (
        "import torchvision\n\nm = torchvision.models.resnet18(pretrained=1)\n",
        "import torchvision\n\nm = torchvision.models.resnet18(weights=torchvision.models.ResNet18_Weights.IMAGENET1K_V1)\n",
    ),
}


@pytest.mark.parametrize(("before", "after"), REWRITTEN.values(), ids=REWRITTEN)
def test_a_safe_fix_keeps_what_it_does_not_change(before: str, after: str, tmp_path: Path) -> None:
    result = analyse_files(tmp_path, {"a.py": before})
    assert result.failures == ()
    assert new_bytes(result, "a.py") == after.encode()
    again = analyse_files(tmp_path, {"a.py": after})
    assert [finding.code for finding in all_findings(again) if finding.fix is not None] == []


LEFT = {
    "arguments that are spread": "import torch\n\nx = torch.lu_solve(*parts)\n",
    "options that are spread": "import torch\n\nx = torch.chain_matmul(a, b, **options)\n",
    "an argument that no release had": "import torch\n\nx = torch.cholesky(a, lower=True)\n",
    "a result that is kept": "import torch\n\nparts = torch.svd(a)\n",
    "a result that is unpacked into attributes": "import torch\n\n\nclass A:\n    def f(self, a):\n        u, s, self.v = torch.svd(a)\n",
    "a comment inside a call that is written anew": "import torch\n\nx = torch.lu_solve(b,  # right\n    lu, pivots)\n",
}


@pytest.mark.parametrize("code", LEFT.values(), ids=LEFT)
def test_what_cannot_be_rewritten_is_reported_with_advice(code: str, tmp_path: Path) -> None:
    result = analyse_files(tmp_path, {"a.py": code}, unsafe=True)
    assert result.failures == ()
    (finding,) = all_findings(result)
    assert finding.fix is None and finding.help and "Write `" in finding.help


def found(folder: Path, code: str) -> list[Finding]:
    return all_findings(analyse_files(folder, {"a.py": code}))


def test_options_that_may_hold_weights_only_keep_load_silent(tmp_path: Path) -> None:
    assert found(tmp_path, "import torch\n\nx = torch.load('f', **options)\n") == []


def test_a_fix_of_autocast_pins_the_cache_where_the_project_speaks_of_it(tmp_path: Path) -> None:
    files = {
        "a.py": "import torch\n\nc = torch.cuda.amp.autocast()\n",
        "b.py": "import torch\n\ntorch.set_autocast_cache_enabled(False)\n",
    }
    text = new_bytes(analyse_files(tmp_path, files), "a.py")
    assert text is not None and b'autocast("cuda", cache_enabled=True)' in text


@pytest.mark.parametrize(
    ("other", "written"),
    [
        ("import torch\n\nx = torch.ones(2)\n", False),
        ("import torch\n\nwith torch.autocast('cuda', enabled=False):\n    pass\n", False),
        ("import torch\n\nwith torch.autocast('cuda', dtype=torch.bfloat16):\n    pass\n", True),
        ("import torch\n\n\ndef f(kind):\n    with torch.autocast('cuda', kind):\n        pass\n", True),
        ("import torch\n\n\ndef f(options):\n    return torch.autocast(**options)\n", True),
        ("import torch\n\ntorch.set_autocast_gpu_dtype(torch.bfloat16)\n", True),
        ("import lightning\n", True),
        ("from setuptools import setup\n\nsetup(name='a')\n", True),
    ],
)
def test_autocast_gets_its_dtype_only_where_the_project_may_have_another(
    other: str, written: bool, tmp_path: Path
) -> None:
    code = "import torch\n\n\ndef f(on):\n    with torch.cuda.amp.autocast(on):\n        pass\n"
    name = "setup.py" if "setuptools" in other else "b.py"
    new = (new_bytes(analyse_files(tmp_path, {"a.py": code, name: other}), "a.py") or b"").decode()
    assert f'"cuda", enabled=on{", dtype=torch.float16" if written else ""})' in new


def test_a_test_for_the_old_scaler_elsewhere_keeps_the_fix_back(tmp_path: Path) -> None:
    files = {
        "a.py": "import torch\n\ns = torch.cuda.amp.GradScaler()\n",
        "b.py": "from torch.cuda.amp import GradScaler\n\n\ndef f(s):\n    return isinstance(s, GradScaler)\n",
    }
    findings = [item for item in all_findings(analyse_files(tmp_path, files)) if item.path == "a.py"]
    assert [item.safety for item in findings] == [Safety.MANUAL]
    assert findings[0].help is not None and "b.py:5" in findings[0].help


def test_weight_norm_is_not_rewritten_where_another_file_uses_its_old_state(tmp_path: Path) -> None:
    files = {
        "a.py": "import torch\n\n\ndef f(m):\n    return torch.nn.utils.weight_norm(m)\n",
        "b.py": "import torch\n\n\ndef g(m):\n    m.weight_g.data.fill_(1)\n",
    }
    findings = [item for item in all_findings(analyse_files(tmp_path, files)) if item.code == "TL421"]
    assert [item.fix for item in findings] == [None]
    assert "b.py:5" in str(findings[0].help)


def test_a_name_given_to_an_old_class_is_reported_where_it_is_called(tmp_path: Path) -> None:
    code = "import torch\n\nup = torch.nn.UpsamplingNearest2d\nlayer = up(scale_factor=2)\n"
    (finding,) = found(tmp_path, code)
    assert code[finding.span.start : finding.span.end] == "up(scale_factor=2)"


def test_an_import_that_another_file_takes_from_here_stays_and_is_reported(tmp_path: Path) -> None:
    files = {
        "a.py": "import torch\nfrom torch.cuda.amp import autocast, custom_fwd\n\n\n@custom_fwd\ndef f():\n    return autocast()\n",
        "b.py": "from a import autocast, custom_fwd\n\nnames = [autocast, custom_fwd]\n",
    }
    result = analyse_files(tmp_path, files)
    assert result.failures == ()
    text = new_bytes(result, "a.py")
    assert (
        text is not None
        and b"from torch.cuda.amp import autocast, custom_fwd" in text
        and b"torch.amp.autocast(" in text
    )
    left = [finding.span.start for outcome in result.outcomes for finding in outcome.left if outcome.path == "a.py"]
    assert len(left) == 2


def test_an_annotation_in_quotes_moves_with_what_is_made_and_the_import_goes(tmp_path: Path) -> None:
    code = (
        "from torch.cuda.amp import GradScaler\nimport torch\n\n\ndef f() -> 'GradScaler':\n    return GradScaler()\n"
    )
    result = analyse_files(tmp_path, {"a.py": code})
    assert result.failures == ()
    assert (new_bytes(result, "a.py") or b"").decode() == (
        "import torch\n\n\ndef f() -> 'torch.amp.GradScaler':\n    return torch.amp.GradScaler(\"cuda\")\n"
    )


@pytest.mark.parametrize("module", ["torch.cuda.amp", "torch.cuda.amp.grad_scaler"])
def test_a_module_imported_under_another_name_goes_with_its_last_use(module: str, tmp_path: Path) -> None:
    code = f"import {module} as amp\nimport torch\n\nscaler = amp.GradScaler()\n"
    after = 'import torch\n\nscaler = torch.amp.GradScaler("cuda")\n'
    assert (new_bytes(analyse_files(tmp_path, {"a.py": code}), "a.py") or b"").decode() == after


def test_a_module_imported_under_another_name_stays_for_other_files(tmp_path: Path) -> None:
    files = {
        "a.py": "import torch.cuda.amp as amp\nimport torch\n\nscaler = amp.GradScaler()\n",
        "b.py": "from a import amp\n\nprint(amp)\n",
    }
    assert b"import torch.cuda.amp as amp" in (new_bytes(analyse_files(tmp_path, files), "a.py") or b"")


def test_an_import_that_a_longer_annotation_in_quotes_names_stays(tmp_path: Path) -> None:
    code = "import torch\nfrom torch.cuda.amp import GradScaler\n\n\ndef f() -> 'GradScaler | int':\n    return GradScaler()\n"
    result = analyse_files(tmp_path, {"a.py": code})
    assert result.failures == ()
    text = new_bytes(result, "a.py")
    assert text is not None and b"import GradScaler" in text and b'torch.amp.GradScaler("cuda")' in text


@pytest.mark.parametrize("path", ["a.pyi", "typings/torch/__init__.pyi"])
def test_a_stub_is_no_code_to_migrate(path: str, tmp_path: Path) -> None:
    code = "import torch\nfrom torch.cuda.amp import GradScaler\n\nger = torch.ger\n\ndef f() -> GradScaler: ...\n"
    assert all_findings(analyse_files(tmp_path, {path: code})) == []


def test_a_stub_that_imports_an_old_name_is_left_alone(tmp_path: Path) -> None:
    assert all_findings(analyse_files(tmp_path, {"a.pyi": "from torch import svd as svd\n"})) == []


def test_a_test_of_torchvision_for_a_name_is_a_test_of_its_release(tmp_path: Path) -> None:
    code = (
        "import torchvision\n\n\ndef f(name):\n    if hasattr(torchvision.models, 'get_model'):\n"
        "        return torchvision.models.get_model(name)\n    return None\n\n\ndef g(name):\n"
        "    if hasattr(torchvision.models, 'get_model'):\n        return 1\n    else:\n"
        "        return torchvision.models.__dict__[name](pretrained=True)\n"
    )
    assert found(tmp_path, code) == []


def test_advice_keeps_the_brackets_that_a_sum_needs(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, "import torch\n\n\ndef f(a, b, c):\n    return (a + b) / torch.sqrt(c)\n")
    assert finding.help is not None and "`(a + b) * torch.rsqrt(c)`" in finding.help


def test_the_table_of_models_is_that_of_torchvision() -> None:
    pytest.importorskip("torchvision")
    for builder in BUILDERS.values():
        home = importlib.import_module(builder.home)
        assert callable(getattr(home, builder.name))
        plain = importlib.import_module("torchvision.models") if builder.quantized else home
        for module, weights in ((plain, builder.weights), (home, builder.quantized)):
            enumeration, _, member = weights.partition(".")
            assert not weights or member in getattr(module, enumeration).__members__


def test_the_table_of_models_is_complete() -> None:
    assert len({builder.name for builder in BUILDERS.values() if builder.package == ""}) > 75
    assert BUILDERS["torchvision.models.detection.ssd300_vgg16"].backbone == "VGG16_Weights.IMAGENET1K_FEATURES"
    assert BUILDERS["torchvision.models.vit_h_14"].weights == ""
