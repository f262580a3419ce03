"""`pd.DataFrame(t)` is refused: pandas makes one column of records of what is not its own or a dict.

In: a frame of Python's stack. Out: nothing, or TypeError.
"""

from __future__ import annotations

import sys


def refuse_constructor() -> None:
    """Raise TypeError if the function that calls this one was called by the constructor of DataFrames."""
    caller = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]
    if caller.f_code.co_name == "__init__" and caller.f_globals.get("__name__") == "pandas.core.frame":
        raise TypeError(
            "pd.DataFrame(...) would make one column of records of a table: to_pandas() gives its columns"
        )
