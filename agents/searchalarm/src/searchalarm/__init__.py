"""Alarms for what a query in Elasticsearch or OpenSearch finds."""
