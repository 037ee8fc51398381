"""A message that several things print: all are named, each with how it is told, and those first for which something speaks."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from torchlift.cli import torchlift
from torchlift.doctor.errors.first_cause import first_cause
from torchlift.doctor.errors.known.several_causes import read_memory
from torchlift.doctor.errors.known_error import KnownError
from torchlift.doctor.errors.lines import chunks_of
from torchlift.doctor.errors.table import KNOWN

ROOT = Path(__file__).parents[2]
H100 = str(ROOT / "fixtures/machines/healthy_h100.json")


def row_for(text: str) -> KnownError:
    found = first_cause(chunks_of(io.BytesIO(text.encode()))).first
    assert found is not None
    return found.row


def test_every_cause_says_how_it_is_told_and_what_to_do_and_its_checks_are_the_rows() -> None:
    several = [row for row in KNOWN if row.causes]
    assert len(several) >= 10
    for row in several:
        assert len(row.causes) >= 2, row.id
        for cause in row.causes:
            assert cause.what and cause.tell and cause.remedy, (row.id, cause)
            assert not any(text.endswith(".") for text in (cause.what, cause.tell, cause.remedy)), (row.id, cause)
            assert {*cause.checks} <= {*row.checks}, (row.id, cause.what)
            re.compile(cause.seen)


def test_what_else_stands_in_the_text_brings_its_cause_to_the_front() -> None:
    bare = row_for("RuntimeError: CUDA error: unknown error")
    running = row_for("epoch 3, step 1200, loss 0.3\nRuntimeError: CUDA error: unknown error")
    assert not any(each.spoken for each in bare.causes)
    assert running.causes[0].spoken and "while the program ran" in running.causes[0].what
    assert {each.what for each in running.causes} == {each.what for each in bare.causes}


def asked(*arguments: str) -> str:
    return CliRunner().invoke(torchlift, ["doctor", *arguments]).stdout


def test_what_a_check_finds_on_the_machine_comes_before_what_the_text_says(tmp_path: Path) -> None:
    facts: Any = json.loads(Path(H100).read_text(encoding="utf-8"))
    facts["environment"]["CUDA_VISIBLE_DEVICES"] = ""
    hidden = tmp_path / "facts.json"
    hidden.write_text(json.dumps(facts))
    error = "torch 2.15+cpu? torch.cuda.is_available() == False"
    report = json.loads(asked("--facts", str(hidden), "--json", "--explain-error", error))
    causes = report["first"]["causes"]
    assert [each["speaks"] for each in causes[:2]] == ["machine", "text"] and "hidden" in causes[0]["what"]
    said = " ".join(asked("--facts", str(hidden), "--explain-error", error).split())
    assert "1. The GPU is hidden" in said and "(this machine has it)" in said and "Told by: " in said


@pytest.mark.parametrize(
    ("message", "says", "chosen"),
    [
        (
            "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.99 GiB of which 1.00 GiB is free. Including non-PyTorch memory, "
            "this process has 22.2 GiB memory in use. Of the allocated memory 13.00 GiB is allocated by PyTorch, and 8.76 GiB is reserved by PyTorch but unallocated.",
            "8.8 GiB lie unused",
            2,
        ),
        (
            "CUDA out of memory. Tried to allocate 844.25 MiB (GPU 0; 10.92 GiB total capacity; 9.52 GiB already allocated; 307.00 MiB free; 574.70 MiB cached)",
            "tensors of this process hold 9.5 GiB",
            0,
        ),
        (
            "CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 79.15 GiB total capacity; 1.50 GiB already allocated; 1.00 GiB free; 1.60 GiB reserved in total by PyTorch)",
            "other programs or processes hold the rest",
            3,
        ),
        (
            "CUDA out of memory. Tried to allocate 128.00 GiB (GPU 0; 23.70 GiB total capacity; 4.15 GiB already allocated; 17.54 GiB free; 4.16 GiB reserved in total by PyTorch)",
            "more than it has at all",
            1,
        ),
    ],
    ids=["in pieces", "the work itself", "others", "one tensor"],
)
def test_the_numbers_of_an_error_of_memory_are_read_in_the_wordings_of_old_and_new_releases(
    message: str, says: str, chosen: int
) -> None:
    reading = read_memory(message)
    assert reading is not None and says in reading.says and reading.chosen == chosen
    row = row_for(f"RuntimeError: {message}")
    assert row.id == "out-of-memory" and says in row.cause and row.causes[0].spoken


def test_an_error_of_memory_without_numbers_names_all_causes_by_frequency() -> None:
    row = row_for("RuntimeError: CUDA error: out of memory")
    assert len(row.causes) == 5 and not any(each.spoken for each in row.causes)


@pytest.mark.parametrize(
    ("text", "said", "chosen"),
    [
        ("ModuleNotFoundError: No module named 'torch._six'", "went with torch 2.0", "older than this torch"),
        (
            "AttributeError: module 'torch' has no attribute 'symeig'",
            "names torch.linalg.eigh",
            "older than this torch",
        ),
        (
            "AttributeError: module 'torch.library' has no attribute 'custom_op'",
            "came with torch 2.4",
            "newer than this torch",
        ),
        (
            "ImportError: cannot import name 'DTensor' from 'torch.distributed.tensor' (/opt/torch/__init__.py)",
            "came with torch 2.5",
            "newer than this torch",
        ),
        (
            "AttributeError: module 'torchaudio' has no attribute 'set_audio_backend'",
            "went with torchaudio 2.9",
            "older than this torch",
        ),
        (
            "TypeError: scaled_dot_product_attention() got an unexpected keyword argument 'enable_gqa'",
            "since torch 2.5",
            "older than the code",
        ),
        (
            "TypeError: ReduceLROnPlateau.__init__() got an unexpected keyword argument 'verbose'",
            "no longer since torch 2.7",
            "newer than the code",
        ),
    ],
)
def test_a_name_that_torch_lacks_is_looked_up_in_the_tables_of_its_releases(text: str, said: str, chosen: str) -> None:
    row = row_for(text)
    assert said in row.cause
    assert row.causes[0].spoken and chosen in row.causes[0].what


def test_a_name_of_which_the_tables_say_nothing_leaves_the_causes_open() -> None:
    row = row_for("AttributeError: module 'torch' has no attribute 'float8_e4m3fn'")
    assert len(row.causes) == 3 and not any(each.spoken for each in row.causes)
    assert row_for("TypeError: Anything.__init__() got an unexpected keyword argument 'device'").causes


@pytest.mark.parametrize(
    ("text", "said", "chosen"),
    [
        (
            "ImportError: cannot import name 'LlamaFlashAttention2' from 'transformers.models.llama.modeling_llama' (/data/x/modeling_llama.py)",
            "no longer in",
            "newer",
        ),
        ("ImportError: cannot import name 'SFTConfig' from 'trl' (/data/env/trl/__init__.py)", "not yet in", "older"),
        (
            "ModuleNotFoundError: No module named 'pytorch_lightning.utilities.distributed'",
            "the one that is installed is newer",
            "newer",
        ),
        ("AttributeError: 'DynamicCache' object has no attribute 'get_max_length'", "get_max_cache_shape", "newer"),
        ("AttributeError: 'GRPOTrainer' object has no attribute '_get_per_token_logps'", "trl 0.16.1", "newer"),
        (
            "AttributeError: 'ColBERTModel' object has no attribute 'all_tied_weights_keys'",
            "asks every model for",
            "newer",
        ),
    ],
    ids=[
        "a class that went",
        "one that came",
        "a module that went",
        "a method that went",
        "a trainer's",
        "asked of every model",
    ],
)
def test_a_name_of_a_library_on_top_of_torch_is_looked_up_in_what_its_releases_have(
    text: str, said: str, chosen: str
) -> None:
    row = row_for(text)
    assert said in row.cause and row.causes[0].spoken, row.cause
    assert chosen in row.cause or chosen in row.causes[0].what


def test_a_name_of_a_library_that_the_table_does_not_know_leaves_the_causes_open() -> None:
    row = row_for(
        "ImportError: cannot import name 'nothing_of_that_name' from 'transformers' (/data/env/transformers/__init__.py)"
    )
    assert row.causes and not any(each.spoken for each in row.causes)


FRAMES_OF_ANY_PROGRAM = """Traceback (most recent call last):
  File "/home/user/miniconda3/envs/py310/lib/python3.10/runpy.py", line 196, in _run_module_as_main
    return _run_code(code, main_globals, None,
  File "/home/user/project/train.py", line 88, in main
    outputs = model(inputs)
  File "/home/user/miniconda3/envs/py310/lib/python3.10/site-packages/torch/nn/modules/module.py", line 1553, in _wrapped_call_impl
    return self._call_impl(*args, **kwargs)
  File "/home/user/project/model/layers.py", line 40, in forward
    x = self.conv(x)
"""


def test_no_row_has_more_than_five_causes() -> None:
    assert [row.id for row in KNOWN if len(row.causes) > 5] == []


def test_frames_that_stand_above_any_message_speak_for_no_cause() -> None:
    def spoken(text: str) -> tuple[str, set[str]]:
        row = row_for(text)
        return row.id, {cause.what for cause in row.causes if cause.spoken}

    moved = set()
    for row in KNOWN:
        for message in row.says[:1] if row.causes else ():
            (alone, by_itself), (below, by_frames) = spoken(message), spoken(FRAMES_OF_ANY_PROGRAM + message)
            if alone == below == row.id and by_frames - by_itself:
                moved.add(row.id)
    # whose class or module it is is told by a frame's folder, which is what these two say
    assert moved <= {"any-object-attribute", "import-of-itself"}, moved
