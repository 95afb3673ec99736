"""The transcripts that agents write, each behind an adapter of its own.

Their formats change about daily: unknown records are passed over, unknown fields are not looked at,
and nothing in a transcript can fail the reading of it.
"""
