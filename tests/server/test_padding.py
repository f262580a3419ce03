"""Bytes that are no part of values are zeros in answers, whatever was in memory."""

import numpy as np
import pytest

from coquina.server.padding import without_padding

IS_EXTENDED = np.finfo(np.longdouble).nmant == 63
RECORDS = np.dtype({"names": ["a", "b"], "formats": ["i1", ("f8", 2)], "offsets": [3, 16], "itemsize": 64})
NESTED = np.dtype([("a", "i2"), ("b", RECORDS)])
#: Bytes of an item that are no part of it.
PADDING = [
    (RECORDS, [*range(3), *range(4, 16), *range(32, 64)]),
    (NESTED, [*range(2, 5), *range(6, 18), *range(34, 66)]),
    *([("g", range(10, 16)), (">g", range(6)), ("G", [*range(10, 16), *range(26, 32)])] * IS_EXTENDED),
]


@pytest.mark.parametrize(("dtype", "padding"), PADDING, ids=str)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
def test_equal_values_have_equal_bytes(dtype: object, padding: list[int], shape: tuple[int, ...]) -> None:
    dtype = np.dtype(dtype)
    items = np.zeros((*shape, dtype.itemsize), "u1")
    items[..., [at for at in range(dtype.itemsize) if at not in padding]] = 63
    wanted = items.tobytes()
    items[..., list(padding)] = 255
    values = items.view(np.dtype((np.void, dtype.itemsize)))[..., 0].view(dtype)
    assert values.tobytes() != wanted
    assert without_padding(values).tobytes() == wanted
    assert (without_padding(values).dtype, without_padding(values).shape) == (dtype, shape)


@pytest.mark.parametrize("dtype", ["f8", "c16", "i2,f8", "S3"])
def test_values_without_padding_are_not_copied(dtype: str) -> None:
    values = np.zeros(3, dtype)
    assert without_padding(values) is values
