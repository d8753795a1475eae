"""The stop gate as a plugin of Claude Code: this folder is the plugin, an alternative to settings."""

from pathlib import Path

FOLDER = Path(__file__).parent
