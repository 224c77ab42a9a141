"""The version of the SDK; the wheel takes it from here."""

__version__ = "0.4.0"
