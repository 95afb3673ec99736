"""Tether keeps the work of coding agents from coming loose."""

__version__ = "0.1.0"
