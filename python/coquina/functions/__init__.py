"""Functions of arrays: what `coquina` has under the names of NumPy and of the array API standard."""
