from __future__ import annotations

import os
import sys

import pytest

from torchlift.doctor.probes.child import AT, MARK, Child

SAY = f"import sys, time, os, json, signal\ndef say(text): print(text, flush=True)\nMARK, AT = {MARK!r}, {AT!r}\n"


def child(code: str, timeout: float = 60, payload: object = None) -> Child:
    return Child([sys.executable, "-I", "-c", SAY + code], payload, timeout)


def test_the_last_answer_counts_whatever_is_printed_around_it() -> None:
    result = child("say('noise'); say(MARK + '1'); say(MARK + json.dumps([2])); say('more noise')").start().result()
    assert (result.outcome, result.value) == ("ok", [2])


def test_the_payload_arrives_on_standard_input() -> None:
    result = child("say(MARK + sys.stdin.read())", payload={"a": "\udcff"}).start().result()
    assert result.value == {"a": "\udcff"}


def test_an_answer_of_null_is_an_answer() -> None:
    result = child("say(MARK + 'null')").start().result()
    assert (result.outcome, result.value) == ("ok", None)


def test_a_child_without_an_answer_is_an_error_in_its_own_last_words() -> None:
    result = child("raise ValueError('no such thing')").start().result()
    assert (result.outcome, result.detail) == ("error", "ValueError: no such thing")


def test_a_killed_child_leaves_its_last_whole_answer_and_its_place() -> None:
    code = "say(MARK + '{\"n\": 1}'); say(AT + 'step two'); print(MARK + '{\"n\"', end='', flush=True); time.sleep(600)"
    result = child(code, timeout=3).start().result()
    assert (result.outcome, result.value) == ("timeout", {"n": 1})
    assert result.detail == "No answer within 3 s in step two"


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
def test_a_crashed_child_leaves_its_last_answer_and_its_place() -> None:
    result = child("say(MARK + '7'); say(AT + 'step two'); os.kill(os.getpid(), signal.SIGABRT)").start().result()
    assert (result.outcome, result.value, result.signal) == ("crashed", 7, 6)
    assert result.detail == "Killed by SIGABRT in step two"


def test_a_place_before_the_last_answer_is_not_where_it_ended() -> None:
    result = child("say(AT + 'step one'); say(MARK + '7'); time.sleep(600)", timeout=3).start().result()
    assert (result.value, result.detail) == (7, "No answer within 3 s")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere files need a folder")
def test_a_child_needs_no_folder_to_write_in(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> None:
        raise FileNotFoundError("No usable temporary directory found")

    monkeypatch.setattr("tempfile.TemporaryFile", nowhere)
    assert child("say(MARK + '1')").start().result().value == 1


def test_a_payload_that_is_no_json_is_an_error() -> None:
    assert child("", payload=object()).start().result().outcome == "error"


def test_the_result_can_be_asked_for_again() -> None:
    started = child("say(MARK + '1')").start()
    assert started.result() == started.result()
