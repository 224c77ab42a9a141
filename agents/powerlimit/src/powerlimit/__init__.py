"""Keeps the power of a building under a limit by letting rooms get warmer in turn."""
