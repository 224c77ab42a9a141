"""Plays a weather file: current values and a forecast."""
