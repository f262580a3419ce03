"""Holds our readers against every file that the tests and examples of python-blosc2 leave.

    python tools/blosc2_suite.py keep SOURCE FOLDER [TEST...]   runs them; files go to FOLDER/files
    python tools/blosc2_suite.py compare FOLDER [NAME...]       opens each with both libraries

SOURCE is the unpacked source archive of the python-blosc2 that is installed. The first command runs its tests
and its examples in folders of their own, and keeps each file of Blosc2 once (by its bytes): at the end of a
test, at the end of all, and when a test removes it. The second compares dtypes, shapes and values, prints how
many files of each kind are equal, and every other one by its reason; FOLDER/results.jsonl has a line a file.
"""

from __future__ import annotations

import collections
import contextlib
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

#: Set for the processes that run the tests: where files are kept.
KEEP = "COQUINA_KEEP_BLOSC2"
BIG = 64 << 20
#: What a file says that needs others beside it: expressions, caches.
REFERS = (b"\xa3b2o", b"LazyArray", b"proxy-source")
EXAMPLE_SECONDS = 60
#: Where a chunk says that it is a special value, and the one of chunks that were never written.
BLOSC2_FLAGS, UNINITIALISED = 31, 4


# Keeping


def is_unit(path: pathlib.Path) -> bool:
    """Whether a path is something that python-blosc2 opens: a frame, a store, an archive."""
    if path.is_symlink():
        return False
    if path.is_dir():
        return (path / "embed.b2e").is_file() or (path / "chunks.b2frame").is_file()
    try:
        with path.open("rb") as file:
            head = file.read(10)
    except OSError:
        return False
    if head[2:10] == b"b2frame\0":
        return True
    return head[:2] == b"PK" and path.suffix == ".b2z" and zipfile.is_zipfile(path)


def units(folder: pathlib.Path) -> Iterator[pathlib.Path]:
    """Yield what can be opened at and below a folder."""
    if is_unit(folder):
        yield folder
    elif folder.is_dir() and not folder.is_symlink():
        for one in sorted(folder.iterdir()):
            yield from units(one)


def contents(unit: pathlib.Path) -> list[pathlib.Path]:
    """Return the files of a unit."""
    return sorted(one for one in unit.rglob("*") if one.is_file()) if unit.is_dir() else [unit]


class Keeper:
    """Copies what was not seen before to FOLDER/files/<digest>/<name>, with what it refers to beside it."""

    def __init__(self, folder: pathlib.Path) -> None:
        """Take the folder."""
        self._files = folder / "files"
        self._files.mkdir(parents=True, exist_ok=True)
        self._seen: dict[pathlib.Path, tuple[int, int]] = {}

    def keep(self, folder: pathlib.Path) -> None:
        """Copy all at and below a folder, or one file."""
        for unit in units(folder):
            with contextlib.suppress(OSError):
                self._keep(unit)

    def _keep(self, unit: pathlib.Path) -> None:
        files = contents(unit)
        state = max(one.stat().st_mtime_ns for one in files), sum(one.stat().st_size for one in files)
        if self._seen.get(unit) == state or state[1] > BIG:
            return
        self._seen[unit] = state
        digest, refers = hashlib.sha256(), False
        for one in files:
            content = one.read_bytes()
            digest.update(str(one.relative_to(unit)).encode() + b"\0" + content)
            refers = refers or any(word in content for word in REFERS)
        target = self._files / digest.hexdigest()[:16]
        if target.exists():
            return
        made = pathlib.Path(tempfile.mkdtemp(dir=self._files, prefix="."))
        copy = shutil.copytree if unit.is_dir() else shutil.copy2
        copy(unit, made / unit.name)
        if refers:
            self._keep_beside(unit, made)
        (made / ".from").write_text(os.environ.get("PYTEST_CURRENT_TEST", str(unit)))
        with contextlib.suppress(OSError):
            made.rename(target)

    def _keep_beside(self, unit: pathlib.Path, made: pathlib.Path) -> None:
        """Copy the files beside a unit, by whose names it refers to them."""
        for one in unit.parent.iterdir():
            if one.is_file() and one.stat().st_size < BIG and not (made / one.name).exists():
                shutil.copy2(one, made / one.name)


def watch_removals(keeper: Keeper) -> None:
    """Keep what is removed, from now on."""
    import blosc2

    def kept(remove: Callable[..., Any]) -> Callable[..., Any]:
        def removing(path: Any, *args: Any, **options: Any) -> Any:
            if isinstance(path, (str, os.PathLike)) and options.get("dir_fd") is None:
                with contextlib.suppress(OSError, ValueError):
                    keeper.keep(pathlib.Path(path))
            return remove(path, *args, **options)

        return removing

    os.remove, os.unlink, shutil.rmtree = kept(os.remove), kept(os.unlink), kept(shutil.rmtree)  # type: ignore[assignment]
    blosc2.remove_urlpath = kept(blosc2.remove_urlpath)


def pytest_configure(config: Any) -> None:
    """Keep files while pytest runs the tests: this file is its plugin then."""
    keeper = Keeper(pathlib.Path(os.environ[KEEP]))
    config.coquina_keeper = keeper
    watch_removals(keeper)


def pytest_runtest_teardown(item: Any) -> None:
    """Keep what a test leaves in the current folder and in its own."""
    keeper = item.config.coquina_keeper
    keeper.keep(pathlib.Path.cwd())
    for name in ("tmp_path", "tmpdir"):
        if name in item.funcargs:
            keeper.keep(pathlib.Path(item.funcargs[name]))


def pytest_sessionfinish(session: Any) -> None:
    """Keep what is left after all tests."""
    session.config.coquina_keeper.keep(pathlib.Path(os.environ[KEEP]) / "tmp")


def keep(source: pathlib.Path, folder: pathlib.Path, tests: list[str]) -> None:
    """Run the tests and examples, and keep their files."""
    temporary = folder / "tmp"
    temporary.mkdir(parents=True, exist_ok=True)
    environment = os.environ | {
        KEEP: str(folder),
        "PYTHONPATH": str(pathlib.Path(__file__).parent),
        "TMPDIR": str(temporary),
        "MPLBACKEND": "Agg",
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "blosc2_suite", "-W", "default", "--tb=line"]
    command += ["-n", "2", "--basetemp", str(temporary / "pytest"), "-o", "tmp_path_retention_policy=all"]
    command += tests or ["tests"]
    subprocess.run(command, cwd=source, env=environment, check=False)
    keeper = Keeper(folder)
    keeper.keep(source / "tests")
    for example in [] if tests else sorted((source / "examples").rglob("*.py")):
        if example.parent.name == "remote":
            continue
        place = temporary / "examples" / example.stem
        place.mkdir(parents=True, exist_ok=True)
        run = [sys.executable, "-c", RUN_EXAMPLE, str(example)]
        with contextlib.suppress(subprocess.TimeoutExpired):
            done = subprocess.run(
                run, cwd=place, env=environment, timeout=EXAMPLE_SECONDS, check=False, capture_output=True
            )
            print(f"{example.name}: {'ran' if done.returncode == 0 else done.stderr[-200:].decode()}")
        keeper.keep(place)


RUN_EXAMPLE = """
import os, pathlib, runpy, sys
import blosc2_suite
sys.argv = sys.argv[1:]
sys.path.insert(0, os.path.dirname(sys.argv[0]))
blosc2_suite.watch_removals(blosc2_suite.Keeper(pathlib.Path(os.environ[blosc2_suite.KEEP])))
runpy.run_path(sys.argv[0], run_name="__main__")
"""


# Comparing


def theirs(path: pathlib.Path) -> tuple[str, Any]:
    """Return what python-blosc2 finds at a path: its name for it, and the values."""
    import blosc2

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = blosc2.open(str(path), mode="r", deserialize="full")
        return type(found).__name__, their_values(found)


def their_values(found: Any) -> Any:
    """Return the values of something that python-blosc2 opened."""
    import blosc2

    if isinstance(found, blosc2.SChunk):
        if "__pack_tensor__" in found.vlmeta:
            return blosc2.unpack_tensor(found.to_cframe())
        return [their_chunk(found, number) for number in range(found.nchunks)]
    if isinstance(found, blosc2.BatchArray):
        return [list(batch) for batch in found]
    if isinstance(found, (blosc2.ObjectArray, blosc2.ListArray)):
        return list(found)
    if isinstance(found, blosc2.CTable):
        return {name: their_column(found, name) for name in found.col_names}
    if isinstance(found, (blosc2.TreeStore, blosc2.DictStore, blosc2.EmbedStore)):
        return their_store(found)
    return found[()]


def their_chunk(found: Any, number: int) -> bytes:
    """Return the bytes of a chunk; zeros of one that was never written, where they give what is in memory."""
    content = bytes(found.decompress_chunk(number))
    flags = found.get_chunk(number)[BLOSC2_FLAGS]
    return bytes(len(content)) if flags >> 4 & 7 == UNINITIALISED else content


def their_column(table: Any, name: str) -> list[Any]:
    """Return the values of a column, None where there is none."""
    column = table[name]
    values = list(column[:])
    try:
        nulls = list(column.is_null())
    except (AttributeError, TypeError, ValueError, NotImplementedError):
        nulls = [one is None for one in values]
    return [None if is_null else one for one, is_null in zip(values, nulls, strict=True)]


def their_store(store: Any) -> dict[str, Any]:
    """Return the leaves and tables of a store by their paths."""
    import blosc2

    found: dict[str, Any] = {}
    tables = tuple(f"{path}/" for path in getattr(store, "_objects_registry", dict)() or ())
    for key in store.keys():  # noqa: SIM118 (a store is not iterated by its keys)
        node = store[key]
        if not isinstance(node, blosc2.TreeStore) and not key.startswith(tables):
            found[key.strip("/")] = their_values(node)
    return found


def ours(path: pathlib.Path) -> tuple[str, Any]:
    """Return what coquina finds at a path: its name for it, and the values."""
    import coquina as cq

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = cq.open(path)
        return type(found).__name__, our_values(found)


def our_values(found: Any) -> Any:
    """Return the values of something that coquina opened."""
    import coquina as cq

    if isinstance(found, cq.Frame):
        return [bytes(one) for one in found]
    if isinstance(found, cq.Table):
        return {name: list(found[name][:]) for name in found.columns}
    if hasattr(found, "visititems"):
        values: dict[str, Any] = {}

        def look(name: str, node: Any) -> None:
            if isinstance(node, cq.Table) or not hasattr(node, "visititems"):
                values[name] = our_values(node)

        found.visititems(look)
        return values
    return list(found) if type(found).__name__ in VALUES else found[...]


VALUES = ("ObjectArray", "BatchArray", "ListArray", "FlatArray")


def difference(their: Any, our: Any, where: str = "") -> str | None:
    """Return where values differ; None if they are equal."""
    import numpy as np

    if isinstance(their, dict) and isinstance(our, dict):
        if set(their) != set(our):
            return f"{where}: names {sorted(set(their) ^ set(our))}"
        return next((d for key in their if (d := difference(their[key], our[key], f"{where}/{key}"))), None)
    if isinstance(their, (list, tuple)) and isinstance(our, (list, tuple, np.ndarray)):
        if len(their) != len(our):
            return f"{where}: {len(their)} values, ours {len(our)}"
        found = (difference(a, b, f"{where}[{i}]") for i, (a, b) in enumerate(zip(their, our, strict=True)))
        return next((d for d in found if d), None)
    if isinstance(their, np.ndarray) and their.ndim + np.asarray(our).ndim:
        return array_difference(their, np.asarray(our), where)
    return None if is_same(their, our) else f"{where}: {their!r}, ours {our!r}"


def array_difference(their: Any, our: Any, where: str) -> str | None:
    """Return how arrays differ."""
    import numpy as np

    if their.dtype == np.uint8 and our.dtype == bool:
        their = their.astype(bool)  # They give truth values as they are stored where some may be missing.
    if their.shape != our.shape or their.dtype != our.dtype:
        return f"{where}: {their.dtype} {their.shape}, ours {our.dtype} {our.shape}"
    if their.tobytes() == our.tobytes() or np.array_equal(their, our):
        return None
    if their.dtype.kind in "fc" and np.allclose(their, our, rtol=1e-6, atol=1e-12, equal_nan=True):
        return None
    return f"{where}: values of {their.dtype} {their.shape}"


def is_same(their: Any, our: Any) -> bool:
    """Whether two single values are equal; NaN is, and stands for None where floats have no other."""
    import numpy as np

    if their is None:
        return our is None or our is np.ma.masked or bool(our != our)
    if our is None:
        return bool(their != their)
    with contextlib.suppress(TypeError, ValueError):
        return bool(their == our) or bool(their != their and our != our)
    return False


def compare_one(unit: pathlib.Path) -> dict[str, str]:
    """Return a line of results."""
    line = {"path": str(unit), "kind": "", "result": "equal", "why": ""}
    try:
        line["kind"], their = theirs(unit)
    except Exception as error:
        line["their_error"], their = f"{type(error).__name__}: {error}"[:300], None
    try:
        line["ours"], our = ours(unit)
    except Exception as error:
        line["result"], line["why"] = "not read", f"{type(error).__name__}: {error}"[:300]
        if "their_error" in line:
            line["result"] = "neither reads"
        return line
    if "their_error" in line:
        line["result"] = "only ours"
        line["why"] = line["their_error"]
    elif found := difference(their, our):
        line["result"], line["why"] = "differs", found[:300]
    return line


def compare(folder: pathlib.Path, names: list[str]) -> None:
    """Compare all kept files, in processes of their own, as one may end by a signal; print what is found."""
    kept = [one for one in sorted((folder / "files").iterdir()) if not one.name.startswith(".")]
    paths = [first for one in kept if not names or one.name in names if (first := unit_of(one))]
    lines: list[dict[str, str]] = []
    left = [str(path) for path in paths]
    while left:
        command = [sys.executable, __file__, "child"]
        done = subprocess.run(command, input="\n".join(left), stdout=subprocess.PIPE, text=True, check=False)
        made = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        lines += made
        left = left[len(made) :]
        if left and done.returncode:
            lines.append(
                {"path": left[0], "kind": "", "result": "ended by a signal", "why": str(done.returncode)}
            )
            left = left[1:]
    with (folder / "results.jsonl").open("w") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    counts = collections.Counter((line["kind"], line["result"]) for line in lines)
    for (kind, result), count in sorted(counts.items()):
        print(f"{kind or '-':16} {result:18} {count:6}")
    for line in lines:
        if line["result"] != "equal":
            print(f"{line['result']}: {line['path']} ({line['kind']}): {line['why']}")


def unit_of(kept: pathlib.Path) -> pathlib.Path | None:
    """Return the unit in a folder of `files`: the one whose digest names it was copied first."""
    names = [one for one in kept.iterdir() if one.name != ".from" and is_unit(one)]
    return min(names, key=lambda one: one.stat().st_ctime_ns, default=None)


def main() -> None:
    """Run the command."""
    what, *rest = sys.argv[1:]
    if what == "keep":
        keep(pathlib.Path(rest[0]).resolve(), pathlib.Path(rest[1]).resolve(), rest[2:])
    elif what == "compare":
        compare(pathlib.Path(rest[0]).resolve(), rest[1:])
    else:
        for path in sys.stdin.read().splitlines():
            print(json.dumps(compare_one(pathlib.Path(path))), flush=True)


if __name__ == "__main__":
    main()
