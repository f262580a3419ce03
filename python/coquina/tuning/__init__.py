"""Advice on how to store an array, a table or a file: which codec and filters, and how it should be cut.

`tune` looks at some of the data and at how they will be read; what it gives says why, and can be applied.
"""
