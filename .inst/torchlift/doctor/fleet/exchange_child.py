"""Runs under the examined interpreter: brings the records of all ranks to rank 0, then tries collectives.

Needs torch and nothing of torchlift; Python 3.8 or newer. Records travel through the store at which the ranks meet and
not through a collective: a rank that died would keep every other rank in the collective, but it is only missing here.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

MARK = "torchlift-probe-answer:"
AT = "torchlift-probe-at:"

BEAT = 1.0
"""Seconds between signs of life."""


class PartnerGone(Exception):
    """Nobody is left to talk to; the text says who."""


def main() -> None:
    """Read the job from standard input and print the answer."""
    job = json.load(sys.stdin)
    say_at("import torch")
    try:
        import torch.distributed as dist
    except Exception as error:
        # A machine whose torch does not even import must still be heard of; only the store of torch could carry it.
        answer({"joined": False, "error": f"torch cannot be imported: {last_line(error)}"})
        return
    if not dist.is_available():
        answer({"joined": False, "error": "this torch has no torch.distributed"})
        return
    say_at("meeting the other ranks")
    try:
        store = meet(dist, job)
    except Exception as error:
        answer(
            {
                "joined": False,
                "error": f"rank 0 cannot be reached at {job['host']}:{job['port']}: {last_line(error)}",
            }
        )
        return
    alive = threading.Thread(target=beat, args=(dist, job), daemon=True)
    alive.start()
    try:
        lead(dist, store, job) if job["rank"] == 0 else follow(dist, store, job)
    except PartnerGone as error:
        answer({"joined": True, "error": str(error)})
    except Exception as error:
        answer({"joined": True, "error": f"the ranks lost each other: {last_line(error)}"})
    sys.stdout.flush()
    # A collective that hangs in a thread must not keep the process.
    os._exit(0)


def meet(dist: Any, job: dict[str, Any], timeout: float | None = None) -> Any:
    """The store of all ranks, under a name of our own: torchrun's agent keeps things in it too."""
    serve = job["rank"] == 0 and not job["store_is_up"] and timeout is None
    limit = timedelta(seconds=timeout or job["join_timeout"])
    store = dist.TCPStore(job["host"], job["port"], job["world_size"], serve, limit, wait_for_workers=False)
    store.set_timeout(timedelta(seconds=job["join_timeout"]))
    return dist.PrefixStore(f"torchlift-doctor/{job['run']}", store)


def beat(dist: Any, job: dict[str, Any]) -> None:
    """Tell again and again that this rank lives, on a connection of its own: a store answers one call at a time."""
    try:
        store = meet(dist, job, timeout=job["join_timeout"])
        number = 0
        while True:
            number += 1
            store.set(f"beat/{job['rank']}", str(number))
            time.sleep(BEAT)
    except Exception:
        # The main thread meets the same trouble and says so.
        return


def record_of(job: dict[str, Any]) -> str:
    """What this rank has to say, once its parent has written it."""
    say_at("waiting for this machine's examination")
    while not Path(job["record"]).exists():
        if os.getppid() != job["parent"]:
            raise PartnerGone("the doctor that started this process is gone")
        time.sleep(0.05)
    return Path(job["record"]).read_text(encoding="utf-8")


def lead(dist: Any, store: Any, job: dict[str, Any]) -> None:
    """Rank 0: gather, let all try the collectives, gather their results."""
    records = {0: record_of(job)}
    say_at("waiting for the other ranks")
    missing = gather(store, job, records)
    found: dict[str, Any] = {
        "joined": True,
        "records": {str(rank): text for rank, text in sorted(records.items())},
        "missing": {str(rank): why for rank, why in sorted(missing.items())},
    }
    answer(found)
    found["collectives"] = []
    backends = [] if missing or job["world_size"] < 2 else backends_of(records)
    for backend in backends:
        say_at(f"the collective on {backend}")
        store.set(f"go/{len(found['collectives'])}", backend)
        found["collectives"].append(collective_of_all(dist, store, job, backend))
        answer(found)
        if found["collectives"][-1]["failed"]:
            break
    store.set(f"go/{len(found['collectives'])}", "end")
    if not job["store_is_up"]:
        # The store ends with this process: let the others read the word first.
        until = time.monotonic() + 3
        while time.monotonic() < until and store.add("bye", 0) < job["world_size"] - 1 - len(missing):
            time.sleep(0.05)


def gather(store: Any, job: dict[str, Any], records: dict[int, str]) -> dict[int, str]:
    """Take every record that comes; give up on ranks that never joined or no longer show signs of life."""
    started = time.monotonic()
    seen: dict[int, tuple[Any, float]] = {}
    missing: dict[int, str] = {}
    while len(records) + len(missing) < job["world_size"]:
        for rank in range(1, job["world_size"]):
            if rank in records or rank in missing:
                continue
            if store.check([f"record/{rank}"]):
                records[rank] = store.get(f"record/{rank}").decode("utf-8")
                continue
            number = store.get(f"beat/{rank}") if store.check([f"beat/{rank}"]) else None
            now = time.monotonic()
            if rank not in seen or seen[rank][0] != number:
                seen[rank] = (number, now)
            if number is None and now - started > job["join_timeout"]:
                missing[rank] = f"never joined within {job['join_timeout']:g} s"
            elif number is not None and now - seen[rank][1] > job["dead_after"]:
                missing[rank] = f"joined, but gave no sign of life for {job['dead_after']:g} s"
            elif now - started > job["deadline"]:
                missing[rank] = f"lives, but was not done after {job['deadline']:g} s"
        time.sleep(0.05)
    return missing


def backends_of(records: dict[int, str]) -> list[str]:
    """gloo for all; nccl as well when every rank has a GPU and an NCCL, which a machine without would only fail."""
    able = [json.loads(text).get("nccl", False) for text in records.values()]
    return ["gloo", "nccl"] if all(able) else ["gloo"]


def follow(dist: Any, store: Any, job: dict[str, Any]) -> None:
    """Every other rank: hand in the record, then do as rank 0 says."""
    store.set(f"record/{job['rank']}", record_of(job))
    answer({"joined": True})
    number = 0
    while True:
        say_at("waiting for rank 0")
        backend = word_of_leader(store, job, f"go/{number}")
        if backend == "end":
            store.add("bye", 1)
            return
        say_at(f"the collective on {backend}")
        store.set(f"result/{backend}/{job['rank']}", json.dumps(collective(dist, job, backend)))
        number += 1


def word_of_leader(store: Any, job: dict[str, Any], key: str) -> str:
    """What rank 0 wrote under `key`; raises `PartnerGone` when rank 0 shows no sign of life."""
    last: Any = None
    since = time.monotonic()
    while not store.check([key]):
        number = store.get("beat/0") if store.check(["beat/0"]) else None
        if number != last:
            last, since = number, time.monotonic()
        elif time.monotonic() - since > job["dead_after"]:
            raise PartnerGone(f"rank 0 gave no sign of life for {job['dead_after']:g} s")
        time.sleep(0.05)
    return str(store.get(key), "utf-8")


def collective_of_all(dist: Any, store: Any, job: dict[str, Any], backend: str) -> dict[str, Any]:
    """Run it here too, and wait for everybody's result."""
    store.set(f"result/{backend}/0", json.dumps(collective(dist, job, backend)))
    results: dict[int, dict[str, Any]] = {}
    until = time.monotonic() + 5 + job["collective_timeout"]
    while len(results) < job["world_size"] and time.monotonic() < until:
        for rank in range(job["world_size"]):
            if rank not in results and store.check([f"result/{backend}/{rank}"]):
                results[rank] = json.loads(store.get(f"result/{backend}/{rank}").decode("utf-8"))
        time.sleep(0.05)
    failed = {}
    for rank in range(job["world_size"]):
        result = results.get(rank, {"error": f"no result within {job['collective_timeout']:g} s"})
        if "error" in result:
            failed[str(rank)] = result["error"]
    slowest = max([result.get("seconds", 0.0) for result in results.values()] or [0.0])
    # Of each size the slowest rank counts: all end together.
    rates = [result.get("rates") or {} for result in results.values()]
    sizes = set.intersection(*map(set, rates)) if rates else set()
    best = max((min(rate[size] for rate in rates) for size in sizes), default=None)
    return {
        "backend": backend,
        "ranks": job["world_size"],
        "seconds": slowest,
        "failed": failed,
        "bus_bandwidth": None if failed else best,
    }


def collective(dist: Any, job: dict[str, Any], backend: str) -> dict[str, Any]:
    """all_reduce in a thread: whatever hangs in it, this rank can still say so."""
    result: dict[str, Any] = {}
    thread = threading.Thread(target=all_reduce, args=(dist, job, backend, result), daemon=True)
    thread.start()
    thread.join(job["collective_timeout"])
    if thread.is_alive():
        return {"error": f"all_reduce did not end within {job['collective_timeout']:g} s"}
    return result


def all_reduce(dist: Any, job: dict[str, Any], backend: str, result: dict[str, Any]) -> None:
    """A sum whose value depends on every rank's contribution."""
    try:
        import torch

        device = torch.device("cpu")
        options: dict[str, Any] = {}
        if backend == "nccl":
            device = torch.device("cuda", job["local_rank"] % torch.cuda.device_count())
            torch.cuda.set_device(device)
            # As training code does since process groups are eager; torch before 2.3 has no such parameter.
            if "device_id" in inspect.signature(dist.init_process_group).parameters:
                options = {"device_id": device}
        limit = timedelta(seconds=job["collective_timeout"])
        store = dist.PrefixStore(f"collective/{backend}", meet(dist, job, timeout=job["join_timeout"]))
        dist.init_process_group(
            backend, store=store, rank=job["rank"], world_size=job["world_size"], timeout=limit, **options
        )
        try:
            started = time.monotonic()
            values = torch.arange(1 << 16, dtype=torch.float64, device=device) + job["rank"]
            dist.all_reduce(values)
            got = values.cpu()
            seconds = time.monotonic() - started
            rates = bus_bandwidths(torch, dist, device, job["world_size"], job["sizes"].get(backend, []))
        finally:
            dist.destroy_process_group()
        ranks = job["world_size"]
        wanted = torch.arange(1 << 16, dtype=torch.float64) * ranks + ranks * (ranks - 1) // 2
        if torch.equal(got, wanted):
            result["seconds"], result["rates"] = seconds, rates
        else:
            place = int((got != wanted).nonzero()[0])
            result["error"] = f"wrong sum: {float(got[place])!r} instead of {float(wanted[place])!r} at {place}"
    except Exception as error:
        result["error"] = last_line(error)


def bus_bandwidths(torch: Any, dist: Any, device: Any, ranks: int, sizes: list[int]) -> dict[str, float]:
    """Bytes a second over the slowest link, by size, as nccl-tests count it: 2 (n - 1) / n times the bytes.

    A size that took long is the last: what is decided is reduced before, so that all ranks decide alike.
    """
    found: dict[str, float] = {}
    for size in sizes:
        values = torch.zeros(size // 4, device=device)
        dist.all_reduce(values)
        slowest = float("inf")
        for _ in range(3):
            started = time.monotonic()
            dist.all_reduce(values)
            # Reading one number waits for the device.
            values[0].item()
            taken = torch.tensor([time.monotonic() - started], device=device)
            dist.all_reduce(taken, op=dist.ReduceOp.MAX)
            slowest = min(slowest, float(taken.item()))
        found[str(size)] = size / slowest * 2 * (ranks - 1) / ranks
        if slowest > 1.0:
            break
    return found


def last_line(error: BaseException) -> str:
    """An exception in one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:500]}"


def say_at(place: str) -> None:
    """Name what comes next, for the case that it never ends."""
    print(AT + place, flush=True)


def answer(value: object) -> None:
    """Give an answer; a later one replaces it."""
    print(MARK + json.dumps(value), flush=True)


if __name__ == "__main__":
    main()
