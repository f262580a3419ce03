"""Keys are in the order of values, and the engine sorts and finds them as NumPy does."""

import hypothesis.extra.numpy as hnp
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from coquina import _core
from coquina.indexes.keys import kind_of
from tests.reference import indexes as reference
from tests.reference.keys import keys_of

_NUMBERS = [*"bhiqBHIQfd", "?", "M8[us]", "m8[s]"]


@given(st.sampled_from(_NUMBERS).flatmap(lambda code: hnp.arrays(code, st.integers(0, 40))))
def test_keys_are_in_the_order_of_values(values):
    kind = kind_of(values.dtype)
    keys, missing = keys_of(values, kind)
    np.testing.assert_array_equal(missing, values != values)
    keys, values = keys[~missing], values[~missing]
    np.testing.assert_array_equal(keys[:, None] < keys, values[:, None] < values)
    np.testing.assert_array_equal(keys[:, None] == keys, values[:, None] == values)


@given(st.lists(st.text(max_size=12), max_size=30))
def test_keys_of_text_are_in_order(texts):
    items = np.array(texts, object)
    for kind, given_ in (("text", texts), ("U", np.array(texts, "U")), ("S", np.array(texts, "U"))):
        keys = keys_of(np.strings.encode(given_, "utf-8") if kind == "S" else given_, kind)[0]
        plain = np.array([one.rstrip("\0") for one in texts], object) if kind != "text" else items
        less = plain[:, None] < plain
        assert (keys[:, None] <= keys)[less].all()


# The engine, and its judge


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["b", "q", "B", "Q", "f", "d", "?", "M8[s]", "S5", "U3"]),
    st.integers(0, 300),
    st.integers(0, 2**32),
    st.sampled_from([1, 7]),
)
def test_the_engine_sorts_and_finds_as_numpy(tmp_path_factory, code, count, seed, bucket_rows):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 256, (count, np.dtype(code).itemsize), np.uint8)
    if code == "U3":
        values = rng.integers(97, 123, (count, 3)).astype("<u4")
    elif code == "?":
        values &= 1
    values = np.ascontiguousarray(values).view(code).reshape(-1)
    kind = kind_of(values.dtype)
    mask = rng.random(count) < 0.2
    raw = values.view("i8") if kind == "time" else values
    ranges = [(0, count // 3), (count // 2, count)]
    folder = str(tmp_path_factory.getbasetemp())
    runs = []
    for engine in (_core, reference):
        lazies = [_core.lazy_memory(np.ascontiguousarray(one)) for one in (raw, mask)]
        sort = engine.IndexSort(
            lazies[0], kind, lazies[1], ranges, memory_limit=1 << 20, folder=folder, bucket_rows=bucket_rows,
            block_entries=16,
        )  # fmt: skip
        parts = []
        while (part := sort.next()) is not None:
            parts.append(part)
        missing = np.asarray(sort.missing)
        columns = [np.concatenate([np.empty(0, "u8"), *[one[at] for one in parts]]) for at in range(4)]
        runs.append((sort.entries, missing, columns))
    (entries, missing, columns), (wanted, gone, others) = runs
    assert entries == wanted
    np.testing.assert_array_equal(missing, gone)
    for mine, theirs in zip(columns, others, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    rows = np.concatenate([columns[1], missing // bucket_rows]).astype("u4")
    made = [
        engine.IndexRun(
            _core.lazy_memory(columns[0].astype("u2")), _core.lazy_memory(rows), columns[2].astype("u8"),
            columns[3].astype("u1"), entries, len(missing), 16,
        )
        for engine in (_core, reference)
    ]  # fmt: skip
    all_keys, gone = keys_of(values, kind)
    has_key = ~gone & ~mask & np.isin(np.arange(count), [row for one in ranges for row in range(*one)])
    keys = np.unique(all_keys)
    for _ in range(4 if len(keys) else 0):
        ends = np.unique(rng.choice(keys, 4))
        low, high = (ends[::2], ends[1::2]) if len(ends) % 2 == 0 else (ends, ends)
        in_range = ((all_keys[:, None] >= low) & (all_keys[:, None] <= high)).any(1) & has_key
        ranges = _core.KeyRanges(low, high)
        hits = set((np.flatnonzero(in_range) // bucket_rows).tolist())
        for one in made:
            sure, unsure = one.find(ranges)
            assert set(sure.tolist()) <= hits <= {*sure.tolist(), *unsure.tolist()}
            assert (np.diff(sure) > 0).all()
            assert (np.diff(unsure) > 0).all()
            counts = one.count(ranges)
            assert counts[0] <= np.count_nonzero(in_range) <= sum(counts) <= one.estimate(ranges)
        assert sum(made[0].count(ranges)) <= sum(made[1].count(ranges))
    np.testing.assert_array_equal(made[0].rows_at(0, len(rows)), rows)
