"""What all tests share.

h5py uses the filters of hdf5plugin, in whichever order modules are imported: coquina registers its own where
there are none, and they would be their own judge.
"""

from __future__ import annotations

import hdf5plugin

hdf5plugin.register()
