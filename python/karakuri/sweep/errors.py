"""What can go wrong with a study, each by its name. What a journal holds stays in all of them."""
from __future__ import annotations


class SweepError(Exception):
    """A study that cannot go on."""


class StudyError(SweepError, ValueError):
    """The study itself is wrong; the text names the key."""


class MissingPackage(SweepError, ImportError):
    """An engine's package is not installed."""


class JournalBusy(SweepError):
    """Another driver writes this journal."""


class JournalCorrupt(SweepError):
    """A journal was altered: not cut short, which is mended, but changed in the middle."""


class OtherStudy(SweepError):
    """A journal belongs to another study, model or version of the library."""


class OtherVersion(SweepError):
    """A worker has another library than the driver, or one that gives other bits."""


class NoRoom(SweepError, OSError):
    """The disk is full, or a quota or a limit on the size of files is reached."""


class ReadOnly(SweepError, OSError):
    """The folder cannot be written."""


class LostWorker(SweepError):
    """Blocks of points that took their worker with them again and again."""


class Missing(SweepError):
    """Points that no journal has yet."""


class Disagreement(SweepError):
    """One point with two results."""
