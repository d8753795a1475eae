"""Facts that sq computes from the files of two trees, whatever anybody says about them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkFacts:
    """How a work changed the dependencies and the public names of a project.

    `added`, `removed` and `changed` are dependencies of manifests, by name. `locked` are others that only
    lock files name. `names_changed` have other parameters now. `unread` are files that cannot be read.
    `paths` are all files that differ.
    """

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    locked: tuple[str, ...] = ()
    names_added: tuple[str, ...] = ()
    names_removed: tuple[str, ...] = ()
    names_changed: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
