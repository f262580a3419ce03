"""A real server in a process of its own: many and slow clients, its end, and readers beside a writer."""

import asyncio
import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlencode

import numpy as np
import pytest

import coquina as cq
from coquina.server.application import Application
from coquina.server.root import Root
from coquina.server.service import Service

WAIT_SECONDS = 60


@contextlib.contextmanager
def running(path, *options):
    """A server of a folder, as the command starts it; gives its process and port."""
    command = [sys.executable, "-m", "coquina.cli", "serve", str(path), "--port", "0", *options]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        line = server.stdout.readline()
        assert "http://127.0.0.1:" in line, server.stderr.read()
        yield server, int(line.split("http://127.0.0.1:")[1].split("/")[0])
    finally:
        server.kill()
        server.communicate()


def ask(port, path, headers=None, method="GET", body=None, /, **parameters):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT_SECONDS)
    try:
        connection.request(method, f"{path}?{urlencode(parameters)}", body, headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    path = tmp_path_factory.mktemp("sockets")
    cq.asarray(np.arange(1 << 20, dtype="f4").reshape(1024, 1024), path=path / "grid.b2nd").close()
    with running(path, "--limit-rate", "0") as (server, port):
        yield path, server, port


def memory_bytes(process):
    with open(f"/proc/{process.pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_a_thousand_connections_do_not_keep_others_out(served):
    _path, server, port = served
    before = memory_bytes(server)
    waiting = []
    try:
        waiting.extend(
            socket.create_connection(("127.0.0.1", port), timeout=WAIT_SECONDS) for _ in range(1000)
        )
        with ThreadPoolExecutor(8) as pool:
            answers = list(
                pool.map(
                    lambda at: ask(port, "/slice/", file="grid.b2nd", selection=f"{at}:{at + 2}"), range(64)
                )
            )
        wanted = np.arange(1 << 20, dtype="f4").reshape(1024, 1024)
        for at, (status, content) in enumerate(answers):
            assert status == 200, content
            assert np.array_equal(np.frombuffer(content, "f4"), wanted[at : at + 2].reshape(-1))
        assert memory_bytes(server) - before < 100 << 20
    finally:
        for one in waiting:
            one.close()
    status, _ = ask(port, "/version/")
    assert status == 200


def test_clients_that_do_not_read_do_not_stop_others(served):
    _path, _server, port = served
    slow = [socket.create_connection(("127.0.0.1", port)) for _ in range(8)]
    try:
        for one in slow:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            one.sendall(b"GET /slice/?file=grid.b2nd HTTP/1.1\r\nHost: localhost\r\n\r\n")
        for _ in range(20):
            assert ask(port, "/slice/", file="grid.b2nd", selection="5")[0] == 200
    finally:
        for one in slow:
            one.close()


def test_clients_that_do_not_take_their_answer_are_cut_off(served, monkeypatch):
    from coquina.server import sending

    monkeypatch.setattr(sending, "_PIECE_SECONDS", 0.1)
    taken = []

    async def send(message):
        taken.append(message["type"])
        if message["type"] == "http.response.body":
            await asyncio.sleep(WAIT_SECONDS)

    with pytest.raises(TimeoutError):
        asyncio.run(sending.send_bytes(send, 200, {}, bytes(1 << 20)))
    assert taken == ["http.response.start", "http.response.body"]
    path, _server, _port = served
    application = Application(Service(Root(str(path))))
    scope = {"type": "http", "method": "GET", "path": "/slice/", "query_string": b"file=grid.b2nd"}
    scope |= {"headers": [], "client": ("127.0.0.1", 1), "server": ("localhost", 80), "scheme": "http"}
    with pytest.raises(TimeoutError):
        asyncio.run(application.app({**scope, "root_path": ""}, None, send))
    # Nothing is held for who is gone.
    assert (application.gate.held, application.gate.active) == (0, 0)


def test_what_is_no_http_is_an_error_or_the_end(served):
    _path, _server, port = served
    large = b"a" * (1 << 18)
    for text in (bytes(1000), b"GET / HTTP/9.9\r\n\r\n", b"GET " + large, b"GET / HTTP/1.1\r\nX: " + large):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=5) as one:
            one.sendall(text)
            one.shutdown(socket.SHUT_WR)
            while one.recv(1 << 16):
                pass
    assert ask(port, "/version/")[0] == 200


def write_numbers(path, last):
    """Commit each number up to the last."""
    with cq.open(str(path / "file.h5"), "r+") as file, cq.open(str(path / "array.b2nd"), "r+") as array:
        for number in range(1, last + 1):
            with file.transaction():
                file["x"][...] = number
                file["t"]["n"] = np.full(2000, number)
            array[...] = number


def wait_for(is_so):
    """Wait until something is so, for a while."""
    until = time.monotonic() + WAIT_SECONDS
    while not is_so() and time.monotonic() < until:
        time.sleep(0.02)


def test_readers_beside_a_writer_see_whole_commits(tmp_path):
    """Each commit sets all items, and the rows of a table, to its number; a reader never sees two at once."""
    with cq.hdf5.File(tmp_path / "file.h5", "w") as file:
        file.create_dataset("x", data=np.zeros((200, 200), "i8"), chunks=(50, 50))
        file.create_table("t", {"n": np.zeros(2000, "i8")})
    cq.asarray(np.zeros((200, 200), "i8"), path=tmp_path / "array.b2nd", chunks=(50, 50)).close()
    last, is_over, seen, wrong = 30, threading.Event(), set(), []

    def read(port, route, parameters, values_of):
        newest = -1
        while not is_over.is_set():
            status, content = ask(port, route, **parameters)
            assert status == 200, content
            found = set(values_of(content))
            if len(found) != 1 or min(found) < newest:
                wrong.append((route, found, newest))
                return
            newest = found.pop()
            seen.add(newest)

    def rows(content):
        found = json.loads(content)["values"]["n"]
        assert len(found) == 2000
        return found

    def items(content):
        return np.unique(np.frombuffer(content, "i8")).tolist()

    kinds = [
        ("/slice/", {"file": "file.h5", "path": "/x"}, items),
        ("/slice/", {"file": "array.b2nd"}, items),
        ("/rows/", {"file": "file.h5", "path": "/t", "stop": 2000}, rows),
    ]
    with running(tmp_path, "--limit-rate", "0") as (_, port), ThreadPoolExecutor(3) as pool:
        reading = [pool.submit(read, port, *kind) for kind in kinds]
        try:
            write_numbers(tmp_path, last)
            wait_for(lambda: wrong or last in seen)
        finally:
            is_over.set()
        for one in reading:
            one.result(WAIT_SECONDS)
    assert not wrong
    assert last in seen


def test_a_killed_server_loses_nothing_that_it_answered(tmp_path):
    cq.create_table(tmp_path / "t.h5", {"n": np.arange(0)}, name="/t").close()
    (tmp_path / "tokens").write_text("token-long rw .\n")
    answered = 0
    for _ in range(2):
        with running(tmp_path, "--tokens", str(tmp_path / "tokens")) as (server, port):
            killer = threading.Timer(0.1, server.send_signal, [signal.SIGKILL])
            with contextlib.suppress(OSError, http.client.HTTPException):
                while True:
                    body = npy_rows(answered, 10)
                    headers = {"Authorization": "Bearer token-long"}
                    status, content = ask(port, "/append/", headers, "POST", body, file="t.h5", path="/t")
                    assert status == 200, content
                    answered += 10
                    if not killer.ident:
                        killer.start()
            killer.join()
        with cq.open_table(tmp_path / "t.h5") as table:
            found = table["n"][:]
            # The last request may have been done, and not answered.
            assert len(found) in (answered, answered + 10)
            assert np.array_equal(found, np.arange(len(found)))
            answered = len(found)
    assert answered > 0


@pytest.mark.parametrize("end", ["client", "server"])
def test_an_upload_that_ends_midway_leaves_the_file_that_was_there(tmp_path, end):
    """The connection is cut, or the server killed, while half of the file has come."""
    old, new = np.arange(100.0), np.random.default_rng(0).random(1 << 17)
    for name, values in (("x.b2nd", old), ("new.b2nd", new)):
        cq.asarray(values, path=tmp_path / name).close()
    content = (tmp_path / "new.b2nd").read_bytes()
    (tmp_path / "tokens").write_text("token-long rw .\n")
    head = (
        "PUT /upload/x.b2nd?overwrite=1 HTTP/1.1\r\nHost: localhost\r\n"
        f"Authorization: Bearer token-long\r\nContent-Length: {len(content)}\r\n\r\n"
    ).encode()

    def unfinished():
        return [path.stat().st_size for path in tmp_path.glob(".upload-*")]

    headers = {"Authorization": "Bearer token-long"}
    options = ("--tokens", str(tmp_path / "tokens"), "--limit-rate", "0")
    with running(tmp_path, *options) as (server, port):
        with socket.create_connection(("127.0.0.1", port), timeout=WAIT_SECONDS) as one:
            one.sendall(head + content[: len(content) // 2])
            wait_for(unfinished)
            assert len(unfinished()) == 1
            if end == "server":
                server.kill()
                server.wait()
        if end == "client":
            wait_for(lambda: not unfinished())
            assert not unfinished()
            status, answer = ask(port, "/slice/", headers, file="x.b2nd")
            assert (status, answer) == (200, old.tobytes())
    with cq.open(str(tmp_path / "x.b2nd")) as array:
        assert np.array_equal(array[:], old)
    with running(tmp_path, *options) as (_, port):
        listed = json.loads(ask(port, "/files/", headers)[1])["entries"]
        assert [entry["path"] for entry in listed] == ["new.b2nd", "x.b2nd"]
        status, answer = ask(port, "/upload/x.b2nd", headers, "PUT", content, overwrite=1)
        assert status == 200, answer
    with cq.open(str(tmp_path / "x.b2nd")) as array:
        assert np.array_equal(array[:], new)


def npy_rows(start, count):
    import io

    file = io.BytesIO()
    np.save(file, np.arange(start, start + count).view([("n", "i8")]))
    return file.getvalue()


def test_slow_requests_are_given_up(tmp_path):
    """A connection that does not ask within its time is closed."""
    from coquina.server import running as server_running
    from coquina.server.limits import Limits

    service = Service(Root(str(tmp_path)), limits=Limits(header_seconds=0.2))
    is_over, started = threading.Event(), threading.Event()
    with server_running.bound("127.0.0.1", 0) as bound:
        port = bound.getsockname()[1]
        serving = threading.Thread(
            target=server_running.run,
            args=(Application(service), bound),
            kwargs={"on_start": started.set, "is_over": is_over.is_set},
        )
        serving.start()
        assert started.wait(WAIT_SECONDS)
        with socket.create_connection(("127.0.0.1", port), timeout=WAIT_SECONDS) as one:
            one.sendall(b"GET / HT")
            assert one.recv(100) == b""
        assert ask(port, "/version/")[0] == 200
        is_over.set()
        serving.join(WAIT_SECONDS)
    assert not serving.is_alive()


def test_the_command_needs_tokens_to_be_reached_by_others(tmp_path):
    command = [sys.executable, "-m", "coquina.cli", "serve", str(tmp_path), "--host", "0.0.0.0"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_SECONDS, check=False)
    assert ended.returncode == 1
    assert "--tokens" in ended.stderr


def test_a_page_that_is_gone_ends_the_server():
    from coquina.server.presence import GRACE_SECONDS, SILENCE_SECONDS, Presence

    now = [0.0]
    presence = Presence(lambda: now[0])
    assert not presence.is_over
    presence.alive("a")
    presence.alive("b")
    presence.closed("a")
    now[0] += GRACE_SECONDS + 1
    assert not presence.is_over
    presence.closed("b")
    presence.alive("c")
    now[0] += SILENCE_SECONDS + 1
    assert not presence.is_over
    now[0] += GRACE_SECONDS + 1
    assert presence.is_over
