"""Alarms when points pass a limit, or fall silent."""
