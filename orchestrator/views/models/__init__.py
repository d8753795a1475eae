"""The records that views show, folded from events: shared by terminal, page and report."""
