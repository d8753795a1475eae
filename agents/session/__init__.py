"""A session with an agent of any family: the port to it, sq's rules for it, the typed tools of sq."""
