"""Finds faults of the outdoor-air economizer of air handlers."""
