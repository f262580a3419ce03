"""What the rows of each JSON come to: lines for the summary, each a comparison with one library.

In: rows as JSON has them. Out: `Line`s. Nothing is imported that has to be measured, so that the summary
can be made anew from what is stored.
A ratio is the other's time over ours: above 1, ours is faster. Of several the geometric mean is told, with
the worst and the best, and how many are below 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.common import harness

Row = Mapping[str, Any]
LARGEST = 80_000_000  # bytes; beyond it a chunk is told of apart
SMALL = 80_000
FRONT_CHUNKS = {("large", "compress"), ("large", "decompress")}
BLOSC2, TABLES = "python-blosc2", "PyTables"


@dataclass(frozen=True)
class Line:
    """A comparison. is_front: it is one of the main figures of the gallery."""

    work: str
    peer: str
    data: str
    ratios: Sequence[float]
    is_front: bool = False

    def stored(self) -> dict[str, object]:
        """As JSON has it."""
        return {
            "work": self.work,
            "peer": self.peer,
            "data": self.data,
            "cases": len(self.ratios),
            "mean": harness.geometric_mean(self.ratios),
            "worst": min(self.ratios),
            "best": max(self.ratios),
            "slower": sum(ratio < 1 for ratio in self.ratios),
            "front": self.is_front or None,
        }


def times(value: float) -> str:
    """A ratio as a reader says it."""
    return f"{harness.short(float(value))}x"


def table(lines: Iterable[tuple[str, Mapping[str, Any]]]) -> str:
    """Stored lines by study, as Markdown."""
    rows = []
    for study, line in lines:
        spread = f"{times(line['worst'])} to {times(line['best'])}" if line["cases"] > 1 else ""
        figures = [times(line["mean"]), spread, line["cases"], line["slower"]]
        rows.append([study, line["work"], line["peer"], *figures, line["data"]])
    header = ["study", "work", "compared with", "faster by", "worst to best", "cases", "slower in", "data"]
    return harness.markdown(header, rows)


def ratios(rows: Iterable[Row], peer: str) -> list[float]:
    """Of the rows that the peer took part in."""
    return [row["ratios"][peer] for row in rows if peer in row.get("ratios", {})]


def having(rows: Iterable[Row], **values: object) -> list[Row]:
    """The rows that have these values; of a set, one of them."""

    def fits(row: Row, name: str, value: object) -> bool:
        found = row.get(name)
        return found in value if isinstance(value, set | frozenset) else found == value

    return [row for row in rows if all(fits(row, name, value) for name, value in values.items())]


def lines_of(
    rows: Sequence[Row], work: str, peers: Iterable[str], data: str, front: Sequence[str] = ()
) -> Iterator[Line]:
    """A line for each peer; none for who took no part."""
    for peer in peers:
        if found := ratios(rows, peer):
            yield Line(work, peer, data, found, peer in front)


def chunk_engine(rows: Sequence[Row]) -> Iterator[Line]:
    """codecs: by operation, of large chunks and of small ones, and by filters on fields."""
    operations = {"compress": "compress", "decompress": "decompress", "into": "decompress into a buffer"}
    groups: dict[str, Callable[[Row], bool]] = {
        "large": lambda row: SMALL < row["nbytes"] <= LARGEST,
        "small": lambda row: row["nbytes"] <= SMALL,
        "huge": lambda row: row["nbytes"] > LARGEST,
    }
    for size, belongs in groups.items():
        some = [row for row in rows if belongs(row)]
        data = "wind, medium entropy" if size == "huge" else "real sets, ERA5-like, three entropies"
        for name, word in operations.items():
            if some:
                work = f"{word}, {sizes_of(some)}, every codec and filter"
                found = [row[name]["speedup"] for row in some]
                yield Line(work, BLOSC2, data, found, (size, name) in FRONT_CHUNKS)
    fields = [row for row in rows if row["data"].startswith("era5") and SMALL < row["nbytes"] <= LARGEST]
    for filters in dict.fromkeys(row["filters"] for row in fields):
        for name in ("compress", "decompress"):
            found = [row[name]["speedup"] for row in fields if row["filters"] == filters]
            yield Line(f"{name}, filters: {filters}", BLOSC2, "ERA5-like fields", found)


def sizes_of(rows: Sequence[Row]) -> str:
    """From the smallest to the largest, as a reader says it."""
    sizes = [row["nbytes"] for row in rows]
    if max(sizes) < 1_000_000:
        return f"{max(sizes) / 1e3:.0f} KB"
    few, many = f"{min(sizes) / 1e6:.0f}", f"{max(sizes) / 1e6:.0f} MB"
    return many if f"{few} MB" == many else f"{few} to {many}"


def small_buffers(rows: Sequence[Row]) -> Iterator[Line]:
    """small: by operation, beside the faster of the peer's two ways."""
    for operation in dict.fromkeys(row["operation"] for row in rows):
        found = [row["speedup"] for row in rows if row["operation"] == operation]
        yield Line(f"{operation}, one call", BLOSC2, "1 to 64 KB of ERA5-like temperature", found)


def packed_files(rows: Sequence[Row]) -> Iterator[Line]:
    """bloscpack: the same codec and level; against joblib and NPZ the fastest of ours that is no larger."""
    ours = {(r["size"], r["entropy"], r["label"]): r for r in rows if r["family"].startswith("coquina")}
    data = "float64 of low, medium and high entropy, 1 to 100 MB"
    for operation, word in (("compress", "write a file"), ("decompress", "read a file")):
        pairs = [
            (row[operation], ours[row["size"], row["entropy"], row["label"]][operation])
            for row in rows
            if row["family"] == "bloscpack" and (row["size"], row["entropy"], row["label"]) in ours
        ]
        if pairs:
            work = f"{word}, same codec and level"
            yield Line(
                work, "bloscpack", data, [theirs / mine for theirs, mine in pairs], word == "write a file"
            )
        for family in ("joblib", "NPZ"):
            yield from no_larger(rows, family, operation, f"{word}, ours the fastest that is no larger", data)


def no_larger(rows: Sequence[Row], family: str, operation: str, work: str, data: str) -> Iterator[Line]:
    """Each file of a family beside the fastest of ours whose ratio is as good."""
    found = []
    for row in having(rows, family=family):
        same = having(rows, family="coquina .blp", size=row["size"], entropy=row["entropy"])
        if mine := [one[operation] for one in same if one["ratio"] >= row["ratio"]]:
            found.append(row[operation] / min(mine))
    if found:
        yield Line(work, family, data, found)


READS = "plane box ele all"
WARM = {"memory", "file"}
SLICE_KINDS: dict[str, Callable[[Row], bool]] = {
    "planes along each axis, boxes, elements, all": lambda r: is_volume(r, WARM, READS),
    "boxes and elements": lambda r: is_volume(r, WARM, "box ele"),
    "planes, boxes, elements, all, from a cold file": lambda r: is_volume(r, {"cold"}, READS),
    "write all, write boxes": lambda r: is_volume(r, WARM, "write"),
    "append 1 MiB (ours committed)": lambda r: r["part"] == "append" and r["operation"].startswith("1 MiB"),
    "append 4 KiB (ours committed)": lambda r: r["part"] == "append" and r["operation"].startswith("4 KiB"),
    "open a file, read ten elements": lambda r: r["part"] == "open",
    "small arrays in memory": lambda r: r["part"] == "small",
}


def is_volume(row: Row, storages: set[str], starts: str) -> bool:
    """True for a part of a large array from one of the storages."""
    is_there = row["part"] == "volumes" and row["storage"] in storages
    return is_there and row["operation"].startswith(tuple(starts.split()))


def array_slices(rows: Sequence[Row]) -> Iterator[Line]:
    """slices: by kind of operation and library."""
    duels = [row for row in rows if "duel" in row]
    front = ("planes along", "append 1")
    for work, belongs in SLICE_KINDS.items():
        for peer in dict.fromkeys(row["peer"] for row in duels):
            some = [row for row in duels if row["peer"] == peer and belongs(row)]
            if some:
                data = ", ".join(dict.fromkeys(row["data"] for row in some))
                found = [row["duel"]["speedup"] for row in some]
                yield Line(work, peer, data, found, peer == BLOSC2 and work.startswith(front))


FRONT_UNSEEN = ("decompress, lz4", "decompress, zstd", "box of cached", "all of a cold", "append", "size")


def unseen_fields(rows: Sequence[Row]) -> Iterator[Line]:
    """unseen: by operation and number of threads."""
    names = dict.fromkeys(row["data"] for row in rows)
    for work, threads in dict.fromkeys((row["work"], row["threads"]) for row in rows):
        some = having(rows, work=work, threads=threads)
        peers = list(dict.fromkeys(peer for row in some for peer in row["ratios"]))
        said = f"{work}, {threads} thread{'s' if threads > 1 else ''}"
        is_front = work.startswith(FRONT_UNSEEN) and "prediction" not in work
        front = [peer for peer in peers if is_front and "sperr" not in peer and "h5py zfp" not in peer]
        yield from lines_of(some, said, peers, f"{len(names)} unseen fields", front)


def hdf5_datasets(rows: Sequence[Row]) -> Iterator[Line]:
    """hdf5: full reads and writes, parts, stacks of images, the table of chunks, appending, cold files."""
    full = having(rows, part="full")
    for word in ("read", "write"):
        some = [row for row in full if row["work"].startswith(word)]
        both = "ERA5-like field, CT-like stack"
        peers, front = ["h5py", "h5py, 2 threads"], ["h5py"] if word == "read" else []
        yield from lines_of(some, f"{word} all, every pipeline", peers, both, front)
    peers = [TABLES, "b2h5py", "h5py"]
    for kind in ("small", "big"):
        some = [row for row in having(rows, part="slices") if kind in row["data"]]
        data = some[0]["data"] if some else ""
        yield from lines_of(some, "planes, boxes, elements", peers, data)
    small = having(rows, part="small")
    yield from lines_of(small, "small parts", peers, "Blosc2 chunks of 28.8 MB", ["h5py"])
    for word in ("write", "read"):
        some = having(rows, part="direct", work=word)
        peers = ["PyTables direct", "PyTables filter", "h5py"]
        data = "stacks of images, a chunk each"
        front = ["PyTables direct"] if word == "write" else []
        yield from lines_of(some, f"{word} chunks directly", peers, data, front)
    for work in ("all chunks", "opened, an element read"):
        some = having(rows, part="table", work=work)
        peers = ["libhdf5's iteration", "h5py chunk_iter", "h5py"]
        yield from lines_of(some, f"table of chunks: {work}", peers, "a million chunks", ["h5py"])
    appends = having(rows, part="append")
    yield from lines_of(appends, "append small pieces", [TABLES, "h5py"], "float64, chunks of 1000")
    cold = having(rows, part="cold")
    yield from lines_of(cold, "first reads of a cold file", [TABLES, "h5py"], "ERA5-like field", ["h5py"])


def computing(rows: Sequence[Row]) -> Iterator[Line]:
    """compute: reductions, expressions to memory and to a compressed array; of unseen fields by operation."""
    groups = {
        "reductions": having(rows, kind="reduction"),
        "expressions, result in memory": having(rows, kind="expression", chunks="memory"),
        "expressions, result compressed": having(rows, kind="expression", chunks="compressed"),
    }
    for work, some in groups.items():
        for peer in (BLOSC2, "NumPy", "numexpr"):
            found = [row["speedups"][peer] for row in some if peer in row["speedups"]]
            if found:
                data = "cubes: a ramp, random numbers, ERA5-like wind"
                held = work if peer == BLOSC2 else f"{work}, beside plain memory"
                yield Line(
                    held, peer, data, found, work == "reductions" or (peer == BLOSC2 and "memory" in work)
                )
    yield from field_computing(having(rows, kind="field"))


WHOLE = {"read": "read all", "sum all": "sum", "sum last": "sum along the last axis"}


def field_computing(rows: Sequence[Row]) -> Iterator[Line]:
    """The unseen fields of compute, by operation and number of threads."""
    for case, threads in dict.fromkeys((row["case"], row["chunks"]) for row in rows):
        some = having(rows, case=case, chunks=threads)
        for peer in dict.fromkeys(peer for row in some for peer in row["speedups"]):
            found = [row["speedups"][peer] for row in some]
            work = f"{WHOLE.get(case, case)}, {'1 thread' if threads == '1 threads' else threads}"
            yield Line(work, peer, f"{len(some)} unseen fields", found, peer in (BLOSC2, "numexpr"))


def table_queries(rows: Sequence[Row]) -> Iterator[Line]:
    """tables: queries in both layouts, folds and groups, reads, appends, cold files."""
    rows = [row for row in rows if "ratios" in row]
    inside = [row for row in having(rows, part="queries") if row["work"] != "all together"]
    weather = inside[0]["data"] if inside else ""
    peers = [TABLES, "PyTables fresh", "DuckDB", "Polars", "pandas"]
    for layout in ("rows", "columns"):
        some = having(inside, ours=f"coquina {layout}")
        yield from lines_of(some, f"six queries, {layout}", peers, weather, [TABLES, "DuckDB", "Polars"])
    folds = having(rows, part="aggregates")
    names = " and names" if any("names" in row["data"] for row in folds) else ""
    data = f"ERA5-like weather, real flights{names}"
    yield from lines_of(folds, "sums, groups, first in order", peers, data, ["DuckDB"])
    for part, work in {
        "reads": "all rows, one column",
        "small": "single rows, slices of 100",
        "writes": "append a million rows at a time",
        "cold": "a query from a cold file",
    }.items():
        front = {"writes": [TABLES], "cold": ["DuckDB"]}.get(part, [])
        yield from lines_of(having(rows, part=part), work, [*peers, "Parquet"], weather, front)


def table_indexes(rows: Sequence[Row]) -> Iterator[Line]:
    """indexes: builds, queries, orders, appends, sizes."""
    cells = [row for row in rows if "ratios" in row]
    peers = [TABLES, "blosc2 CTable", "DuckDB"]
    data = cells[0]["data"].split(",")[0] if cells else ""
    builds = [row for row in having(cells, part="builds") if row["work"].startswith("complete")]
    yield from lines_of(builds, "build a complete index", peers, data, [TABLES])
    queries = having(cells, part="queries")
    yield from lines_of(queries, "indexed queries, asked again", peers, data, [TABLES])
    first = having(cells, part="first")
    yield from lines_of(first, "indexed queries, file opened for one", peers, data, [TABLES])
    yield from lines_of(having(cells, part="rows"), "the same, all columns", peers, data)
    yield from lines_of(having(cells, part="complex"), "a condition of three parts", peers, data)
    yield from lines_of(having(cells, part="orders"), "first in order", peers, data)
    yield from lines_of(having(cells, part="appends"), "append with two indexes", peers, data)
    sizes = [row["values"] for row in rows if row["part"] == "sizes" and row["work"].startswith("complete")]
    for peer in peers:
        found = [one[peer] / one["coquina columns"] for one in sizes if peer in one]
        if found:
            yield Line("size of a complete index (theirs over ours)", peer, data, found)


def chunk_sizes(rows: Sequence[Row]) -> Iterator[Line]:
    """chunk_size: by operation over all chunk sizes."""
    for work in dict.fromkeys(row["work"] for row in rows if "ratios" in row):
        some = having(rows, work=work)
        data = f"{some[0]['data']}, chunks of 4 KB to 32 MB"
        yield from lines_of(some, work, [BLOSC2, "h5py"], data)


def many_nodes(rows: Sequence[Row]) -> Iterator[Line]:
    """many_nodes: by what is done with them."""
    for row in rows:
        if "ratios" in row:
            front = ["h5py"] if row["work"] == "open, read one" else []
            yield from lines_of([row], row["work"], ["h5py", TABLES], row["data"], front)


LOSSLESS = "no loss"
# dB below, times larger, and times the bound, that still count as equal
SAME_PSNR, SAME_SIZE, SAME_BOUND = 0.1, 1.15, 1.01


def family(row: Row) -> str:
    """Library and codec."""
    return f"{row['library']} {row['codec']}"


def image_codecs(rows: Sequence[Row]) -> Iterator[Line]:
    """images: beside each codec without loss; with loss, ours the fastest that is as good and no larger."""
    names = dict.fromkeys(row["data"].partition(":")[0] for row in rows)
    data = f"16-bit grey: {', '.join(names)}"
    others = [row for row in rows if row["library"] != "coquina"]
    ours = {row["data"]: row for row in having(rows, library="coquina", codec="htj2k", setting=LOSSLESS)}
    exact = [row for row in others if row["setting"] == LOSSLESS and row["data"] in ours]
    for word in ("decompress", "compress"):
        for peer in dict.fromkeys(map(family, exact)):
            found = [row[word] / ours[row["data"]][word] for row in exact if family(row) == peer]
            is_front = peer.startswith("Pillow j") and word == "decompress"
            yield Line(f"{word} images without loss, ours HTJ2K", peer, data, found, is_front)
    for peer in dict.fromkeys(map(family, exact)):
        found = [ours[row["data"]]["ratio"] / row["ratio"] for row in exact if family(row) == peer]
        yield Line("size of images without loss, ours HTJ2K (theirs over ours)", peer, data, found)
    for word in ("decompress", "compress"):
        yield from as_good(rows, [row for row in others if row not in exact], word, data)


def as_good(rows: Sequence[Row], others: Sequence[Row], operation: str, data: str) -> Iterator[Line]:
    """Each cell with loss beside the fastest JPEG 2000 of ours that is as good and at most 15 % larger."""
    ours = having(rows, library="coquina", codec={"htj2k", "j2k"})
    found: dict[str, list[float]] = {}
    for row in (row for row in others if row.get("psnr") is not None):
        same = [one for one in having(ours, data=row["data"]) if row["ratio"] <= SAME_SIZE * one["ratio"]]
        if good := [
            one[operation] for one in same if (one.get("psnr") or math.inf) >= row["psnr"] - SAME_PSNR
        ]:
            found.setdefault(family(row), []).append(row[operation] / min(good))
    for peer, values in found.items():
        work = f"{operation} images with loss, ours as good and at most 15 % larger"
        yield Line(work, peer, data, values, peer.startswith("Pillow") and operation == "decompress")


def float_fields(rows: Sequence[Row]) -> Iterator[Line]:
    """fields: at equal greatest error, beside those that held it to a hundredth: sizes and speeds."""
    names = dict.fromkeys(row["data"].partition(":")[0] for row in rows)
    ours = {(row["data"], row["setting"]): row for row in having(rows, library="coquina", codec="chosen")}
    held = [row for row in rows if row["max_error"] <= SAME_BOUND * row["bound"]]
    some = [row for row in held if row["library"] != "coquina" and (row["data"], row["setting"]) in ours]
    for peer in dict.fromkeys(map(family, some)):
        pairs = [(row, ours[row["data"], row["setting"]]) for row in some if family(row) == peer]
        data = f"float32: {', '.join(names)}"
        sizes = [mine["ratio"] / theirs["ratio"] for theirs, mine in pairs]
        is_front = peer in ("python-blosc2 trunc", "h5py sz3")
        yield Line("size at equal greatest error (theirs over ours)", peer, data, sizes, is_front)
        for word in ("compress", "decompress"):
            found = [theirs[word] / mine[word] for theirs, mine in pairs]
            yield Line(f"{word} at equal greatest error", peer, data, found)


TUNER_GOALS = {0: "speed", 0.5: "balanced", 1: "size"}


def tuner_choices(rows: Sequence[Row]) -> Iterator[Line]:
    """tuner: scores of fixed ways, of the best of the grid and of BTune over ours; what choosing costs."""
    both = [row for row in having(rows, part="regret") if row["ratios"] and row["values"]["mode"] == "both"]
    for goal, word in TUNER_GOALS.items():
        some = [row for row in both if row["values"]["goal"] == goal]
        data = f"{len(some)} arrays: real, fields, numbers, images, text, records"
        for peer in dict.fromkeys(name for row in some for name in row["ratios"]):
            work = f"choice for {word} (score, theirs over ours)"
            yield Line(work, peer, data, ratios(some, peer), goal == 0.5 and peer == "zstd 1 + shuffle")
        some = [row for row in having(rows, part="peer") if row["values"]["goal"] == goal]
        some = [row for row in some if row["values"]["mode"] == "both"]
        for peer in ("BTune", "BTune, at first", "BTune told of the storage"):
            if found := ratios(some, peer):
                work = f"choice for {word} (score, theirs over ours)"
                data = f"a chunk of each of {len(found)} arrays"
                yield Line(work, peer, data, found, goal == 0.5 and peer == "BTune")
    costs = having(rows, part="overhead")
    yield from lines_of(costs, 'write with codec="auto"', ["the same ways"], "arrays of 64 MB and more")


def trillion_rows(rows: Sequence[Row]) -> Iterator[Line]:
    """trillion: 10^12 rows beside what was published of 10^14; rows appended by both, by as many."""
    for row in rows:
        values = row["values"]
        data = "10^12 zeros of 32 bytes"
        if "published" in values:
            ratio = values["published"] / values["coquina, 10^12 rows"]
            yield Line(row["work"], "PyTables, published", data, [ratio], row["work"] == "a random row")
        theirs = values["PyTables, 10^7 appended"]
        ours = next(
            value for name, value in values.items() if name.startswith("coquina") and "appended" in name
        )
        yield Line(row["work"], TABLES, "appended zeros of 32 bytes", [theirs / ours])
