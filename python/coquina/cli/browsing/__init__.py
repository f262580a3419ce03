"""The terminal interface of `coquina browse`."""
