"""h5py, for this package only: it comes without type stubs, so this is where its types end.

Out: the modules `h5py`, and of its low-level interface what is used, all of type `Any`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

h5py: Any = import_module("h5py")
h5: Any = h5py.h5
h5a: Any = h5py.h5a
h5d: Any = h5py.h5d
h5f: Any = h5py.h5f
h5fd: Any = h5py.h5fd
h5g: Any = h5py.h5g
h5i: Any = h5py.h5i
h5l: Any = h5py.h5l
h5o: Any = h5py.h5o
h5p: Any = h5py.h5p
h5r: Any = h5py.h5r
h5s: Any = h5py.h5s
h5t: Any = h5py.h5t
h5z: Any = h5py.h5z
