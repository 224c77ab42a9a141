"""Sends alerts by e-mail and webhook."""
