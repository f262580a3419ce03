"""Sorted indexes of columns, expressions and 1-d arrays: which rows may have such values."""
