"""Expressions: what is computed of arrays, and when."""
