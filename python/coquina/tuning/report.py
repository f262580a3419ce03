"""What a recommendation says to people: what was tried, what each reading touches, and what to write.

In: recommendations. Out: lines of text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coquina.arrays.aligning import aligned
from coquina.arrays.info import human
from coquina.quoting import quoted

if TYPE_CHECKING:
    from coquina.tuning.files import FileRecommendation
    from coquina.tuning.recommendation import Recommendation
    from coquina.tuning.shapes import Cut, Reading
    from coquina.tuning.ways import Trial
    from coquina.tuning_options import TuningInfo

#: So many ways are shown, and so many cuts; JSON has all of them.
_WAYS, _CUTS = 8, 3
#: Less than this `codec="auto"` need not save to be worth a word.
_SMALL = 0.02
_SMALL_RATIO = 1.1
_PLANES = 8


def explained(advice: Recommendation) -> str:
    """Return all that is to be said of the advice for an array."""
    what = f"{_name(advice.dtype)} {advice.shape}, {human(advice.nbytes)}"
    looked = f"sampled {human(advice.sample_bytes)} at {_count(advice.places, 'place')}"
    return "\n".join(
        [
            f"{quoted(advice.name)}: {what}; {looked}" if advice.name else f"{what}; {looked}",
            f"goal {described(advice.wanted)}",
            "",
            *_way_lines(advice),
            "",
            *_why_lines(advice),
            "",
            *_cut_lines(advice),
            "",
            call_of(advice),
        ]
    )


def explained_file(advice: FileRecommendation) -> str:
    """Return what is to be said of the advice for a file or a table."""
    count = _count(len(advice.parts), "array")
    head = f"{quoted(advice.name)}: {count}, {human(advice.nbytes)}, {advice.ratio:.2f}x"
    lines = [head, f"goal {described(advice.wanted)}", ""]
    if advice.parts:
        rows = [["", "shape", "chunks", "blocks", "codec", "filters", "ratio", "write", "read", "auto saves"]]
        for path, one in advice.parts.items():
            shapes = [_lengths(lengths) for lengths in (one.shape, one.chunks, one.blocks)]
            cells = cells_of(one.best)
            if path in advice.automatic:
                best = one.automatic
                speeds = [speed(best.write_mbs), speed(best.read_mbs)]
                cells = ["auto", "by chunk", ratio_text(best.ratio), *speeds]
            rows.append([quoted(path), *shapes, *cells, f"{max(one.automatic.saves, 0):.0%}"])
        lines += aligned(rows, right=6)
    if advice.skipped:
        lines += ["", "unchanged:"]
        lines += aligned([[f"  {quoted(path)}", quoted(reason)] for path, reason in advice.skipped.items()])
    return "\n".join(lines)


def described(wanted: TuningInfo) -> str:
    """Return a goal in words, and how fast the storage is taken to be for it."""
    goal = wanted.goal if isinstance(wanted.goal, str) else f"{wanted.goal:g}"
    use = {"both": "write and read", "read": "read", "write": "write"}[wanted.for_]
    rate = 125e6 if wanted.bandwidth is None else wanted.bandwidth
    times = "times measured here" if wanted.calibrate else "reference times"
    if wanted.goal == "size":
        return "size: only bytes count"
    counted = rate * 2 ** (4 * (1 - 2 * wanted.terms[0]))
    weight = "" if counted == rate else f", which counts as {speed(counted / 1e6)}"
    return f"{goal}: {use}, storage of {speed(rate / 1e6)}{weight}; {times}, one core"


def speed(mbs: float) -> str:
    """Return millions of bytes a second with a unit that fits."""
    return f"{mbs:.0f} MB/s" if mbs < 1000 else f"{mbs / 1000:.1f} GB/s"


def call_of(advice: Recommendation) -> str:
    """Return the call of Python that stores an array so."""
    options = ", ".join(f"{name}={value!r}" for name, value in advice.options.items())
    return f"asarray(x, {options})"


def cells_of(one: Trial) -> list[str]:
    """Return a way as cells of a table: codec, filters, ratio, speeds."""
    codec = "stored" if one.way.is_stored else f"{one.way.codec}-{one.way.level}"
    filters = "" if one.way.is_stored else one.way.pipeline
    return [codec, filters, ratio_text(one.ratio), speed(one.write_mbs), speed(one.read_mbs)]


def relative(cost: float, best: float) -> str:
    """Return a cost for each unit of the best one."""
    return f"{cost / best:.2f}" if best > 0 else "1.00" if cost <= 0 else "more"


def _way_lines(advice: Recommendation) -> list[str]:
    rows = [["codec", "filters", "ratio", "write", "read", "cost", "places"]]
    rows += [
        [*cells_of(one), relative(one.cost, advice.cost), f"{one.places}/{advice.places}"]
        for one in advice.tried[:_WAYS]
    ]
    left = len(advice.tried) - _WAYS
    more = [f"and {_count(left, 'candidate')} that cost more"] if left > 0 else []
    return [*aligned(rows, right=2), *more]


def reason(advice: Recommendation) -> str:
    """Return why the way to encode is advised."""
    best, *others = advice.tried
    if not others:
        return f"{best.way}: no other candidate was worth a trial"
    what = {"read": "reading", "write": "writing", "both": "writing, reading"}[advice.wanted.for_]
    least = "the smallest" if advice.wanted.goal == "size" else f"lowest time for {what} and storage"
    more = f"{max(others[0].cost / best.cost - 1, 0):.1%} more" if best.cost > 0 else "more"
    return f"{best.way}: {least} of {_count(len(others) + 1, 'candidate')}; the next costs {more}"


def _why_lines(advice: Recommendation) -> list[str]:
    """Return why this way was taken, and what it would be worth to choose for each chunk."""
    automatic, features = advice.automatic, advice.choice.features
    planes = [_bits(row) for row in (features.entropies, features.delta_entropies)]
    lines = [
        reason(advice),
        f"entropy of the bytes of an element, in bits: {planes[0]}; of differences: {planes[1]}",
        f"zero bytes: {features.zeros:.0%}; repeated elements: {features.repeats:.0%}",
    ]
    if features.uniform:
        lines.append(
            f"constant: {features.uniform:.0%} of the places, which codec='auto' stores in a few bytes"
        )
    if max(one.ratio for one in advice.tried) < _SMALL_RATIO and not advice.best.way.is_stored:
        lines.append("these data hardly compress; level=0 stores them uncompressed")
    ways = ", ".join(f"{name} {count}" for name, count in automatic.ways.items())
    if automatic.saves >= _SMALL:
        made = f"{ratio_text(automatic.ratio)}, {automatic.saves:.0%} less cost"
        return [*lines, f"codec='auto' would choose per chunk: {made}; choices: {ways}"]
    return [*lines, f"codec='auto' would save {max(automatic.saves, 0):.1%} of the cost; choices: {ways}"]


def _bits(planes: tuple[float, ...]) -> str:
    """Return the bits of information in the bytes of an item, of the first ones if it has many."""
    return " ".join([*[f"{bits:.1f}" for bits in planes[:_PLANES]], *(["..."] if planes[_PLANES:] else [])])


def ratio_text(ratio: float) -> str:
    """Return a ratio; of what nearly vanishes without digits that mean nothing."""
    return f"{ratio:.2f}x" if ratio < 100 else f"{ratio:.0f}x"


def _cut_lines(advice: Recommendation) -> list[str]:
    best, *others = advice.cuts
    uses = ", ".join(f"{use.word} x{use.weight:g}" if use.weight != 1 else use.word for use in advice.uses)
    what = _sizes(advice, best)
    if not others:
        return [f"chunks {best.chunks}, blocks {best.blocks} ({best.name}): {what}"]
    lines = [f"access: {uses}; {what}"]
    kept = [one for one in others if one.name in ("current", "default", "given")]
    shown = [best, *kept, *[one for one in others if one not in kept]][: max(_CUTS, 1 + len(kept))]
    rows = [["for", "chunks", "blocks", "read", "often", "blocks read", "decoded for needed", "time", "all"]]
    for one in shown:
        first = [one.name, _lengths(one.chunks), _lengths(one.blocks)]
        last = relative(one.seconds, best.seconds)
        for each in one.readings:
            rows.append([*first, *_reading_cells(each), last])
            first, last = ["", "", ""], ""
    left = len(advice.cuts) - len(shown)
    return [*lines, *aligned(rows, right=4), *([f"and {_count(left, 'chunking')} more"] if left > 0 else [])]


def _reading_cells(one: Reading) -> list[str]:
    amount = f"{human(one.decoded_bytes)} for {human(one.wanted_bytes)}"
    return [str(one.pattern), f"{one.often:.3g}", f"{one.blocks:.1f}", amount, _time(one.seconds)]


def _sizes(advice: Recommendation, cut: Cut) -> str:
    sizes: list[str] = []
    for what, lengths in (("chunk", cut.chunks), ("block", cut.blocks)):
        nbytes = advice.dtype.itemsize
        for length in lengths:
            nbytes *= length
        sizes.append(f"{human(nbytes)} a {what}")
    return ", ".join(sizes)


def _name(dtype: Any) -> str:
    return str(dtype) if dtype.names is None else f"records of {len(dtype.names)} fields"


def _lengths(lengths: tuple[int, ...]) -> str:
    return ",".join(map(str, lengths))


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _time(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:.3g} s"
    return f"{seconds * 1e3:.3g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.3g} us"
