"""A plugin for pytest: the outcome of each test with the lines that a failure went through, and which tests run."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

from .arrival import Telling

if TYPE_CHECKING:
    from torchlift.at_start.shared.after_import import after_import
else:
    from .after_import import after_import

_FRAME = re.compile(
    r'^\s*(?:File "(?P<quoted>[^"]+)", line (?P<at>\d+)|(?P<path>[^\s:"][^:"\n]*\.py):(?P<line>\d+):)', re.M
)
_MOST_FRAMES = 60


def wait_for_pytest(spool: Telling, tests: list[str] | None, leave: Callable[[], None]) -> None:
    """Register the plugin with the first plugin manager of this process; pytest is not imported for it.

    `leave` is called when the tests are through: workers of xdist end without more ado.
    """

    def extend(module: Any) -> None:
        managers = module.PytestPluginManager
        make = managers.__init__

        def make_first(self: Any, *args: Any, **kwargs: Any) -> None:
            make(self, *args, **kwargs)
            managers.__init__ = make
            self.register(_plugin(spool, tests, leave), "torchlift-verify")

        managers.__init__ = make_first

    after_import("_pytest.config", extend)


def _plugin(spool: Telling, tests: list[str] | None, leave: Callable[[], None]) -> object:
    import pluggy

    hook: Any = pluggy.HookimplMarker("pytest")

    class Outcomes:
        def pytest_configure(self, config: Any) -> None:
            self.root = str(getattr(config, "rootpath", None) or config.rootdir)
            self.tests = None if tests is None else frozenset(tests)
            self.files = None if tests is None else frozenset(test.partition("::")[0] for test in tests)
            if tests is not None:
                config.option.maxfail = 0

        def pytest_ignore_collect(self, collection_path: Any) -> bool | None:
            name = str(collection_path)
            if self.files is None or not name.endswith(".py") or os.path.basename(name) == "__init__.py":
                return None
            return True if os.path.relpath(name, self.root).replace(os.sep, "/") not in self.files else None

        def pytest_collection_modifyitems(self, config: Any, items: list[Any]) -> None:
            if self.tests is not None:
                left_out = [item for item in items if item.nodeid not in self.tests]
                if left_out:
                    config.hook.pytest_deselected(items=left_out)
                    items[:] = [item for item in items if item.nodeid in self.tests]

        def pytest_collectreport(self, report: Any) -> None:
            if report.failed:
                text = str(report.longrepr)
                spool.tell("collect", id=report.nodeid, error=_last_error(text), frames=_frames_in(text))

        def pytest_runtest_logstart(self, nodeid: str) -> None:
            spool.tell("begin", id=nodeid)

        @hook(hookwrapper=True, tryfirst=True)  # type: ignore[untyped-decorator,misc,unused-ignore]
        def pytest_runtest_makereport(self, item: Any, call: Any) -> Generator[None, Any, None]:
            done = yield
            report = done.get_result()
            outcome = "expected to fail" if hasattr(report, "wasxfail") and report.skipped else report.outcome
            if report.when == "setup":
                spool.tell("attempt", id=report.nodeid)
            if report.when == "call" or outcome != "passed":
                told = _failure(report, call) if outcome == "failed" else {}
                spool.tell("test", id=report.nodeid, outcome=outcome, **told)
            if report.when == "teardown":
                spool.tell("end", id=report.nodeid)

        @hook(trylast=True)  # type: ignore[untyped-decorator,misc,unused-ignore]
        def pytest_sessionfinish(self, session: Any) -> None:
            if tests is not None and session.exitstatus == 5:
                session.exitstatus = 0  # the tests are those of another run of pytest in the command
            leave()

    return Outcomes()


def _failure(report: Any, call: Any) -> dict[str, Any]:
    text = str(report.longrepr)
    crash = getattr(report.longrepr, "reprcrash", None)
    message = crash.message.strip() if crash is not None else ""
    error = message.splitlines()[0] if message else _last_error(text)
    frames: list[list[Any]] = []
    value = call.excinfo.value if call.excinfo is not None else None
    while value is not None and len(frames) < _MOST_FRAMES:
        trace, own = value.__traceback__, []
        while trace is not None:
            own.append([os.path.abspath(trace.tb_frame.f_code.co_filename), trace.tb_lineno])
            trace = trace.tb_next
        if isinstance(value, SyntaxError) and value.filename:
            own.append([os.path.abspath(value.filename), value.lineno or 1])
        frames = own + frames
        value = value.__cause__ or value.__context__
    return {"error": error, "frames": frames[-_MOST_FRAMES:]}


def _last_error(text: str) -> str:
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    marked = [line[1:].strip() for line in lines if line.startswith("E ")]
    return marked[-1] if marked else (lines[-1] if lines else "")


def _frames_in(text: str) -> list[list[Any]]:
    found = []
    for match in _FRAME.finditer(text):
        found.append([os.path.abspath(match["quoted"] or match["path"]), int(match["at"] or match["line"])])
    return found[-_MOST_FRAMES:]
