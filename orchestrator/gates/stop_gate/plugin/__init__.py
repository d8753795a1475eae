"""The stop gate as a plugin of Claude Code: this folder is one, for who does not want it in settings."""

from pathlib import Path

FOLDER = Path(__file__).parent
