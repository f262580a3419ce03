"""Every public name of the peers has the same name here, advice, or a line that says why there is none."""

import re

import pytest

from tests.interop import peer_names

EACH = pytest.mark.parametrize("walk", peer_names.WALKS, ids=lambda walk: walk.title)


@EACH
def test_all_names_of_the_peer_are_answered_once(walk):
    said = peer_names.answers(walk)
    left = {name for name in peer_names.other_names(walk) if name not in walk.advised}
    assert left - set(said) == set(), "names without an answer"
    unused = {name for name in said if name in walk.names} - left
    assert unused == set(), "lines for names that are answered otherwise"


@EACH
def test_answers_give_names_that_there_are(walk):
    for answer in peer_names.answers(walk).values():
        for of, path in re.findall(r"\b(a|t|f|cq|frame)\.([\w.]+)", answer):
            found = peer_names.OWNERS[of]
            if of == "f" and not hasattr(found, path.partition(".")[0]):
                found = peer_names.cq.hdf5.File
            for part in path.rstrip(".").split("."):
                if isinstance(found, property):
                    break
                found = getattr(found, part)


def test_lines_are_for_names_that_some_walk_has():
    names = {name for walk in peer_names.WALKS for name in walk.names}
    for walk in peer_names.WALKS:
        assert set(peer_names.answers(walk)) <= names
