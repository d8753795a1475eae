"""The errors of sq: one root, and one class for each thing a caller would do differently."""


class SqError(Exception):
    """Root of every error that sq raises on purpose.

    The message says what was asked, what was found and what to do about it.
    """


class UsageError(SqError):
    """The user's input cannot be used as it is: a flag, a spec, a repository, a setting. Exit code 2."""


class JournalError(SqError):
    """A journal cannot be read or written: damaged, or written by a newer sq."""


class RunActiveError(UsageError):
    """Another process is writing this run right now."""


class AgentError(SqError):
    """An agent or what it stands on failed for good: no session, no answer, no connection."""


class GitError(SqError):
    """A git command failed; the message holds the command and what git said."""
