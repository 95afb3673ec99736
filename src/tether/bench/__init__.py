"""Benchmarks: times as ratios to something on the same machine in the same run."""
