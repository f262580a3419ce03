"""Expressions as text: what they mean, and that nothing else gets through."""

from __future__ import annotations

import ast
import operator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coquina as cq
from coquina.expressions.grammar import DEPTH_MAX, TEXT_MAX
from coquina.expressions.text import ExpressionError, expr
from tests.expression_cases import check

U = np.linspace(-3, 9, 24).reshape(4, 6)
V = np.arange(-5, 19, dtype="i4").reshape(4, 6)
F = np.linspace(0, 1, 6, dtype="f4")
M = V % 3 == 0
Z = U + 1j * V
S = np.array(["", "ab", "b", "abc", "ba", "c"])
T = np.array("2020-01-01", "M8[D]") + np.arange(6)
OPERANDS = {"u": U, "v": V, "f": F, "m": M, "z": Z, "s": S, "t": T, "k": 3, "x": 0.5}

# What NumPy makes of the same text is what `eval` gives where the names are NumPy's.
SAME = """
u + v * 2 - 1
-u ** 2
u ** 2 / 3 + v // 4 % 3
(u + 1) * (v - 1)
f * 2
f * (1 + 1.5)
f + k * x
2 * 3 * f - 2 ** 3
v & 6 | 1 ^ v
~v << 1 >> 2
~m
u > v
(u > 1) & (v < 5) | m
sqrt(u ** 2 + v ** 2)
where(m, u, -u)
where(u > 0, u, 0)
hypot(u, v) <= 5
maximum(u, f) * pi + e
isnan(u / 0) | isinf(v / 0)
z.real + z.imag
conj(z) * z
u.T + 1
u[1:3, ::-2] * 2
u[-1] + f
u[..., None] - f[None, :2]
v[2, 3] + u
s == "ab"
s >= "b"
s != s[1]
t - t[0]
mean(u, axis=0) - f
u - mean(u)
sum(v, axis=(0, 1), keepdims=True) + v
u / std(u, axis=1, keepdims=True)
round(u, 1) + 0
clip(u, 0, 5)
clip(u, None, 5)
sin(u) + cos(u) * exp(-u) + log1p(abs(u))
arctan2(u, v + 20)
v % 3 == 0
+u - -v
1 + 2 * k
sqrt(2) * f
True & m
inf > u
""".strip().splitlines()
SAME += ["(u\n  + v)", "  u + 1 ", "u\t+\t1"]


@pytest.mark.parametrize("text", SAME)
def test_a_text_means_what_python_and_numpy_make_of_it(text):
    names = {**vars(np), **OPERANDS, "pi": np.pi, "e": np.e, "inf": np.inf, "abs": abs, "round": np.round}
    with np.errstate(all="ignore"):
        wanted = eval(text.strip(), {"__builtins__": {}, "True": True}, names)
    mine = {name: cq.asarray(x) if isinstance(x, np.ndarray) else x for name, x in OPERANDS.items()}
    for operands in (mine, OPERANDS):
        found = expr(text, **operands)
        assert isinstance(found, cq.Expr)
        check(found, wanted)


def test_what_numpy_writes_otherwise():
    check(expr("0 < u < v", u=U, v=V), (U > 0) & (U < V))
    check(expr("m and not v or u", m=M, v=V, u=U), np.logical_or(np.logical_and(M, np.logical_not(V)), U))
    check(expr("1 < 2 and 3 > x", x=0.5), np.True_)
    check(
        expr("startswith(s, 'a') | contains(s, 'c')", s=S),
        np.strings.startswith(S, "a") | (np.strings.find(S, "c") >= 0),
    )
    check(expr("str_len(upper(s))", s=S), np.strings.str_len(S))
    check(expr("astype(v, 'f4') / 2", v=V), V.astype("f4") / 2)
    check(expr("isclose(u, v, atol=1)", u=U, v=V), np.isclose(U, V, atol=1))


def test_numbers_stay_weak_and_are_computed_by_python():
    assert expr("f * (2 ** 3 - 1.5)", f=F).dtype == "f4"
    assert expr("v + 10 // 3", v=V.astype("i1")).dtype == "i1"
    assert expr("2 ** 62 * 4 // 2 ** 60")[()] == 16  # not in 64 bits on the way


def test_nothing_is_computed_yet_and_operands_are_followed():
    a = cq.asarray(np.zeros(30_000))
    e = expr("a * 2 + a[0]", a=a)
    a[...] = 1
    assert e[7] == 3
    assert e.operands[0] is a


BAD = {
    "": "empty",
    "   ": "empty",
    "u +": "invalid syntax",
    "u v": "invalid syntax",
    "(u": "never closed",
    "w + u": "'w' is not an operand",
    "sin": "needs brackets",
    "sin u": "invalid syntax",
    "nothing(u)": "not a function",
    "sin(u, u)": "takes 1 operands, not 2",
    "sin()": "takes 1 operands, not 0",
    "sin(u, axis=0)": "no options",
    "mean(u, out=u)": "no option 'out'",
    "mean(u, axis=v)": "only a constant",
    "mean(u, **k)": "no option None",
    "mean(*u)": r"'\*'",
    "u.shape": "attributes",
    "u.__class__.__mro__": "attributes",
    "u.T.__array__()": "only functions",
    "().__class__": "attributes",
    "__import__('os').system('true')": "only functions",
    "(lambda: 1)()": "only functions",
    "lambda: 1": "lambda",
    "[u for u in u]": "comprehension",
    "[u, v]": "list",
    "{u}": "set",
    "{'u': u}": "dict",
    "(u, v)": "tuple",
    "f'{u}'": "f-string",
    "(y := u)": "':='",
    "u if v else 1": "where",
    "u in v": "operators of items",
    "u is v": "operators of items",
    "u @ v": "operator of items",
    "u[v]": "only a constant",
    "u[v > 1]": "only a constant",
    "u['a']": "integers and slices",
    "u[1.5]": "integers and slices",
    "k[0]": "no parts",
    "...": "Ellipsis",
    "None": "None",
    "9 ** 9 ** 9": "bits",
    "1 << 99999": "bits",
    "True << 99999": "bits",
    "yield u": "yield|invalid syntax",
    "await u": "await|invalid syntax",
    "u; v": "invalid syntax",
    "u = v": "written ==",
    "u > 1 && v > 1": "write and for &&",
    "u > 1 || v > 1": r"write or for \|\|",
    "u > 1 AND v > 1": "write and for AND",
    "u <> v": "write != for <>",
    "u like 'a'": "startswith",
    "import os": "invalid syntax",
    "u\x00": "null",
    "u # v\n+ v": "invalid syntax",
    "print(u)": "not a function",
    "eval('1')": "not a function",
    "where.real(u)": "only functions",
}


@pytest.mark.parametrize("text", BAD)
def test_a_bad_text_is_refused(text):
    with pytest.raises(ExpressionError, match=BAD[text]) as error:
        expr(text, u=U, v=V, k=3)
    assert isinstance(error.value, (cq.CoquinaError, ValueError))
    assert isinstance(error.value, ValueError)


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("u + w * 2", "w"),
        ("ü + w", "w"),
        ("   sin(u) + cos(u, u)", "cos(u, u)"),
        ("u +\n  nope(u)", "nope"),
        ("mean(u, deg=3)", "deg=3"),
        ("u[0] + u.shape", "u.shape"),
    ],
)
def test_an_error_shows_the_place(text, marked):
    with pytest.raises(ExpressionError) as error:
        expr(text, u=U, **{"ü": U})
    _, line, caret = str(error.value).splitlines()
    start = caret.index("^")
    assert line[start : start + caret.count("^")] == marked
    assert text.replace("\n", " ")[error.value.column :].startswith(marked)


def test_errors_of_numpy_have_a_note_of_the_place():
    with pytest.raises(ValueError, match="broadcast") as error:
        expr("1 + (u * v)", u=U, v=np.zeros(5))
    assert "^^^^^" in error.value.__notes__[0]
    with pytest.raises(TypeError):
        expr("s * u", s=S, u=U)
    with pytest.raises(ZeroDivisionError):
        expr("u + 1 / 0", u=U)
    with pytest.raises(IndexError):
        expr("u[99]", u=U)
    with pytest.raises(TypeError, match="not a str"):
        expr(3)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5000 + "u" + ")" * 5000,
        "(" * 90 + "u" + ")" * 90 + "+",
        "-" * 5000 + "u",
        "~" * (DEPTH_MAX + 9) + "v",
        "sin(" * (DEPTH_MAX + 9) + "u" + ")" * (DEPTH_MAX + 9),
        "u**" * 3000 + "u",
        "[" * 5000,
        "u" * (TEXT_MAX + 1),
        "9" * 10_000,
        "'" + "a" * 10_000,
        "u" + "[0]" * 3000,
        "u" + ".T" * 3000,
        "not " * 2000 + "u",
        "u < " * 20 + "(" * 300,
    ],
)
def test_texts_that_would_exhaust_something_are_refused(text):
    with pytest.raises(ExpressionError):
        expr(text, u=U, v=V)


def test_long_sums_are_read():
    assert np.array_equal(expr("v" + " + v" * 500, v=V)[...], V * 501)


def test_strings_are_not_multiplied_or_formatted():
    for text in ("'a' * 999999999", "'%999999999s' % 'a'", "'a' + 1"):
        with pytest.raises((TypeError, ValueError)):
            expr(text)


ATOMS = [
    "u",
    "v",
    "k",
    "1",
    "0.5",
    "-2",
    "'a'",
    "True",
    "pi",
    "w",
    "...",
    "None",
    "os",
    "__class__",
    "1j",
    "[]",
]
JOINTS = [
    "+",
    "-",
    "*",
    "/",
    "**",
    "<",
    "==",
    "&",
    "and",
    "or",
    "@",
    ",",
    ".",
    "in",
    "if",
    ":=",
    ";",
    "<<",
    "(",
]


@settings(max_examples=300)
@given(
    st.lists(
        st.sampled_from([*ATOMS, *JOINTS, ")", "[", "]", "sin(", "mean(", "not", "lambda:", "\n", "#"]),
        max_size=9,
    )
)
def test_any_words_give_an_expression_or_an_error(words):
    with np.errstate(all="ignore"):
        try:
            found = expr(" ".join(words), u=U[0], v=V[0], k=3)
        except (ExpressionError, TypeError, ValueError, ArithmeticError, IndexError):
            return
    assert isinstance(found, cq.Expr)
    assert isinstance(ast.parse(" ".join(words).strip().replace("\n", " "), mode="eval"), ast.Expression)


@settings(max_examples=200)
@given(st.text(max_size=40))
def test_any_text_gives_an_expression_or_an_error(text):
    with np.errstate(all="ignore"):
        try:
            expr(text, u=U, v=V)
        except (ExpressionError, TypeError, ValueError, ArithmeticError):
            return


@st.composite
def sums(draw):
    """Draw text of operators on three names, which both read."""
    parts = draw(st.lists(st.sampled_from(["u", "v", "f", "2", "1.5"]), min_size=1, max_size=6))
    joints = draw(st.lists(st.sampled_from(["+", "-", "*", "/", "//", "%"]), min_size=6, max_size=6))
    return "".join(f"{part} {joint} " for part, joint in zip(parts, joints, strict=False)) + "v"


@settings(max_examples=100)
@given(sums())
def test_precedence_is_that_of_python(text):
    with np.errstate(all="ignore"):
        wanted = eval(text, {"u": U, "v": V, "f": F})
        check(expr(text, u=cq.asarray(U), v=cq.asarray(V), f=F), wanted)
    assert operator.index(wanted.ndim) == 2
