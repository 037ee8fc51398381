"""What torchlift knows about one error message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from torchlift.lazy_dataclass import dataclass

Level = Literal["cause", "vague", "warning"]
"""`vague`: it says that something failed, and another line of the same log says why. `warning`: nothing stops for it."""

READ = "read 2026-11-23"
"""When the sources were read that bear no date of their own."""


@dataclass(frozen=True)
class Cause:
    """One of several things that print the same message."""

    what: str
    """One sentence without a full stop."""
    tell: str
    """How one sees that it is this one: what else stands in the log, or a command and what it then prints. Without a full stop."""
    remedy: str
    """What to do then, without a full stop."""
    seen: str = ""
    """A pattern: where it stands in the same text, this cause comes first."""
    checks: tuple[str, ...] = ()
    """Checks of the row that find this cause on a machine: where one does, it comes first."""
    spoken: bool = False
    """The text that was read has what `seen` looks for."""


@dataclass(frozen=True)
class ValuesSay:
    """What the values in a message say."""

    says: str
    """One sentence without a full stop, in place of the row's `cause`."""
    chosen: int
    """Which of the row's causes it speaks for."""


@dataclass(frozen=True, kw_only=True)
class KnownError:
    """A row of the table that smokes, `--explain-error` and docs/errors.md share.

    A blank in `pattern` stands for any blanks, also for the end of a line, since terminals and boxes wrap what they show.
    Every repetition in it is bounded, so that searching takes a time proportional to the text. What a named group matches is put where cause,
    remedy and command have the name in braces; `{name2}` in an other alternative is another spelling of `{name}`.
    """

    id: str
    """Kebab-case, stable."""
    pattern: str
    cause: str
    """One sentence without a full stop."""
    remedy: str
    """What to do, without a full stop."""
    command: str | None = None
    """The remedy as a line for a shell, where one line does it on every machine."""
    terms: tuple[tuple[str, str], ...] = ()
    """What is written for `{meaning}`, by what the group `term` matched."""
    causes: tuple[Cause, ...] = ()
    """Where several things print this message: the most frequent first. `cause` says then what the message itself says, `remedy` what to do first."""
    reads: Callable[[str], ValuesSay | None] | None = None
    """Reads the values behind the place of the match; None where they say nothing."""
    checks: tuple[str, ...] = ()
    """Ids of the checks that look at it on a machine."""
    says: tuple[str, ...] = ()
    """The message verbatim, in the wordings of several releases."""
    sources: tuple[str, ...] = ()
    """Where the wording, the cause and the remedy were read, with dates; it says so where nothing was."""
    level: Level = "cause"
    likely: bool = False
    """The cause is a common one, not a certain one."""
    lost: bool = False
    """Nothing more can run on this device."""
    wheel: bool = False
    """Another wheel of torch mends it: the one that fits the machine is part of the answer."""
    general: bool = False
    """A rule for any name: it gives way to every other cause in the text."""
    smokes_only: bool = False
    """It means this only in the output of a smoke, whose program is known."""


def thread(repository: str, number: int, date: str = READ) -> str:
    """An issue or pull request on GitHub, with the date of the message that was read."""
    return f"https://github.com/{repository}/issues/{number}, {date}"


def torch_file(path: str, release: str = "2.13.0") -> str:
    """A file of a release of torch in which the message stands."""
    return f"torch {release}, {path}, {READ}"


UNREAD = "the wording as programs print it; no thread was read for it, 2026-11-23"
"""The source of a row of which cause and remedy follow from the message itself."""

WHEEL = "Run `torchlift doctor`: it prints the wheel for this GPU and driver"
"""What to say where the machine is not known."""

NO_MODULE = r"The specified module (could not be|was not) found|找不到指定的模块|找不到指定的模組|Das angegebene Modul wurde nicht gefunden|Le module spécifié est introuvable|No se puede encontrar el módulo especificado|Impossibile trovare il modulo specificato|Não foi possível encontrar o módulo especificado|指定されたモジュールが見つかりません|지정된 모듈을 찾을 수 없습니다|\u041d\u0435 найден указанный модуль"
NO_PROCEDURE = r"The specified procedure (could not be|was not) found|找不到指定的程序|Die angegebene Prozedur wurde nicht gefunden|La procédure spécifiée est introuvable|No se encontró el proceso especificado|Impossibile trovare la procedura specificata|Não foi possível encontrar o procedimento especificado|指定されたプロシージャが見つかりません|지정된 프로시저를 찾을 수 없습니다|\u041d\u0435 найдена указанная процедура"
NOT_STARTED = r"A dynamic link library \(DLL\) initialization routine failed|动态链接库\(DLL\)初始化例程失败|Eine DLL-Initialisierungsroutine ist fehlgeschlagen|Une routine d.initialisation d.une bibliothèque|ダイナミック リンク ライブラリ \(DLL\) 初期化ルーチンの実行に失敗"
"""Windows' errors 126, 127 and 1114, which it writes in the user's language."""
