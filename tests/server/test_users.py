"""Who may read and write what: tokens, names from a proxy, rights by folder, pages elsewhere."""

import io
import os

import numpy as np
import pyarrow as pa
import pytest

import coquina as cq
from coquina.server.limits import Limits
from coquina.server.users import Users

from .asgi_client import Client
from .conftest import served

TOKENS = """\
# who     rights  folder
reader-1   r      .
owner-22   rw     team
owner-22   r      public
nobody-3   r      nowhere
"""


@pytest.fixture
def shared(tmp_path):
    for name in ("team", "public", "team/below", "teams"):
        (tmp_path / name).mkdir()
        cq.asarray(np.arange(6.0), path=tmp_path / name / "x.b2nd", chunks=(3,)).close()
    (tmp_path / "public" / "link.b2nd").symlink_to(tmp_path / "teams" / "x.b2nd")
    cq.create_table(tmp_path / "team" / "t.h5", {"a": np.arange(3)}, name="/t").close()
    (tmp_path / "tokens").write_text(TOKENS)
    return tmp_path


@pytest.fixture
def client(shared):
    with Client(served(shared, users=Users.read(str(shared / "tokens"))).app) as client:
        yield client


def bearer(token):
    return {"authorization": f"Bearer {token}"}


def names(client, token, path=""):
    return [one["path"] for one in client.get("/files/", bearer(token), path=path).json()["entries"]]


def npy(values):
    file = io.BytesIO()
    np.save(file, values)
    return file.getvalue()


def test_without_a_token_nothing_is_answered(client):
    for route in ("/files/", "/info/", "/raw/team/x.b2nd", "/version/", "/", "/expr/", "/meta/"):
        assert client.get(route, file="team/x.b2nd").status == 401
        assert client.get(route, bearer("wrong-token"), file="team/x.b2nd").status == 401
    assert client.ask("POST", "/append/", parameters={"file": "team/x.b2nd"}).status == 401
    assert client.ask("PUT", "/upload/team/y.b2nd").status == 401


def test_wrong_tokens_are_refused_whatever_they_are_and_counted(shared):
    wrong = ["", "reader-", "reader-11", "READER-1", "x" * 10_000, "\xfc", "%00", "' or 1=1"]
    users, limits = Users.read(str(shared / "tokens")), Limits(rate=1e-9, burst=2 * len(wrong) + 2)
    with Client(served(shared, users=users, limits=limits).app) as client:
        for token in wrong:
            assert client.get("/files/", bearer(token)).status == 401, token
            assert client.get("/files/", token=token or " ").status == 401, token
        statuses = [client.get("/files/", bearer("guess")).status for _ in range(5)]
        # Who guesses is told to wait; others are not.
        assert statuses == [401, 401, 429, 429, 429]
        assert client.get("/files/", bearer("reader-1")).status == 200


def test_rights_are_those_of_folders_and_all_below(client):
    assert names(client, "reader-1") == ["public", "team", "teams"]
    assert names(client, "owner-22") == ["public", "team"]
    assert names(client, "owner-22", "team") == ["team/below", "team/t.h5", "team/x.b2nd"]
    assert names(client, "nobody-3") == []
    for name, status in (("team/below/x.b2nd", 200), ("public/x.b2nd", 200), ("teams/x.b2nd", 404)):
        assert client.get("/info/", bearer("owner-22"), file=name).status == status
        assert client.get(f"/raw/{name}", bearer("owner-22")).status == status
    # What must not be read looks like what is not there.
    missing = client.get("/info/", bearer("owner-22"), file="teams/none.b2nd").json()
    assert missing["message"] == client.get("/info/", bearer("owner-22"), file="teams/x.b2nd").json()[
        "message"
    ].replace("x.b2nd", "none.b2nd")


def test_what_must_not_be_read_cannot_be_told_from_what_does_not_exist(client, shared):
    """Folders were told by the status, and files that coquina does not open by the message."""
    (shared / "teams" / "notes.txt").write_text("none of ours")
    (shared / "teams" / "below").mkdir()
    for route in ("info", "slice", "meta", "expr", "files", "raw"):
        answers = set()
        for name in ("x.b2nd", "notes.txt", "below", "none", "none/none", "x.b2nd/none"):
            where = {"path": f"teams/{name}"} if route == "files" else {"file": f"teams/{name}"}
            where = {} if route == "raw" else {**where, "expression": "a", "operands": "a:/"}
            path = f"/raw/teams/{name}" if route == "raw" else f"/{route}/"
            answer = client.get(path, bearer("owner-22"), **where)
            answers.add((answer.status, answer.json()["message"].replace(f"teams/{name}", "NAME")))
        assert len(answers) == 1, (route, answers)
        assert answers.pop()[0] == 404


def test_links_do_not_lead_past_rights(client):
    assert client.get("/info/", bearer("reader-1"), file="public/link.b2nd").status == 200
    assert client.get("/info/", bearer("owner-22"), file="public/link.b2nd").status == 404
    assert "public/link.b2nd" not in names(client, "owner-22", "public")


def test_a_token_of_a_url_becomes_a_cookie(client):
    answer = client.get("/files/", token="reader-1")
    assert answer.status == 200
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert client.get("/files/", {"cookie": cookie.partition(";")[0]}).status == 200
    assert client.get("/files/", token="wrong-token").status == 401


def test_writes_need_the_right_to_write(client, shared):
    body = npy(np.arange(3.0))
    for name, token, status in (
        ("team/x.b2nd", "reader-1", 403),
        ("public/x.b2nd", "owner-22", 403),
        ("teams/x.b2nd", "owner-22", 404),
        ("team/x.b2nd", "owner-22", 200),
    ):
        answer = client.ask("POST", "/append/", bearer(token), body=body, parameters={"file": name})
        assert answer.status == status, answer.content
    assert cq.open(str(shared / "team/x.b2nd"))[:].tolist() == [0, 1, 2, 3, 4, 5, 0, 1, 2]
    found = client.get("/slice/", bearer("owner-22"), file="team/x.b2nd")
    assert found.array().tolist()[-3:] == [0, 1, 2]


def test_rows_are_appended_in_one_commit(client, shared):
    rows = pa.table({"a": [7, 8]})
    file = io.BytesIO()
    with pa.ipc.new_stream(file, rows.schema) as stream:
        stream.write_table(rows)

    def ask(body):
        return client.ask(
            "POST", "/append/", bearer("owner-22"), body=body, parameters={"file": "team/t.h5", "path": "/t"}
        )

    assert ask(file.getvalue()).json() == {"appended": 2, "length": 5}
    assert client.get("/rows/", bearer("reader-1"), file="team/t.h5", path="/t").json()["values"] == {
        "a": [0, 1, 2, 7, 8]
    }
    for wrong in (b"", b"nothing", file.getvalue()[:-40], npy(np.arange(3))):
        assert ask(wrong).status == 400, wrong
    assert len(cq.open_table(shared / "team/t.h5")) == 5


def test_another_writer_is_told_of(client, shared):
    with cq.open(str(shared / "team/t.h5"), "r+"):
        pass
    import subprocess
    import sys

    code = "import coquina as cq, sys; f = cq.open(sys.argv[1], 'r+'); print('open', flush=True); input()"
    writer = subprocess.Popen(
        [sys.executable, "-c", code, str(shared / "team/x.b2nd")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert writer.stdout.readline() == b"open\n"
        body = npy(np.arange(3.0))
        answer = client.ask(
            "POST", "/append/", bearer("owner-22"), body=body, parameters={"file": "team/x.b2nd"}
        )
        assert answer.status == 409
        good = (shared / "public/x.b2nd").read_bytes()
        answer = client.ask("PUT", "/upload/team/x.b2nd", bearer("owner-22"), body=good, query="overwrite=1")
        assert answer.status == 409
    finally:
        writer.communicate(b"\n")


def test_uploads_appear_complete_or_not_at_all(client, shared):
    good = (shared / "public/x.b2nd").read_bytes()

    def put(name, body, token="owner-22", query=""):
        return client.ask("PUT", f"/upload/{name}", bearer(token), body=body, query=query).status

    assert put("team/new.b2nd", good) == 200
    assert client.get("/raw/team/new.b2nd", bearer("owner-22")).content == good
    assert put("team/new.b2nd", good) == 409
    assert put("team/new.b2nd", good, query="overwrite=1") == 200
    assert put("team/bad.b2nd", good[:-30]) == 400
    assert put("team/bad.h5", b"nothing") == 400
    assert put("team/page.html", b"<script>") == 400
    assert put("public/new.b2nd", good) == 403
    assert put("team/new.b2nd", good, token="reader-1") == 403
    for name in (
        "../new.b2nd",
        "team/../../new.b2nd",
        "team/.new.b2nd",
        "nowhere/new.b2nd",
        "team/below",
        "",
    ):
        assert put(name, good) in (400, 403, 404), name
    found = sorted(path.name for path in (shared / "team").iterdir())
    assert found == ["below", "new.b2nd", "t.h5", "x.b2nd"]


def test_uploads_of_killed_servers_are_removed_and_running_ones_are_not(client, shared):
    team = shared / "team"
    (team / ".upload-old").write_bytes(b"half of a file")
    os.utime(team / ".upload-old", (0, 0))
    (team / ".upload-now").write_bytes(b"half of a file")
    good = (shared / "public/x.b2nd").read_bytes()
    assert client.ask("PUT", "/upload/team/new.b2nd", bearer("owner-22"), body=good).status == 200
    assert names(client, "owner-22", "team") == ["team/below", "team/new.b2nd", "team/t.h5", "team/x.b2nd"]
    assert sorted(path.name for path in team.glob(".*")) == [".upload-now"]


def test_uploads_have_a_limit(shared):
    from coquina.server.limits import Limits

    good = (shared / "public/x.b2nd").read_bytes()
    limits = Limits(upload_bytes=len(good) - 1)
    with Client(served(shared, users=Users.read(str(shared / "tokens")), limits=limits).app) as client:
        for headers in ({}, {"content-length": str(len(good))}):
            answer = client.ask("PUT", "/upload/team/new.b2nd", {**bearer("owner-22"), **headers}, body=good)
            assert answer.status == 413
    assert not (shared / "team/new.b2nd").exists()


def test_a_proxys_header_counts_only_where_it_is_named(shared):
    by_name = "ada r team\n"
    (shared / "names").write_text(by_name)
    with Client(served(shared, users=Users.read(str(shared / "names"), "X-User")).app) as client:
        assert client.get("/info/", {"x-user": "ada"}, file="team/x.b2nd").status == 200
        assert client.get("/info/", {"x-user": "eve"}, file="team/x.b2nd").status == 401
        assert client.get("/info/", bearer("ada"), file="team/x.b2nd").status == 401
        assert client.get("/info/", {"x-user": "ada"}, file="public/x.b2nd").status == 404
    with Client(served(shared, users=Users.read(str(shared / "tokens"))).app) as client:
        assert client.get("/info/", {"x-user": "reader-1"}, file="team/x.b2nd").status == 401


@pytest.mark.parametrize("line", ["token-long x .", "token-long", "short r .", "token-long r ../up"])
def test_lines_that_make_no_sense_are_named(tmp_path, line):
    (tmp_path / "tokens").write_text(f"# fine\n{line}\n")
    with pytest.raises(ValueError, match="line 2"):
        Users.read(str(tmp_path / "tokens"))


def test_pages_elsewhere_may_ask_only_where_they_are_named(shared):
    origin = {"origin": "https://page.example"}
    with Client(served(shared).app) as client:
        answer = client.get("/files/", origin)
        assert not [name for name in answer.headers if name.startswith("access-control")]
    with Client(served(shared, origins=("https://page.example",)).app) as client:
        assert client.get("/files/", origin).headers["access-control-allow-origin"] == origin["origin"]
        assert (
            "access-control-allow-origin"
            not in client.get("/files/", {"origin": "https://evil.example"}).headers
        )
        assert client.ask("OPTIONS", "/slice/", origin).status == 204
    users = Users.single("token-long", may_write=True)
    with Client(served(shared, users=users).app) as client:
        answer = client.ask(
            "PUT",
            "/upload/team/n.b2nd",
            {**bearer("token-long"), "origin": "https://evil.example"},
            body=b"x",
        )
        assert answer.status == 403
        assert answer.json()["error"] == "origin"


def test_a_server_for_this_machine_has_its_names_only(shared):
    from coquina.server.commanding import Settings, application_of

    with Client(application_of(Settings(str(shared))).app) as client:
        assert client.get("/files/", {"host": "localhost:8765"}).status == 200
        assert client.get("/files/", {"host": "127.0.0.1"}).status == 200
        assert client.get("/files/", {"host": "rebound.example"}).status == 403
