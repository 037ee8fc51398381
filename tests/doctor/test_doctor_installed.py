"""What is installed for an interpreter, read from its files: real virtual environments with packages made by hand."""

# ruff: noqa: PTH102, PTH118, PTH123
# Names of bytes are not for pathlib.

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_environments import GPU_CODE, TORCH, Environment
from native_files import elf

from torchlift.doctor.facts import Facts, Package
from torchlift.doctor.facts.facts_json import to_json
from torchlift.doctor.probes import python_environment

pytestmark = pytest.mark.skipif(os.name != "posix", reason="environments are laid out as on POSIX")


def only(packages: list[Package]) -> Package:
    assert len(packages) == 1, packages
    return packages[0]


def test_torch_is_read_from_its_files_and_never_imported(environment: Environment) -> None:
    environment.install("torch", "2.15.0", TORCH, {"WHEEL": "Build: 3\nTag: cp311-cp311-manylinux_2_28_x86_64\n"})
    facts = environment.facts()
    assert facts.failures == []
    assert facts.torch is not None
    assert facts.torch.path == str(environment.site / "torch")
    assert (facts.torch.version, facts.torch.metadata_version) == ("2.15.0+cu132", "2.15.0")
    assert (facts.torch.cuda, facts.torch.hip, facts.torch.xpu, facts.torch.debug) == ("13.2", None, None, False)
    assert (facts.torch.git_version, facts.torch.other_copies, facts.torch.import_outcome) == ("abc", [], "not-run")
    package = only(facts.packages)
    assert (package.build_tag, package.tags, package.installer) == ("3", ["cp311-cp311-manylinux_2_28_x86_64"], "pip")
    assert (package.changed_files, package.editable, package.source_url) == ([], False, None)
    library = facts.libraries[0]
    assert [(code.kind, code.architecture, code.count) for code in library.images] == [
        ("ptx", "120", 1),
        ("sass", "80", 1),
        ("sass", "90a", 1),
    ]
    assert library.package == "torch"


def test_the_examined_python_is_described_and_not_the_doctors_own(environment: Environment) -> None:
    python = environment.facts().python
    assert python.prefix == str(environment.root)
    assert python.version == ".".join(str(part) for part in sys.version_info[:3])
    assert (python.virtual_environment, python.externally_managed, python.bits) == (True, False, 64)
    assert python.path[-1] == str(environment.site)
    assert not any(entry.endswith("probes") for entry in python.path)


def test_libraries_are_left_unread_on_request(environment: Environment) -> None:
    environment.install("torch", "2.15.0", TORCH)
    facts = environment.facts(scan_libraries=False)
    assert facts.libraries == []
    assert only(facts.packages).name == "torch"


def test_two_families_of_nvidia_wheels_that_overwrite_each_other_are_told_apart_by_hash(
    environment: Environment,
) -> None:
    path = "nvidia/nccl/lib/libnccl.so.2"
    shared_text = {"nvidia/__init__.py": ""}
    environment.install("nvidia-nccl-cu13", "2.30.7", {path: b"thirteen", **shared_text})
    environment.install("nvidia-nccl-cu12", "2.27.5", {path: b"twelve!!", **shared_text})
    facts = environment.facts()
    shared = facts.shared_files
    assert [(file.path, file.owners, file.matches) for file in shared] == [
        (str(environment.site / path), ["nvidia-nccl-cu12", "nvidia-nccl-cu13"], ["nvidia-nccl-cu12"])
    ]


def test_an_overwritten_library_belongs_to_the_distribution_whose_file_it_is(environment: Environment) -> None:
    path = "nvidia/nccl/lib/libnccl.so.2"
    headers = {f"nvidia/nccl/include/{number}.h": "cu12" for number in range(80)}
    environment.install("nvidia-nccl-cu12", "2.27.5", {**headers, path: elf([])})
    environment.install("nvidia-nccl-cu13", "2.30.7", {**dict.fromkeys(headers, "thirteen"), path: GPU_CODE})
    facts = environment.facts()
    assert [library.package for library in facts.libraries] == ["nvidia-nccl-cu13"]
    assert facts.shared_files[0].path == facts.packages[0].changed_files[0].path == str(environment.site / path)


def test_a_library_that_two_distributions_share_unchanged_is_reported_too(environment: Environment) -> None:
    for name in ("nvidia-cudnn-cu12", "nvidia-cudnn-cu13"):
        environment.install(name, files={"nvidia/cudnn/lib/libcudnn.so.9": b"same", "nvidia/LICENSE": b"same"})
    (shared,) = environment.facts().shared_files
    assert (shared.owners, shared.matches) == (["nvidia-cudnn-cu12", "nvidia-cudnn-cu13"],) * 2


def test_the_owner_of_a_file_that_is_neithers_matches_nobody(environment: Environment) -> None:
    path = "nvidia/cudnn/lib/libcudnn.so.9"
    environment.install("nvidia-cudnn-cu12", files={path: b"twelve"})
    environment.install("nvidia-cudnn-cu13", files={path: b"thirteen"})
    environment.write({path: b"something else"})
    assert environment.facts().shared_files[0].matches == []
    (environment.site / path).unlink()
    assert environment.facts().shared_files[0].matches == []


def test_changed_and_missing_files_are_found_and_bytecode_is_not_asked_for(environment: Environment) -> None:
    files = {
        **TORCH,
        "torch/functional.py": "a = 1\n",
        "torch/nn/gone.py": "",
        "torch/__pycache__/x.cpython-311.pyc": b"x",
        "../../../bin/torchrun": "#!python\n",
    }
    environment.install("torch", "2.15.0", files)
    environment.write({"torch/functional.py": "a = 2\n", "torch/lib/libtorch_cuda.so": GPU_CODE + b"x"})
    (environment.site / "torch/nn/gone.py").unlink()
    (environment.site / "torch/__pycache__/x.cpython-311.pyc").unlink()
    (environment.root / "bin/torchrun").unlink()
    changed = only(environment.facts().packages).changed_files
    assert sorted((os.path.relpath(file.path, environment.site), file.state) for file in changed) == [
        ("../../../bin/torchrun", "missing"),
        ("torch/functional.py", "changed"),
        ("torch/lib/libtorch_cuda.so", "changed"),
        ("torch/nn/gone.py", "missing"),
    ]


def test_a_script_that_names_another_interpreter_since_its_environment_was_copied_is_not_changed(
    environment: Environment,
) -> None:
    environment.install("torch", "2.15.0", {**TORCH, "../../../bin/torchrun": "#!/first/bin/python\n"})
    environment.write({"../../../bin/torchrun": "#!/where/it/was/copied/bin/python\n"})
    assert only(environment.facts().packages).changed_files == []


def test_files_that_conda_rewrote_do_not_count_as_changed(environment: Environment) -> None:
    environment.install("torch", "2.15.0", TORCH, {"INSTALLER": "conda\n"})
    environment.write({"torch/version.py": "__version__ = '2.15.0'\n"})
    package = only(environment.facts().packages)
    assert (package.installer, package.changed_files) == ("conda", [])


def test_conda_packages_that_have_no_python_metadata_are_listed_by_their_record(environment: Environment) -> None:
    environment.install("torch", "2.5.1", {"torch/version.py": "", "torch/__init__.py": ""})
    names = ("pytorch-cuda-12.4-hc786d27_7", "torch-2.5.1-py311_0", "zlib-1.3-h1_0", "strange")
    for name in names:
        environment.write({f"conda-meta/{name}.json": "{}"}, environment.root)
    facts = environment.facts()
    assert facts.python.conda_environment == str(environment.root)
    assert [(one.name, one.version, one.installer, one.build_tag) for one in facts.packages] == [
        ("torch", "2.5.1", "pip", None),
        ("pytorch-cuda", "12.4", "conda", "hc786d27_7"),
    ]


def test_of_two_torches_the_first_on_the_path_is_taken_and_the_other_named(
    environment: Environment, tmp_path: Path
) -> None:
    environment.install("torch", "2.15.0", TORCH)
    other = tmp_path / "other"
    files = {"torch/__init__.py": "", "torch/version.py": "__version__ = '2.13.0+cpu'\ncuda = None\n"}
    environment.install("torch", "2.13.0", files, site=other)
    environment.variables["PYTHONPATH"] = str(other)
    facts = environment.facts()
    assert facts.torch is not None
    assert (facts.torch.version, facts.torch.metadata_version) == ("2.13.0+cpu", "2.13.0")
    assert facts.torch.other_copies == [str(environment.site / "torch")]
    assert [package.version for package in facts.packages] == ["2.13.0", "2.15.0"]


def test_one_folder_under_two_names_on_the_path_is_one_copy(environment: Environment, tmp_path: Path) -> None:
    environment.install("torch", "2.15.0", TORCH)
    (tmp_path / "link").symlink_to(environment.site)
    environment.variables["PYTHONPATH"] = str(tmp_path / "link")
    facts = environment.facts()
    assert facts.torch is not None
    assert facts.torch.other_copies == []
    only(facts.packages)


def test_an_editable_torch_behind_an_import_hook_is_found(environment: Environment, tmp_path: Path) -> None:
    source = tmp_path / "src" / "torch"
    environment.write({"__init__.py": "", "version.py": "__version__ = '2.16.0a0+git1'\n"}, source)
    environment.write({"lib/libtorch_cuda.so": GPU_CODE}, source)
    hook = (
        "import sys, importlib.util\nclass Finder:\n    @staticmethod\n    def find_spec(name, path=None, target=None):\n"
        f"        if name == 'torch':\n            return importlib.util.spec_from_file_location(name, {str(source / '__init__.py')!r},"
        f" submodule_search_locations=[{str(source)!r}])\nsys.meta_path.append(Finder)\n"
    )
    origin = {"url": f"file://user:secret@host{source.parent}?token=1", "dir_info": {"editable": True}}
    environment.install(
        "torch",
        "2.16.0a0",
        {"__editable___torch_finder.py": hook, "__editable__.torch.pth": "import __editable___torch_finder"},
        {"direct_url.json": json.dumps(origin)},
    )
    facts = environment.facts()
    assert facts.torch is not None
    assert (facts.torch.path, facts.torch.version) == (str(source), "2.16.0a0+git1")
    assert [library.path for library in facts.libraries] == [str(source / "lib" / "libtorch_cuda.so")]
    package = only(facts.packages)
    assert package.editable is True
    assert package.source_url == f"file://host{source.parent}"


def test_what_an_uninstalled_torch_left_behind_is_no_torch_and_said(environment: Environment) -> None:
    environment.write({"torch/lib/leftover.txt": ""})
    facts = environment.facts()
    assert facts.torch is None
    assert [failure.probe for failure in facts.failures] == ["torch-folder"]
    assert "has no __init__.py" in facts.failures[0].detail


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("__version__ = '2.15.0", "is no Python (line 1: unterminated string literal"),
        ("", "says no version"),
        (None, "is missing or cannot be read"),
        ("cuda = '13.2'\n", "says no version"),
    ],
)
def test_a_version_file_without_which_torch_cannot_be_imported_is_named(
    environment: Environment, text: str | None, said: str
) -> None:
    environment.install("torch", "2.15.0", {"torch/__init__.py": ""})
    environment.write({"torch/version.py": text} if text is not None else {})
    [failure] = environment.facts().failures
    assert failure.probe == "torch-version" and said in failure.detail and "version.py" in failure.detail


def test_a_module_of_the_users_called_torch_is_what_import_takes(environment: Environment, tmp_path: Path) -> None:
    environment.install("torch", "2.15.0", TORCH)
    environment.write({"torch.py": "x = 1\n"}, tmp_path / "mine")
    environment.variables["PYTHONPATH"] = str(tmp_path / "mine")
    torch = environment.facts().torch
    assert torch is not None
    assert torch.path == str(tmp_path / "mine" / "torch.py")
    assert torch.other_copies == [str(environment.site / "torch")]


@pytest.mark.parametrize(
    ("text", "version", "cuda"),
    [
        ("__version__ = '2.15.0'\ncuda: str = '13.2'\n\0\0\xff(", "2.15.0", "13.2"),
        ("__version__ = TorchVersion('2.15.0a0')\ncuda = '13.2'", "2.15.0a0", "13.2"),
        ("", "9.9", None),
        ("cuda = 13", "9.9", None),
    ],
)
def test_a_damaged_version_file_is_read_as_far_as_it_goes(
    environment: Environment, text: str, version: str, cuda: str | None
) -> None:
    environment.install("torch", "9.9", {"torch/__init__.py": "", "torch/version.py": text.encode("latin-1")})
    torch = environment.facts().torch
    assert torch is not None
    assert (torch.version, torch.cuda) == (version, cuda)


def test_broken_metadata_is_read_as_far_as_it_goes(environment: Environment) -> None:
    environment.install(
        "triton", "3.9.0", {}, {"METADATA": b"\xff\xfe\0Name", "WHEEL": b"\0", "direct_url.json": b"[1]"}
    )
    environment.write({"nvidia_nccl_cu13-2.0.dist-info": b"a file and no folder"})
    environment.write(
        {"flash_attn-2.8-py3.11.egg-info/PKG-INFO": "Name: Flash_Attn\nVersion: 2.8\nRequires-Dist: torch\n  >=2\n"}
    )
    packages = {package.name: package for package in environment.facts().packages}
    assert packages["triton"].version == "3.9.0"
    assert packages["nvidia-nccl-cu13"].version == "2.0"
    assert packages["flash-attn"].requires == ["torch >=2"]


@pytest.mark.skipif(sys.platform != "linux", reason="the file system takes UTF-8 names only")
def test_names_that_are_not_utf_8_become_printable(environment: Environment) -> None:
    site = os.fsencode(environment.site)
    os.mkdir(os.path.join(site, b"torch_\xff-1.0.dist-info"))
    os.mkdir(os.path.join(site, b"torch"))
    folder = os.path.join(site, b"nvidia_x-1.0.dist-info")
    os.mkdir(folder)
    with open(os.path.join(folder, b"RECORD"), "wb") as record:
        record.write(b"nvidia/\xff.so,sha256=x,3\nnvidia/\xfe.txt,,4\n\0,\0,\0\n")
    packages = {package.name: package for package in environment.facts().packages}
    states = [(file.path[len(str(environment.site)) :], file.state) for file in packages["nvidia-x"].changed_files]
    assert ("/nvidia/\\xff.so", "missing") in states


def test_a_distribution_of_unknown_name_counts_when_it_brings_device_code(environment: Environment) -> None:
    environment.install("my-kernels", "0.1", {"my_kernels/_C.so": GPU_CODE})
    environment.install("plain", "0.1", {"plain/_c.so": elf([(".text", b"")]), "plain/data.so": b"no library"})
    facts = environment.facts()
    assert only(facts.packages).name == "my-kernels"
    assert [(library.package, library.error) for library in facts.libraries] == [("my-kernels", None)]


def test_a_truncated_library_of_torch_is_reported_with_the_reason(environment: Environment) -> None:
    environment.install(
        "torch", "2.15.0", {**TORCH, "torch/lib/libc10.so": b"", "torch/lib/libtorch.so": GPU_CODE[:100]}
    )
    errors = {Path(library.path).name: library.error for library in environment.facts().libraries}
    assert errors == {
        "libc10.so": "is empty",
        "libtorch.so": "ends inside its section table",
        "libtorch_cuda.so": None,
    }


def test_what_is_no_python_is_a_failure_and_leaves_the_rest_unknown() -> None:
    for command in ("/nowhere/python", "/bin/false", "/bin/echo"):
        facts = Facts()
        python_environment.read(python_environment.start(command).result(), facts)
        assert [failure.probe for failure in facts.failures] == ["interpreter"]
        assert (facts.torch, facts.packages, facts.python.version) == (None, [], "")


def test_the_tests_own_interpreter_is_read_without_a_failure() -> None:
    metadata = pytest.importorskip("importlib.metadata")
    facts = Facts()
    python_environment.read(python_environment.start(sys.executable, dict(os.environ)).result(), facts)
    assert facts.failures == []
    installed = {package.name: package.version for package in facts.packages}
    assert installed["nvidia-ml-py"] == metadata.version("nvidia-ml-py")
    try:
        version = metadata.version("torch")
    except metadata.PackageNotFoundError:
        return
    assert installed["torch"] == version
    assert facts.torch is not None
    assert facts.torch.version.startswith(version.partition("+")[0])
    assert facts.shared_files == []
    assert [library.path for library in facts.libraries if library.missing_needed or library.error] == []
    assert [library.path for library in facts.libraries if library.undefined_torch_symbols] == []


@pytest.mark.skipif(not Path("/usr/bin/python3").exists(), reason="the system has no Python")
def test_the_systems_python_is_read_without_a_failure() -> None:
    facts = Facts()
    python_environment.read(python_environment.start("/usr/bin/python3", {"PATH": "/usr/bin"}).result(), facts)
    assert facts.failures == []
    assert facts.python.executable.startswith("/usr/")


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    record=st.binary(max_size=200),
    metadata=st.binary(max_size=200),
    origin=st.one_of(
        st.binary(max_size=60),
        st.recursive(
            st.none() | st.text(max_size=20) | st.integers(),
            lambda inner: st.dictionaries(st.sampled_from(["url", "dir_info", "editable"]), inner, max_size=3),
        ).map(lambda value: json.dumps(value).encode()),
    ),
    version=st.binary(max_size=100),
)
def test_no_bytes_in_any_file_of_an_installation_make_the_probe_raise(
    tmp_path: Path, record: bytes, metadata: bytes, origin: bytes, version: bytes
) -> None:
    info = tmp_path / "site" / "torch-1.0.dist-info"
    package = tmp_path / "site" / "torch"
    for folder in (info, package):
        folder.mkdir(parents=True, exist_ok=True)
    for name, data in {"RECORD": record, "METADATA": metadata, "WHEEL": metadata, "direct_url.json": origin}.items():
        (info / name).write_bytes(data)
    (package / "version.py").write_bytes(version)
    answer = {
        "complete": True,
        "options": {"scan_libraries": True},
        "environment": {},
        "python": {"executable": sys.executable, "path": [str(tmp_path / "site")]},
        "folders": [{"path": str(tmp_path / "site"), "metadata": [info.name], "torch": ["torch"]}],
        "torch": {"origin": str(package / "__init__.py")},
    }
    facts = Facts()
    python_environment.read(python_environment.ChildResult("ok", answer), facts)
    # That version.py says no version is told; nothing else is wrong.
    assert {failure.probe for failure in facts.failures} <= {"torch-version"}
    assert facts.torch is not None
    json.dumps(to_json(facts), ensure_ascii=False).encode()
