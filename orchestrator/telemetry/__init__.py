"""Telemetry of a run: its events as spans, and their way to an OpenTelemetry collector."""
