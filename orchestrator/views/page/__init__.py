"""The page that follows runs live in a browser: its server, its guard, and its stream."""
