"""Calls of a run to models: conversations, single answers, the Worker's questions, retries."""
