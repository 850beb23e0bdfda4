"""Findings become text for people, editors and machines; every function here is pure."""
