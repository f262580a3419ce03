"""Files behind web addresses: ranges of one state, whatever the server does; and how many bytes come."""

import contextlib
import http.server
import threading

import numpy as np
import pytest

import coquina as cq
from coquina.http_source import is_plain


class Server(http.server.ThreadingHTTPServer):
    """A server of bytes. what: it does not know, and whether it leads elsewhere. sent: bytes of bodies."""

    daemon_threads = True

    def __init__(self, content, *what):
        super().__init__(("127.0.0.1", 0), Handler)
        self.content, self.what, self.tag, self.sent = content, what, 1, 0

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server_port}/x.b2nd"
        return self

    def __exit__(self, *error):
        self.shutdown()
        self.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def answer(self, status, headers, body=b""):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.server.sent += len(body)
        with contextlib.suppress(ConnectionError):
            self.wfile.write(body)

    def do_HEAD(self):
        if "no head" in self.server.what:
            self.answer(405, {"Content-Length": "0"})
        else:
            self.do_GET(is_head=True)

    def do_GET(self, *, is_head=False):
        what, content = self.server.what, self.server.content
        if "leads" in what and self.path == "/x.b2nd":
            self.answer(302, {"Location": "/elsewhere?a=b", "Content-Length": "0"})
            return
        if self.path not in ("/x.b2nd", "/elsewhere?a=b"):
            self.answer(404, {"Content-Length": "0"})
            return
        tag = f'"{self.server.tag}"'
        headers = {} if "no tag" in what else {"ETag": tag}
        asked = self.headers.get("Range")
        status = 200
        if asked and "no ranges" not in what and self.headers.get("If-Range", tag) == tag:
            start, stop = (int(one) for one in asked.removeprefix("bytes=").split("-"))
            headers["Content-Range"] = f"bytes {start}-{min(stop, len(content) - 1)}/{len(content)}"
            content, status = content[start : stop + 1], 206
        headers["Content-Length"] = str(len(content))
        self.answer(status, headers, b"" if is_head else content)


@pytest.fixture(scope="module")
def values():
    return np.random.default_rng(3).integers(0, 1 << 30, (2000, 1500))


@pytest.fixture(scope="module")
def content(values, tmp_path_factory):
    path = tmp_path_factory.mktemp("http") / "x.b2nd"
    cq.asarray(values, path=path, chunks=(1000, 750), blocks=(250, 250)).close()
    return path.read_bytes()


@pytest.mark.parametrize("what", [(), ("no head",), ("no tag",), ("leads",), ("leads", "no head")])
def test_values_are_those_of_the_file_whatever_the_server_knows(values, content, what):
    with Server(content, *what) as server, cq.open(server.url) as array:
        assert np.array_equal(array[100:1200, ::7], values[100:1200, ::7])


def test_a_corner_costs_its_blocks(values, content, tmp_path):
    (tmp_path / "x.b2nd").write_bytes(content)
    with cq.open(tmp_path / "x.b2nd") as local:
        needed = local.cbytes * local.blocks_touched(np.s_[:250, :250]) * 250 * 250 / values.size
    with Server(content) as server, cq.open(server.url) as array:
        opened = server.sent
        assert np.array_equal(array[:250, :250], values[:250, :250])
        assert server.sent - opened <= 1.2 * needed


def test_a_changed_file_is_an_error_and_no_mixture(content):
    with Server(content) as server, cq.open(server.url) as array:
        array[:10]
        server.tag += 1
        server.content = content[:5000] + bytes(len(content) - 5000)
        with pytest.raises(OSError, match="changed since"):
            array[1500:]


def test_a_server_without_ranges_is_an_error_and_its_file_is_not_fetched(content):
    with (
        Server(content * 40, "no ranges") as server,
        pytest.raises(OSError, match="does not support range requests"),
    ):
        cq.open(server.url)


def test_what_is_not_there_is_file_not_found(content):
    with Server(content) as server, pytest.raises(FileNotFoundError):
        cq.open(server.url + "2")


def test_which_addresses_are_asked_directly(monkeypatch):
    for name in (
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "no_proxy",
    ):
        monkeypatch.delenv(name, raising=False)
    assert is_plain("https://host/x?y=z")
    for url in ("s3://bucket/x", "http://user:word@host/x", "simplecache::http://host/x", "http:///x"):
        assert not is_plain(url)
    monkeypatch.setenv("http_proxy", "http://proxy:80")
    monkeypatch.setenv("no_proxy", "near")
    assert not is_plain("http://host/x")
    assert is_plain("http://near/x")
