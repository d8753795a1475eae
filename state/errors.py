"""The errors of sq: one root, and one class for each case that a caller handles differently."""


class SqError(Exception):
    """Root of every error that sq raises on purpose.

    The message says which input was given, which fact was found and how to fix it.
    """


class UsageError(SqError):
    """The user's input cannot be used as it is: a flag, a spec, a repository, a setting. Exit code 2."""


class JournalError(SqError):
    """A journal cannot be read or written: damaged, or written by another sq."""


class RunActiveError(UsageError):
    """Another process is writing this run right now."""


class AgentError(SqError):
    """An agent or the services below it failed for good: no session, no answer, no connection."""


class ReviewSilenceError(SqError):
    """A review that is required before any other step is missing."""


class GitError(SqError):
    """A git command failed. The message holds the command and git's own message."""
