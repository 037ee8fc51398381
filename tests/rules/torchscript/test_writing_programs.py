"""A program that only writes TorchScript is offered for removal as a whole, and no other file is."""

from __future__ import annotations

from pathlib import Path

import pytest
from example_project import all_findings, analyse_files, new_bytes

from torchlift.finding import Safety
from torchlift.torchscript_intent import DROP

PROGRAM = (
    "#!/usr/bin/env python3\nimport argparse\n\nimport torch\n\n\ndef main():\n    parser = argparse.ArgumentParser()\n"
    "    parser.add_argument('out')\n    args = parser.parse_args()\n    net = torch.load('net.pt').eval()\n"
    "    traced = torch.jit.trace(net, torch.rand(2, 3))\n    traced.save(args.out)\n    print('done')\n\n\n"
    "if __name__ == '__main__':\n    main()\n"
)
STAYS = {
    "the user has not said that TorchScript goes": ({"tools/to_ts.py": PROGRAM}, False),
    "it saves weights, too": ({"tools/to_ts.py": PROGRAM.replace("print('done')", "torch.save(net.state_dict(), 'w.pt')")}, True),
    "it exports to ONNX, too": (
        {"tools/to_ts.py": PROGRAM.replace("print('done')", "torch.onnx.export(net, (args,), 'net.onnx', dynamo=True)")},
        True,
    ),
    "another file loads TorchScript": ({"tools/to_ts.py": PROGRAM, "run.py": "import torch\n\nnet = torch.jit.load(path)\n"}, True),
    "C++ loads TorchScript": (
        {"tools/to_ts.py": PROGRAM, "run.cpp": '#include <torch/script.h>\nauto net = torch::jit::load(argv[1]);\n'},
        True,
    ),
    "it writes another file, too": (
        {"tools/to_ts.py": PROGRAM.replace("print('done')", "with open('net.json', 'w') as file:\n        file.close()")},
        True,
    ),
    "it opens a file as it is told": (
        {"tools/to_ts.py": PROGRAM.replace("print('done')", "print(open('net.json', args.mode))")},
        True,
    ),
    "another file imports it": ({"tools/to_ts.py": PROGRAM, "b.py": "from tools.to_ts import main\n\nmain()\n"}, True),
    "a workflow runs it": ({"tools/to_ts.py": PROGRAM, ".github/workflows/release.yml": "run: python tools/to_ts.py net.ts\n"}, True),
    "make runs it as a module": ({"tools/to_ts.py": PROGRAM, "Makefile": "net.ts:\n\tpython -m tools.to_ts net.ts\n"}, True),
    "an import of several lines names it": ({"tools/to_ts.py": PROGRAM, "b.py": "from tools import (\n    to_ts,\n)\n\nto_ts.main()\n"}, True),
    "it is part of a package": ({"tools/__init__.py": "", "tools/to_ts.py": PROGRAM}, True),
    "it sends what it wrote": ({"tools/to_ts.py": PROGRAM.replace("print('done')", "requests.put('https://models.example', data=b'')")}, True),
    "it logs what it wrote": ({"tools/to_ts.py": PROGRAM.replace("print('done')", "mlflow.log_artifact(args.out)")}, True),
    "it packs what it wrote": ({"tools/to_ts.py": PROGRAM.replace("print('done')", "shutil.make_archive('release', 'zip', args.out)")}, True),
    "it publishes by an object": ({"tools/to_ts.py": PROGRAM.replace("print('done')", "Publisher(args.out)")}, True),
    "it loads it into something": ({"tools/to_ts.py": PROGRAM.replace("print('done')", "load_into_database(args.out)")}, True),
    "a function of the project is called for what it does": (
        {"tools/to_ts.py": "import hub\n" + PROGRAM.replace("print('done')", "hub.update(args.out)"), "hub.py": "def update(path): ...\n"},
        True,
    ),
    "a function is called like what computes": (
        {"tools/to_ts.py": PROGRAM.replace("def main", "def forward(path):\n    os.system(path)\n\n\ndef main").replace("print('done')", "forward(args.out)")},
        True,
    ),
    "it is no program": ({"tools/to_ts.py": PROGRAM.partition("\n\n\nif __name__")[0] + "\n"}, True),
}  # fmt: skip


def test_a_program_that_only_writes_torchscript_is_offered_for_removal(tmp_path: Path) -> None:
    result = analyse_files(tmp_path, {"tools/to_ts.py": PROGRAM}, unsafe=True, torchscript=DROP)
    (finding,) = [one for one in all_findings(result) if one.code == "TL101"]
    assert finding.safety is Safety.UNSAFE and "does nothing but write TorchScript" in (finding.help or "")
    assert new_bytes(result, "tools/to_ts.py") == b""


SCRIPT = PROGRAM.replace("def main():\n", "").replace("\n    ", "\n").partition("\n\n\nif __name__")[0] + "\n"


@pytest.mark.parametrize(
    "program", [PROGRAM, SCRIPT, PROGRAM.replace("print('done')", "print(open('notes.txt').read())")]
)
def test_documents_that_name_it_are_named(program: str, tmp_path: Path) -> None:
    files = {"tools/to_ts.py": program, "README.md": "# Net to_ts\n\nRun `python tools/to_ts.py net.ts`.\n"}
    result = analyse_files(tmp_path, files, unsafe=True, torchscript=DROP)
    (finding,) = [one for one in all_findings(result) if one.code == "TL101"]
    assert (finding.help or "").endswith("it is named in README.md:3.")
    assert new_bytes(result, "tools/to_ts.py") == b""


@pytest.mark.parametrize(("files", "drops"), STAYS.values(), ids=STAYS)
def test_any_other_file_stays(files: dict[str, str], drops: bool, tmp_path: Path) -> None:
    result = analyse_files(tmp_path, files, unsafe=True, **({"torchscript": DROP} if drops else {}))
    assert new_bytes(result, "tools/to_ts.py") != b""
    assert not any("Delete the file" in one.fix.title for one in all_findings(result) if one.fix is not None)
