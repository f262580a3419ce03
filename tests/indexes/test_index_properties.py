"""The law of indexes: whatever happens to a table, answers are those of a scan, which are NumPy's."""

import tempfile
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.indexes.property_world import World, small_parts

# NumPy's own fill value for a masked record is too large for a field of 16 bits.
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered in cast:RuntimeWarning")

#: Rows at most, about; steps of a world; whether spans, zones and the like are of few rows.
SMALL, LARGE = (6000, 12, True), (200_000, 5, False)


def lived(seed: int, most: int, steps: int, is_small: bool) -> World:
    """Let a table live, and check it all the time."""
    with tempfile.TemporaryDirectory() as folder, small_parts() if is_small else nullcontext():
        world = World(seed, Path(folder), most)
        try:
            for _ in range(world.pick.randint(1, 3)):
                world.index()
            world.look()
            for _ in range(steps):
                world.step()
                if world.pick.random() < 0.6:
                    world.look()
            world.reopen()
            world.look()
        except Exception as error:
            error.add_note(f"seed {seed}:\n" + "\n".join(world.log))
            raise
        finally:
            world.close()
        return world


def check(seeds: range, most: int, steps: int, is_small: bool) -> None:
    """Check that indexes were used by a good part of what was asked."""
    asked = used = ordered = 0
    for seed in seeds:
        world = lived(seed, most, steps, is_small)
        asked, used, ordered = asked + world.asked, used + world.used, ordered + world.ordered
    assert used > asked / 5
    assert ordered > asked / 20


@pytest.mark.parametrize("block", range(4))
def test_answers_are_those_of_numpy(block: int) -> None:
    check(range(10 * block, 10 * block + 10), *SMALL)


def test_answers_of_many_rows_are_those_of_numpy() -> None:
    check(range(4), *LARGE)


@pytest.mark.long
@pytest.mark.parametrize("block", range(40))
def test_very_many_answers_are_those_of_numpy(block: int) -> None:
    check(range(1000 + 50 * block, 1050 + 50 * block), *SMALL)
    # Of two lives, by chance, none may ask for an order.
    for seed in range(1000 + 2 * block, 1002 + 2 * block):
        lived(seed, *LARGE)
