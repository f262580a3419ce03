"""Any text at all is a condition or one of three errors, and nothing of it is run."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coquina.expressions.grammar import ExpressionError
from coquina.expressions.nodes import Node
from coquina.tables.conditions import condition
from tests.tables.column_cases import Model
from tests.tables.test_conditions import CONDITIONS, ERRORS

MODEL = Model(1, 60)
COLUMNS = MODEL.columns
N = MODEL.count
SOME = np.arange(N)
SEEDS = [one[0] for one in CONDITIONS] + [one[0] for one in ERRORS if len(one[0]) < 60]
WORDS = r"""
i1 f8 text ntext info info.nint pos date enum s u8 b nbool col k ( ) [ ] , . : & | ~ ^ and or not in is
null None True < <= == != > >= + - * ** / // % << >> 1 2.5 1e400 -1 'a' "b" b'c' 2**63 startswith isin
where sqrt abs round sum lambda := if else for { } @ ; = \\ # __class__ __import__ exec eval open complex
inf nan 9999999999 contains(text,'a') isnull(f8) (1,2) (1,None) pos[0,1] '2020-01-01'
"""
TOKENS = [*WORDS.split(), "\n", "\0", "\ud800", "\u00e9"]


def mutated(pick: random.Random) -> str:
    """Return text that is nearly a condition, or none at all."""
    if pick.random() < 0.3:
        return " ".join(pick.choices(TOKENS, k=pick.randint(1, 12)))
    text = pick.choice(SEEDS)
    for _ in range(pick.randint(1, 4)):
        at, end = sorted((pick.randint(0, len(text)), pick.randint(0, len(text))))
        change = pick.randrange(5)
        if change == 0:
            text = text[:at] + pick.choice(TOKENS) + text[at:]
        elif change == 1:
            text = text[:at] + text[end:]
        elif change == 2:
            text = (
                text[:at] + chr(pick.choice((pick.randrange(32, 127), pick.randrange(1, 0x3000)))) + text[at:]
            )
        elif change == 3:
            text = text[:at] + pick.choice(SEEDS) + text[end:]
        else:
            text = text[:end] + text[at:end] * pick.randint(1, 3) + text[end:]
    return text


def check_one(text: str) -> bool:
    """Read a text; return whether it is a condition. What it is must be a Node, or one of three errors."""
    try:
        node = condition(text, COLUMNS, {"k": [1, 2], "x": 1.5, "limit": SOME})
    except (ExpressionError, TypeError, ValueError):
        return False
    assert isinstance(node, Node)
    assert (node.shape, node.dtype) == ((N,), np.dtype(bool))
    return True


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(4))
def test_any_text_is_a_condition_or_an_error(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("eval", "exec", "open"):
        monkeypatch.setattr(f"builtins.{name}", None)
    pick = random.Random(seed)
    found = [check_one(mutated(pick)) for _ in range(2500)]
    assert any(found)
    assert not all(found)


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=300)
@given(st.text(max_size=60) | st.lists(st.sampled_from(TOKENS), max_size=15).map(" ".join))
def test_random_text_is_a_condition_or_an_error(text: str) -> None:
    check_one(text)
