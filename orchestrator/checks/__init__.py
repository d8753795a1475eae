"""The questions that sq asks of a work, whoever made it. The room knows no run, no task and no agent."""
