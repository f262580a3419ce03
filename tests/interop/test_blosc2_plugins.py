"""Plugin packages of python-blosc2: each reads what the other writes with their libraries.

Two packages are compiled here, as the example of the Blosc people is: a codec that counts repeats, and a
filter that adds its parameter. Each program is a process of its own, since neither library forgets an id.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

CODEC, FILTER = 240, 241

CODEC_SOURCE = r"""
#include <stdint.h>
#include <string.h>
#include "blosc2.h"
#include "blosc2/codecs-registry.h"

int runs_encoder(const uint8_t *in, int32_t n, uint8_t *out, int32_t room, uint8_t meta,
                 blosc2_cparams *cparams, const void *chunk) {
    /* The struct says what the block is made of: a host with another layout would be found out here. */
    if (cparams->typesize != 4 || cparams->schunk == NULL) return -1;
    blosc2_schunk *schunk = (blosc2_schunk *)cparams->schunk;
    if (schunk->typesize != 4 || schunk->nmetalayers < 1) return -2;
    if (strcmp(schunk->metalayers[0]->name, "b2nd")) return -3;
    int32_t at = 0;
    for (int32_t i = 0; i < n;) {
        int32_t run = 1;
        while (i + run < n && run < 255 && in[i + run] == in[i]) run++;
        if (at + 2 > room) return 0;
        out[at++] = (uint8_t)run;
        out[at++] = in[i] ^ meta;
        i += run;
    }
    return at;
}

int runs_decoder(const uint8_t *in, int32_t n, uint8_t *out, int32_t room, uint8_t meta,
                 blosc2_dparams *dparams, const void *chunk) {
    int32_t at = 0;
    for (int32_t i = 0; i + 1 < n; i += 2) {
        if (in[i] > room - at) return -1;
        memset(out + at, in[i + 1] ^ meta, in[i]);
        at += in[i];
    }
    return at;
}

codec_info info = {"runs_encoder", "runs_decoder"};
"""

FILTER_SOURCE = r"""
#include <stdint.h>
#include "blosc2.h"
#include "blosc2/filters-registry.h"

int plus_forward(const uint8_t *in, uint8_t *out, int32_t n, uint8_t meta, blosc2_cparams *p, uint8_t id) {
    for (int32_t i = 0; i < n; i++) out[i] = in[i] + meta;
    return 0;
}

int plus_backward(const uint8_t *in, uint8_t *out, int32_t n, uint8_t meta, blosc2_dparams *p, uint8_t id) {
    for (int32_t i = 0; i < n; i++) out[i] = in[i] - meta;
    return 0;
}

filter_info info = {"plus_forward", "plus_backward"};
"""

#: As the packages of the Blosc people; importing it leaves a file behind, so that a test can tell.
INIT = """
from pathlib import Path

Path(__file__).with_name("imported").touch()

def print_libpath():
    print(Path(__file__).with_name("libblosc2_{name}.so"), end="")
"""

COMMON = f"""
import sys
import numpy as np
x = (np.arange(24_000, dtype="i4") // 50).reshape(120, 200)
CODEC, FILTER = {CODEC}, {FILTER}
"""

THEIRS = """
import blosc2
blosc2.register_codec("runs", CODEC, None, None)
blosc2.register_filter(FILTER, None, None, "plus")
"""

OURS = """
import coquina as cq
cq.allow_blosc2_plugins(codecs={CODEC: "runs"}, filters={FILTER: "plus"})
"""

THEY_WRITE = """
cparams = blosc2.CParams(codec=CODEC, codec_meta=5, filters=[FILTER], filters_meta=[3])
blosc2.asarray(x, urlpath=sys.argv[1], mode="w", chunks=(60, 200), blocks=(20, 100), cparams=cparams)
"""

WE_WRITE = """
filters = [("plus", 3), "shuffle"]
shapes = {"chunks": (60, 200), "blocks": (20, 100)}
a = cq.asarray(x, path=sys.argv[1], codec=("runs", 5), filters=filters, **shapes)
assert {text.partition(" ")[0] for text in a.encodings()} == {"runs"}, a.encodings()
"""

THEY_READ = """
a = blosc2.open(sys.argv[1])
assert np.array_equal(a[:], x)
assert np.array_equal(a[30:70, 5:9], x[30:70, 5:9])
"""

WE_READ = """
a = cq.open(sys.argv[1])
assert np.array_equal(a[:], x)
assert np.array_equal(a[30:70, 5:9], x[30:70, 5:9])
"""


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """A folder with the packages blosc2_runs and blosc2_plus."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler")
    import blosc2

    include = os.path.join(os.path.dirname(blosc2.__file__), "include")
    folder = tmp_path_factory.mktemp("packages")
    for name, source in (("runs", CODEC_SOURCE), ("plus", FILTER_SOURCE)):
        package = folder / f"blosc2_{name}"
        package.mkdir()
        (package / "__init__.py").write_text(INIT.format(name=name))
        (package / "plugin.c").write_text(source)
        library = package / f"libblosc2_{name}.so"
        command = [compiler, "-O1", "-w", "-shared", "-fPIC", "-I", include, str(package / "plugin.c")]
        subprocess.run([*command, "-Wl,--unresolved-symbols=ignore-all", "-o", str(library)], check=True)
    return folder


def run(packages, program, *arguments, **environment):
    command = [sys.executable, "-c", COMMON + program, *map(str, arguments)]
    paths = os.pathsep.join([str(packages), *filter(None, [os.environ.get("PYTHONPATH")])])
    settings = {**os.environ, "PYTHONPATH": paths, **environment}
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=settings)


def works(packages, program, *arguments, **environment):
    done = run(packages, program, *arguments, **environment)
    assert done.returncode == 0, done.stderr


def test_plugin_packages_write_what_python_blosc2_reads(packages, tmp_path):
    works(packages, OURS + WE_WRITE, tmp_path / "a.b2nd")
    works(packages, THEIRS + THEY_READ, tmp_path / "a.b2nd")
    works(packages, OURS + WE_READ, tmp_path / "a.b2nd")


def test_plugin_packages_read_what_python_blosc2_writes(packages, tmp_path):
    works(packages, THEIRS + THEY_WRITE, tmp_path / "a.b2nd")
    for name in ("runs", "plus"):
        (packages / f"blosc2_{name}" / "imported").unlink(missing_ok=True)
    works(packages, OURS + WE_READ, tmp_path / "a.b2nd")
    assert not (packages / "blosc2_runs" / "imported").exists()


def test_plugin_packages_are_allowed_by_the_environment(packages, tmp_path):
    works(packages, THEIRS + THEY_WRITE, tmp_path / "a.b2nd")
    names = f"codec-{CODEC}=runs,filter-{FILTER}=plus"
    works(packages, "import coquina as cq" + WE_READ, tmp_path / "a.b2nd", COQUINA_BLOSC2_PLUGINS=names)
    failed = run(
        packages, "import coquina as cq" + WE_READ, tmp_path / "a.b2nd", COQUINA_BLOSC2_PLUGINS="all"
    )
    assert "takes 1, or codec-ID=NAME" in failed.stderr


@pytest.mark.parametrize("setting", ["", "0", "1"])
def test_plugin_packages_are_not_loaded_without_permission(packages, tmp_path, setting):
    works(packages, THEIRS + THEY_WRITE, tmp_path / "a.b2nd")
    program = "import coquina as cq" + WE_READ
    failed = run(packages, program, tmp_path / "a.b2nd", COQUINA_BLOSC2_PLUGINS=setting)
    assert failed.returncode != 0
    assert "UnsupportedError" in failed.stderr


def test_plugin_packages_that_are_allowed_are_listed(packages):
    program = """
import coquina as cq
assert not [p for p in cq.list_plugins() if p.id in (CODEC, FILTER)]
cq.allow_blosc2_plugins(codecs={CODEC: "runs"}, filters={FILTER: "plus"})
found = {(p.kind, p.id): p for p in cq.list_plugins()}
assert (found["codec", CODEC].name, found["codec", CODEC].is_loaded) == ("runs", False)
cq.compress(x, codec="runs", filters=[("plus", 1)])
found = {(p.kind, p.id): p for p in cq.list_plugins()}
assert found["codec", CODEC].is_loaded and found["filter", FILTER].is_loaded
assert "blosc2_runs" in found["codec", CODEC].source
for bad in ({31: "runs"}, {256: "runs"}, {240: "../runs"}):
    try:
        cq.allow_blosc2_plugins(codecs=bad)
    except ValueError:
        continue
    raise AssertionError(bad)
"""
    works(packages, program)


def test_a_library_that_is_no_plugin_is_named(packages, tmp_path):
    package = tmp_path / "blosc2_other"
    package.mkdir()
    (package / "__init__.py").touch()
    shutil.copy(packages / "blosc2_runs" / "plugin.c", package / "libblosc2_other.so")
    program = """
import coquina as cq
cq.allow_blosc2_plugins(codecs={CODEC: "other"})
cq.compress(x, codec="other")
"""
    failed = run(tmp_path, program)
    assert "UnsupportedError" in failed.stderr
    assert "blosc2_other of Blosc2 cannot be loaded" in failed.stderr


@pytest.mark.parametrize("name", ["j2k", "htj2k"])
def test_plugin_packages_of_images_are_used_where_ours_are_not_installed(name, tmp_path):
    pytest.importorskip(f"blosc2_{name}")
    common = """
import numpy as np
x = (np.add.outer(np.arange(128), np.arange(96)) % 251).astype("u2")
"""
    theirs = f"""
import sys, blosc2, blosc2_{name}
codec = blosc2.Codec.{name.upper()}
cparams = blosc2.CParams(codec=codec, filters=[], splitmode=blosc2.SplitMode.NEVER_SPLIT, nthreads=1)
"""
    write = """
blosc2.asarray(x, urlpath=sys.argv[1], mode="w", chunks=(128, 96), blocks=(64, 96), cparams=cparams)
"""
    ours = """
import sys
import coquina as cq
from coquina import codec_plugins
codec_plugins._offered = lambda: ()
cq.allow_blosc2_plugins()
"""
    read = f"""
a = cq.open(sys.argv[1])
assert np.array_equal(a[:], x)
assert "blosc2_{name}" in [p.source for p in cq.list_plugins() if p.is_loaded][0]
"""
    again = f"""
a = cq.asarray(x, path=sys.argv[1], chunks=(128, 96), blocks=(64, 96), codec="{name}")
assert np.array_equal(a[:], x)
"""
    path = tmp_path / "a.b2nd"
    works(tmp_path, common + theirs + write, path)
    works(tmp_path, common + ours + read, path)
    works(tmp_path, common + ours + again, tmp_path / "b.b2nd")
    works(
        tmp_path,
        common + theirs + "assert np.array_equal(blosc2.open(sys.argv[1])[:], x)",
        tmp_path / "b.b2nd",
    )
