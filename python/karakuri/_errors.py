"""What a status of the library becomes: an exception that knows the place, the reason and the remedy."""
from __future__ import annotations

from typing import Any

from . import c


class Error(Exception):
    """Something the engine refused. `text` says what is wrong, `remedy` what to do about it."""

    status: int
    text: str
    file: str
    line: int
    column: int
    remedy: str
    function: str
    trail: list[str]
    messages: c.kk_messages | None

    def __init__(self, status: int, text: str, file: str = "", line: int = 0, column: int = 0, function: str = "",
                 trail: str = "") -> None:
        place = f"{file}:{line}:{column}: " if file and line else f"{file}: " if file else ""
        super().__init__(place + text)
        reason, _, remedy = text.partition("; ")
        self.status, self.text, self.remedy = status, reason, remedy
        self.file, self.line, self.column = file, line, column
        self.function, self.messages = function, None
        self.trail = trail.split("\n") if trail else []
        for line in self.trail:
            self.add_note(line)

    @property
    def name(self) -> str:
        """KK_NOT_FOUND and its like."""
        return c.kk_status_name(self.status) or ""

    def __reduce__(self) -> tuple[Any, ...]:
        text = f"{self.text}; {self.remedy}" if self.remedy else self.text
        return type(self), (self.status, text, self.file, self.line, self.column, self.function, "\n".join(self.trail))


class OutOfMemory(Error, MemoryError):
    """An allocation failed."""


class InvalidArgument(Error, ValueError):
    """An argument is outside what the call accepts."""


class InvalidModel(Error, ValueError):
    """The description of a model contradicts physics or itself."""


class NotFound(Error, LookupError):
    """There is nothing of that name."""


class SizeMismatch(Error, ValueError):
    """An array or a state belongs to another model."""


class NotFinite(Error, ValueError):
    """A number is NaN or infinite."""


class SyntaxFault(Error, ValueError):
    """A text does not follow its grammar."""


class FileFault(Error, OSError):
    """Reading or writing failed."""


class NotConverged(Error, ArithmeticError):
    """No solution was found to the tolerance asked for."""


class Unsupported(Error, NotImplementedError):
    """Understood, but not supported."""


_KINDS: dict[int, type[Error]] = {
    c.KK_OUT_OF_MEMORY: OutOfMemory, c.KK_INVALID_ARGUMENT: InvalidArgument, c.KK_INVALID_MODEL: InvalidModel,
    c.KK_NOT_FOUND: NotFound, c.KK_DUPLICATE_NAME: InvalidModel, c.KK_SIZE_MISMATCH: SizeMismatch,
    c.KK_NOT_FINITE: NotFinite, c.KK_SYNTAX: SyntaxFault, c.KK_IO: FileFault, c.KK_UNSUPPORTED: Unsupported,
    c.KK_NOT_CONVERGED: NotConverged,
}


def _make(status: int, text: str, file: str, line: int, column: int, function: str, trail: str = "") -> Error:
    if status == c.KK_NOT_FOUND and text.startswith("cannot open"):
        return FileFault(status, text, file, line, column, function, trail)
    return _KINDS.get(status, Error)(status, text, file, line, column, function, trail)


c._set_error_maker(_make)  # type: ignore[attr-defined]
