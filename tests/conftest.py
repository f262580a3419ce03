"""What all tests share.

h5py uses the filters of hdf5plugin, in whichever order modules are imported: coquina registers its own where
there are none, and they would be their own judge.
"""

from __future__ import annotations

from unittest import mock

import hdf5plugin
import pytest

from coquina import results

hdf5plugin.register()


@pytest.fixture(params=["eager", "lazy"], scope="module")
def laziness(request):
    """Run the tests twice: small operands are computed at once, and then nothing is."""
    with mock.patch.object(results, "EAGER_BYTES", -1 if request.param == "lazy" else results.EAGER_BYTES):
        yield request.param
