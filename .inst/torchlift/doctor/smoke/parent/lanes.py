"""Devices that work side by side, and results that come device by device all the same."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence

from torchlift.doctor.smoke.parent.outcome import SmokeResult
from torchlift.doctor.smoke.parent.targets import Target
from torchlift.doctor.smoke.parent.torch_process import TorchProcess

Work = Callable[[TorchProcess, Target], Iterator[SmokeResult]]

_GRACE = 5.0


def side_by_side(
    processes: Sequence[TorchProcess], targets: Sequence[Target], work: Work
) -> Iterator[tuple[str, Iterator[SmokeResult]]]:
    """The name of each target and its results, in the order of the targets; each process does one target at a time.

    All processes but the first are closed at the end, and all when the iterator is closed before.
    """
    if len(processes) == 1:
        for target in targets:
            yield target.name, work(processes[0], target)
        return
    waiting = list(reversed(targets))
    answers = {target.name: queue.SimpleQueue[SmokeResult | BaseException | None]() for target in targets}

    def lane(process: TorchProcess) -> None:
        while waiting:
            try:
                target = waiting.pop()
            except IndexError:  # another lane was faster
                return
            try:
                for result in work(process, target):
                    answers[target.name].put(result)
                answers[target.name].put(None)
            except BaseException as error:
                answers[target.name].put(error)

    threads = [threading.Thread(target=lane, args=(process,), daemon=True) for process in processes]
    for thread in threads:
        thread.start()
    done = False
    try:
        for target in targets:
            yield target.name, _drained(answers[target.name])
        done = True
    finally:
        waiting.clear()
        for process in processes[1:] if done else processes:
            process.end()
        for thread in threads:
            thread.join(_GRACE)


def _drained(answers: queue.SimpleQueue[SmokeResult | BaseException | None]) -> Iterator[SmokeResult]:
    while (answer := answers.get()) is not None:
        if isinstance(answer, BaseException):
            raise answer
        yield answer
