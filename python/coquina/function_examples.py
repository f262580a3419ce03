"""Examples for the docstrings of functions that are made from tables: what is called, and what comes of it.

In: nothing. Out: by the name of a function a call and its result. `tests/test_docstrings.py` runs them all.
"""

from __future__ import annotations

EXAMPLES: dict[str, tuple[str, str]] = {
    "abs": (
        "cq.abs([-1.5, 2.5])[:]",
        "array([1.5, 2.5])",
    ),
    "acos": (
        "cq.acos([1.0, 0.0])[:]",
        "array([0.        , 1.57079633])",
    ),
    "acosh": (
        "cq.acosh([1.0, 2.0])[:]",
        "array([0.       , 1.3169579])",
    ),
    "asin": (
        "cq.asin([0.0, 1.0])[:]",
        "array([0.        , 1.57079633])",
    ),
    "asinh": (
        "cq.asinh([0.0, 1.0])[:]",
        "array([0.        , 0.88137359])",
    ),
    "atan": (
        "cq.atan([0.0, 1.0])[:]",
        "array([0.        , 0.78539816])",
    ),
    "atanh": (
        "cq.atanh([0.0, 0.5])[:]",
        "array([0.        , 0.54930614])",
    ),
    "bitwise_count": (
        "cq.bitwise_count([1, 7, 255])[:]",
        "array([1, 3, 8], dtype=uint8)",
    ),
    "bitwise_invert": (
        "cq.bitwise_invert([0, 5])[:]",
        "array([-1, -6])",
    ),
    "cbrt": (
        "cq.cbrt([8.0, 27.0])[:]",
        "array([2., 3.])",
    ),
    "ceil": (
        "cq.ceil([-1.5, 2.5])[:]",
        "array([-1.,  3.])",
    ),
    "conj": (
        "cq.conj([1 + 2j, 3])[:]",
        "array([1.-2.j, 3.-0.j])",
    ),
    "cos": (
        "cq.cos([-1.5, 2.5])[:]",
        "array([ 0.0707372 , -0.80114362])",
    ),
    "cosh": (
        "cq.cosh([-1.5, 2.5])[:]",
        "array([2.35240962, 6.13228948])",
    ),
    "deg2rad": (
        "cq.deg2rad([0.0, 180.0])[:]",
        "array([0.        , 3.14159265])",
    ),
    "exp": (
        "cq.exp([0.0, 1.0])[:]",
        "array([1.        , 2.71828183])",
    ),
    "exp2": (
        "cq.exp2([3, 0.5])[:]",
        "array([8.        , 1.41421356])",
    ),
    "expm1": (
        "cq.expm1([0.0, 1e-10])[:]",
        "array([0.e+00, 1.e-10])",
    ),
    "fabs": (
        "cq.fabs([-1.5, 2.5])[:]",
        "array([1.5, 2.5])",
    ),
    "floor": (
        "cq.floor([-1.5, 2.5])[:]",
        "array([-2.,  2.])",
    ),
    "imag": (
        "cq.imag([1 + 2j, 3])[:]",
        "array([2., 0.])",
    ),
    "isfinite": (
        "cq.isfinite([1.0, float('inf')])[:]",
        "array([ True, False])",
    ),
    "isinf": (
        "cq.isinf([1.0, float('inf')])[:]",
        "array([False,  True])",
    ),
    "isnan": (
        "cq.isnan([1.0, float('nan')])[:]",
        "array([False,  True])",
    ),
    "isnat": (
        "cq.isnat(np.array(['2026-01-01', 'NaT'], 'M8[D]'))[:]",
        "array([False,  True])",
    ),
    "log": (
        "cq.log([1.0, 10.0])[:]",
        "array([0.        , 2.30258509])",
    ),
    "log10": (
        "cq.log10([1.0, 1000.0])[:]",
        "array([0., 3.])",
    ),
    "log1p": (
        "cq.log1p([0.0, 1e-10])[:]",
        "array([0.e+00, 1.e-10])",
    ),
    "log2": (
        "cq.log2([1.0, 8.0])[:]",
        "array([0., 3.])",
    ),
    "logical_not": (
        "cq.logical_not([0, 1, 2])[:]",
        "array([ True, False, False])",
    ),
    "negative": (
        "cq.negative([-1.5, 2.5])[:]",
        "array([ 1.5, -2.5])",
    ),
    "positive": (
        "cq.positive([-1.5, 2.5])[:]",
        "array([-1.5,  2.5])",
    ),
    "rad2deg": (
        "cq.rad2deg([0.0, 1.0])[:]",
        "array([ 0.        , 57.29577951])",
    ),
    "real": (
        "cq.real([1 + 2j, 3])[:]",
        "array([1., 3.])",
    ),
    "reciprocal": (
        "cq.reciprocal([2.0, 4.0])[:]",
        "array([0.5 , 0.25])",
    ),
    "rint": (
        "cq.rint([-1.5, 2.5])[:]",
        "array([-2.,  2.])",
    ),
    "sign": (
        "cq.sign([-3, 0, 5])[:]",
        "array([-1,  0,  1])",
    ),
    "signbit": (
        "cq.signbit([1.0, -0.0])[:]",
        "array([False,  True])",
    ),
    "sin": (
        "cq.sin([-1.5, 2.5])[:]",
        "array([-0.99749499,  0.59847214])",
    ),
    "sinh": (
        "cq.sinh([-1.5, 2.5])[:]",
        "array([-2.12927946,  6.05020448])",
    ),
    "spacing": (
        "cq.spacing([1.0])[:]",
        "array([2.22044605e-16])",
    ),
    "sqrt": (
        "cq.sqrt([4.0, 9.0])[:]",
        "array([2., 3.])",
    ),
    "square": (
        "cq.square([2, 3])[:]",
        "array([4, 9])",
    ),
    "tan": (
        "cq.tan([-1.5, 2.5])[:]",
        "array([-14.10141995,  -0.7470223 ])",
    ),
    "tanh": (
        "cq.tanh([-1.5, 2.5])[:]",
        "array([-0.90514825,  0.9866143 ])",
    ),
    "trunc": (
        "cq.trunc([-1.5, 2.5])[:]",
        "array([-1.,  2.])",
    ),
    "add": (
        "cq.add([1, 5], [3, 2])[:]",
        "array([4, 7])",
    ),
    "atan2": (
        "cq.atan2([0.0, 1.0], [1.0, 0.0])[:]",
        "array([0.        , 1.57079633])",
    ),
    "bitwise_and": (
        "cq.bitwise_and([6, 5], 3)[:]",
        "array([2, 1])",
    ),
    "bitwise_left_shift": (
        "cq.bitwise_left_shift([1, 3], 2)[:]",
        "array([ 4, 12])",
    ),
    "bitwise_or": (
        "cq.bitwise_or([6, 5], 3)[:]",
        "array([7, 7])",
    ),
    "bitwise_right_shift": (
        "cq.bitwise_right_shift([8, 12], 2)[:]",
        "array([2, 3])",
    ),
    "bitwise_xor": (
        "cq.bitwise_xor([6, 5], 3)[:]",
        "array([5, 6])",
    ),
    "copysign": (
        "cq.copysign([1.0, 2.0], -1.0)[:]",
        "array([-1., -2.])",
    ),
    "divide": (
        "cq.divide([3, 8], 2)[:]",
        "array([1.5, 4. ])",
    ),
    "equal": (
        "cq.equal([1, 5], [3, 2])[:]",
        "array([False, False])",
    ),
    "float_power": (
        "cq.float_power([2, 3], 2)[:]",
        "array([4., 9.])",
    ),
    "floor_divide": (
        "cq.floor_divide([7, -7], 2)[:]",
        "array([ 3, -4])",
    ),
    "fmax": (
        "cq.fmax([1.0, float('nan')], 0.5)[:]",
        "array([1. , 0.5])",
    ),
    "fmin": (
        "cq.fmin([1.0, float('nan')], 2.0)[:]",
        "array([1., 2.])",
    ),
    "fmod": (
        "cq.fmod([7, -7], 3)[:]",
        "array([ 1, -1])",
    ),
    "gcd": (
        "cq.gcd([12, 18], 8)[:]",
        "array([4, 2])",
    ),
    "greater": (
        "cq.greater([1, 5], [3, 2])[:]",
        "array([False,  True])",
    ),
    "greater_equal": (
        "cq.greater_equal([1, 5], [3, 2])[:]",
        "array([False,  True])",
    ),
    "heaviside": (
        "cq.heaviside([-1.0, 0.0, 2.0], 0.5)[:]",
        "array([0. , 0.5, 1. ])",
    ),
    "hypot": (
        "cq.hypot([3.0, 5.0], [4.0, 12.0])[:]",
        "array([ 5., 13.])",
    ),
    "lcm": (
        "cq.lcm([4, 6], 10)[:]",
        "array([20, 30])",
    ),
    "ldexp": (
        "cq.ldexp([1.0, 3.0], [2, 3])[:]",
        "array([ 4., 24.])",
    ),
    "less": (
        "cq.less([1, 5], [3, 2])[:]",
        "array([ True, False])",
    ),
    "less_equal": (
        "cq.less_equal([1, 5], [3, 2])[:]",
        "array([ True, False])",
    ),
    "logaddexp": (
        "cq.logaddexp([0.0, 1.0], 0.0)[:]",
        "array([0.69314718, 1.31326169])",
    ),
    "logaddexp2": (
        "cq.logaddexp2([0.0, 1.0], 0.0)[:]",
        "array([1.       , 1.5849625])",
    ),
    "logical_and": (
        "cq.logical_and([0, 1], [1, 1])[:]",
        "array([False,  True])",
    ),
    "logical_or": (
        "cq.logical_or([0, 1], [0, 0])[:]",
        "array([False,  True])",
    ),
    "logical_xor": (
        "cq.logical_xor([0, 1], [1, 1])[:]",
        "array([ True, False])",
    ),
    "maximum": (
        "cq.maximum([1.0, 5.0], [3.0, 2.0])[:]",
        "array([3., 5.])",
    ),
    "minimum": (
        "cq.minimum([1.0, 5.0], [3.0, 2.0])[:]",
        "array([1., 2.])",
    ),
    "multiply": (
        "cq.multiply([1, 5], [3, 2])[:]",
        "array([ 3, 10])",
    ),
    "nextafter": (
        "cq.nextafter([1.0], 2.0)[:]",
        "array([1.])",
    ),
    "not_equal": (
        "cq.not_equal([1, 5], [3, 2])[:]",
        "array([ True,  True])",
    ),
    "pow": (
        "cq.pow([2, 3], 2)[:]",
        "array([4, 9])",
    ),
    "remainder": (
        "cq.remainder([7, -7], 3)[:]",
        "array([1, 2])",
    ),
    "subtract": (
        "cq.subtract([1, 5], [3, 2])[:]",
        "array([-2,  3])",
    ),
    "strings.capitalize": (
        "cq.strings.capitalize(np.array(['anna', 'BO']))[:]",
        "array(['Anna', 'Bo'], dtype='<U4')",
    ),
    "strings.isalnum": (
        "cq.strings.isalnum(np.array(['a1', 'a b']))[:]",
        "array([ True, False])",
    ),
    "strings.isalpha": (
        "cq.strings.isalpha(np.array(['ab', 'a1']))[:]",
        "array([ True, False])",
    ),
    "strings.isdecimal": (
        "cq.strings.isdecimal(np.array(['12', 'a1']))[:]",
        "array([ True, False])",
    ),
    "strings.isdigit": (
        "cq.strings.isdigit(np.array(['12', 'a1']))[:]",
        "array([ True, False])",
    ),
    "strings.islower": (
        "cq.strings.islower(np.array(['ab', 'Ab']))[:]",
        "array([ True, False])",
    ),
    "strings.isnumeric": (
        "cq.strings.isnumeric(np.array(['12', 'a1']))[:]",
        "array([ True, False])",
    ),
    "strings.isspace": (
        "cq.strings.isspace(np.array(['  ', 'a ']))[:]",
        "array([ True, False])",
    ),
    "strings.istitle": (
        "cq.strings.istitle(np.array(['Ab Cd', 'ab']))[:]",
        "array([ True, False])",
    ),
    "strings.isupper": (
        "cq.strings.isupper(np.array(['AB', 'Ab']))[:]",
        "array([ True, False])",
    ),
    "strings.lower": (
        "cq.strings.lower(np.array(['AB', 'Cd']))[:]",
        "array(['ab', 'cd'], dtype='<U2')",
    ),
    "strings.lstrip": (
        "cq.strings.lstrip(np.array(['  ab ', 'c']))[:]",
        "array(['ab ', 'c'], dtype='<U5')",
    ),
    "strings.rstrip": (
        "cq.strings.rstrip(np.array(['ab  ', 'c']))[:]",
        "array(['ab', 'c'], dtype='<U4')",
    ),
    "strings.str_len": (
        "cq.strings.str_len(np.array(['ab', 'c']))[:]",
        "array([2, 1])",
    ),
    "strings.strip": (
        "cq.strings.strip(np.array([' ab ', 'c']))[:]",
        "array(['ab', 'c'], dtype='<U4')",
    ),
    "strings.swapcase": (
        "cq.strings.swapcase(np.array(['aB', 'Cd']))[:]",
        "array(['Ab', 'cD'], dtype='<U2')",
    ),
    "strings.title": (
        "cq.strings.title(np.array(['ab cd']))[:]",
        "array(['Ab Cd'], dtype='<U5')",
    ),
    "strings.upper": (
        "cq.strings.upper(np.array(['ab', 'Cd']))[:]",
        "array(['AB', 'CD'], dtype='<U2')",
    ),
    "strings.contains": (
        "cq.strings.contains(np.array(['banana', 'cab']), 'a')[:]",
        "array([ True,  True])",
    ),
    "strings.count": (
        "cq.strings.count(np.array(['banana', 'cab']), 'a')[:]",
        "array([3, 1])",
    ),
    "strings.endswith": (
        "cq.strings.endswith(np.array(['banana', 'cab']), 'a')[:]",
        "array([ True, False])",
    ),
    "strings.find": (
        "cq.strings.find(np.array(['banana', 'cab']), 'a')[:]",
        "array([1, 1])",
    ),
    "strings.rfind": (
        "cq.strings.rfind(np.array(['banana', 'cab']), 'a')[:]",
        "array([5, 1])",
    ),
    "strings.startswith": (
        "cq.strings.startswith(np.array(['banana', 'cab']), 'a')[:]",
        "array([False, False])",
    ),
    "sum": (
        "cq.sum([[1, 5], [4, 2]], axis=0)",
        "array([5, 7])",
    ),
    "prod": (
        "cq.prod([[1, 5], [4, 2]], axis=0)",
        "array([ 4, 10])",
    ),
    "min": (
        "cq.min([[1, 5], [4, 2]], axis=0)",
        "array([1, 2])",
    ),
    "max": (
        "cq.max([[1, 5], [4, 2]], axis=0)",
        "array([4, 5])",
    ),
    "argmin": (
        "cq.argmin([[1, 5], [4, 2]], axis=0)",
        "array([0, 1])",
    ),
    "argmax": (
        "cq.argmax([[1, 5], [4, 2]], axis=0)",
        "array([1, 0])",
    ),
    "any": (
        "cq.any([[True, False], [True, True]], axis=0)",
        "array([ True,  True])",
    ),
    "all": (
        "cq.all([[True, False], [True, True]], axis=0)",
        "array([ True, False])",
    ),
    "mean": (
        "cq.mean([[1, 5], [4, 2]], axis=0)",
        "array([2.5, 3.5])",
    ),
    "var": (
        "cq.var([[1, 5], [4, 2]], axis=0)",
        "array([2.25, 2.25])",
    ),
    "std": (
        "cq.std([[1, 5], [4, 2]], axis=0)",
        "array([1.5, 1.5])",
    ),
    "nansum": (
        "cq.nansum([[1.0, float('nan')], [3.0, 2.0]], axis=0)",
        "array([4., 2.])",
    ),
    "nanprod": (
        "cq.nanprod([[1.0, float('nan')], [3.0, 2.0]], axis=0)",
        "array([3., 2.])",
    ),
    "nanmin": (
        "cq.nanmin([[1.0, float('nan')], [3.0, 2.0]], axis=0)",
        "array([1., 2.])",
    ),
    "nanmax": (
        "cq.nanmax([[1.0, float('nan')], [3.0, 2.0]], axis=0)",
        "array([3., 2.])",
    ),
    "nanargmin": (
        "cq.nanargmin([[1.0, float('nan')], [3.0, 2.0]], axis=0)",
        "array([0, 1])",
    ),
    "nanargmax": (
        "cq.nanargmax([[1.0, float('nan')], [3.0, 2.0]], axis=0)",
        "array([1, 1])",
    ),
    "nanmean": (
        "cq.nanmean([[1.0, float('nan')], [3.0, 2.0]], axis=0)",
        "array([2., 2.])",
    ),
    "nanvar": (
        "cq.nanvar([[1.0, float('nan')], [3.0, 2.0]], axis=0)",
        "array([1., 0.])",
    ),
    "nanstd": (
        "cq.nanstd([[1.0, float('nan')], [3.0, 2.0]], axis=0)",
        "array([1., 0.])",
    ),
}
