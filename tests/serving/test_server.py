"""What the server does with requests of every kind: right, wrong, slow and many."""

import hashlib
import json
import random
import re
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import requests
from tests.serving.conftest import Running, Start, lines

from dragoman.translator import Translator


def test_answers_are_those_of_the_model(server: Running, model_folder: Path) -> None:
    texts = ["Good morning!", "Where is the station?", "", "  ", "Thank you."]
    body = {"q": texts, "source": "en", "target": "es"}
    answer = server.post("/translate", body).json()
    translator = Translator.load(model_folder)
    repeats = translator.config.decoding.max_repeats
    options = replace(translator.options, max_repeats=repeats)
    assert answer["translatedText"] == [
        line.text for line in translator.translate_lines(texts, options=options)
    ]


def test_our_own_api_says_what_the_model_knows(server: Running) -> None:
    body = {"texts": ["Call {name} at 12345."], "source": "en", "target": "es"}
    more = {"nbest": 2, "token_scores": True, "alignment": True}
    [one] = server.post("/v1/translate", body | more).json()["translations"]
    [sentence] = one["sentences"]
    assert len(sentence["pieces"]) <= len(sentence["log_probabilities"])
    assert len(sentence["nbest"]) == 2
    assert sentence["alignment"]
    kinds = {carried["kind"]: carried["source"] for carried in sentence["protected"]}
    assert kinds == {"variable": "{name}", "number": "12345"}
    assert re.fullmatch(r"toy@[0-9a-f]{12}", one["model"])
    pinned = server.post("/v1/translate", body | {"model": one["model"]})
    assert pinned.json()["translations"][0]["text"] == one["text"]
    other = server.post("/v1/translate", body | {"model": "older"})
    assert other.status_code == 400
    assert other.json()["error"] == "there is no model 'older' for en to es"


def test_a_prefix_and_what_could_follow_it(server: Running) -> None:
    ask = {"text": "Good morning", "source": "en", "target": "es", "prefix": "Bue"}
    found = server.post("/v1/alternatives", ask | {"count": 3}).json()["alternatives"]
    assert len(found) == 3
    chances = [one["log_probability"] for one in found]
    assert chances == sorted(chances, reverse=True)
    body = {"texts": ["Good morning"], "source": "en", "target": "es", "prefix": "Bue"}
    [one] = server.post("/v1/translate", body).json()["translations"]
    assert one["text"].startswith("Bue")


def test_a_glossary_can_come_with_the_request(server: Running) -> None:
    body = {"texts": ["My friend"], "target": "es", "glossary": {"friend": "compadre"}}
    [one] = server.post("/v1/translate", body).json()["translations"]
    assert "compadre" in one["text"]


def test_texts_can_be_streamed(server: Running) -> None:
    body = {"texts": ["Number 12345", "Number 54321"], "target": "es", "stream": True}
    answer = server.post("/v1/translate", body)
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = re.findall(r"event: (\w+)\ndata: (.*)\n\n", answer.text)
    assert [kind for kind, _ in events] == ["translation", "translation", "done"]
    for number, (_, data) in zip(("12345", "54321"), events, strict=False):
        assert number in json.loads(data)["text"]


def test_the_description_names_every_path(server: Running) -> None:
    described = server.get("/v1/openapi.json").json()
    assert described["openapi"] == "3.1.0"
    page = server.get("/docs")
    assert page.headers["content-security-policy"] == "default-src 'none'"
    for path in described["paths"]:
        assert path in page.text


WRONG: list[tuple[str, Any, int, str]] = [
    ("/translate", {"source": "en", "target": "es"}, 400, "missing q parameter"),
    ("/translate", {"q": "x", "target": "es"}, 400, "missing source parameter"),
    ("/translate", {"q": "x", "source": "en"}, 400, "missing target parameter"),
    ("/translate", {"q": "x", "source": "zz", "target": "es"}, 400, "zz is not supp"),
    ("/translate", {"q": [1], "source": "en", "target": "es"}, 400, "list of texts"),
    (
        "/translate",
        {"q": "x", "source": "en", "target": "es", "format": "pdf"},
        400,
        "f",
    ),
    (
        "/translate",
        {"q": "x" * 100_001, "source": "en", "target": "es"},
        400,
        "exceeds",
    ),
    ("/translate", [], 400, "must be a JSON object"),
    ("/v1/translate", {"texts": ["x"], "target": "es", "textz": 1}, 400, "no field"),
    (
        "/v1/translate",
        {"texts": ["x"], "target": "es", "nbest": 99},
        400,
        "from 0 to 16",
    ),
    ("/v1/translate", {"texts": ["x"], "target": "es", "glossary": 3}, 400, "object"),
    (
        "/v1/translate",
        {"texts": ["\ud800"], "target": "es"},
        400,
        "halves of characters",
    ),
    (
        "/v1/translate",
        {"texts": ["Good morning. Thank you."], "target": "es", "prefix": "x"},
        400,
        "one sen",
    ),
    ("/suggest", {"q": "x", "source": "en", "target": "es"}, 400, "missing q or s"),
]


@pytest.mark.parametrize(("path", "body", "status", "message"), WRONG)
def test_what_is_wrong_is_said(
    server: Running, path: str, body: Any, status: int, message: str
) -> None:
    answer = server.post(path, body)
    assert answer.status_code == status
    assert message in answer.json()["error"]


def test_methods_paths_and_names_that_are_not_ours(server: Running) -> None:
    assert server.get("/translate").status_code == 405
    assert server.get("/nothing").json()["error"] == "Not Found"
    strange = server.get("/health", headers={"Host": "evil.example"})
    assert strange.status_code == 421


def test_a_deadline_that_has_passed_is_kept(server: Running) -> None:
    body = {"q": [f"Sentence {n} of many." for n in range(300)]}
    headers = {"X-Request-Timeout": "0.01"}
    ask = body | {"source": "en", "target": "es"}
    answer = server.post("/translate", ask, headers=headers)
    assert answer.status_code == 503
    assert answer.headers["retry-after"]
    odd = server.post("/translate", ask, headers={"X-Request-Timeout": "soon"})
    assert odd.status_code == 400


def test_bombs_are_refused_or_worked_off(server: Running) -> None:
    deep = b'{"q":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    for body in (deep, b"{" * 50_000, b'{"q": "' + b"x" * 3_000_000 + b'"}'):
        answer = requests.post(
            f"{server.url}/translate",
            data=body,
            headers={"Content-Type": "application/json"},
            timeout=60,
        )
        assert answer.status_code in (400, 413)
        assert answer.json()["error"]
    many = {"q": ["a"] * 100_000, "source": "en", "target": "es"}
    assert server.post("/translate", many).status_code == 400
    html = "<b>" * 2000 + "x" + "</b>" * 2000
    nested = {"q": html, "source": "en", "target": "es", "format": "html"}
    text = server.post("/translate", nested).json()["translatedText"]
    assert text.count("<b>") == text.count("</b>") == 2000


def test_slow_clients_are_closed_and_others_unharmed(server: Running) -> None:
    host, port = server.url.removeprefix("http://").split(":")
    head = b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n"
    slow = []
    for number in range(40):
        one = socket.create_connection((host, int(port)), timeout=30)
        one.sendall(head + (b"\r\n{" if number % 2 else b"X-More: "))
        slow.append(one)
    body = {"q": "Number 12345", "source": "en", "target": "es"}
    assert "12345" in server.post("/translate", body).json()["translatedText"]
    for one in slow:
        while one.recv(4096):  # until the server has closed it
            pass
        one.close()


def random_body(rng: random.Random) -> Any:
    values: list[Any] = [
        None,
        True,
        -1,
        1e308,
        "",
        "x",
        "en",
        "es",
        "auto",
        "html",
        "xml",
    ]
    values += ["\x00", "é" * 50, ["x"], [["x"]], {}, {"a": "b"}, "<b>x", "⟦1⟧", "12345"]
    names = ["q", "text", "texts", "source", "target", "source_lang", "target_lang"]
    names += ["format", "alternatives", "tag_handling", "glossary_id", "glossary"]
    names += ["nbest", "prefix", "stream", "api_key", "name", "entries", "s", "input"]
    if rng.random() < 0.1:
        return rng.choice(values)
    body = {rng.choice(names): rng.choice(values) for _ in range(rng.randint(0, 6))}
    if rng.random() < 0.5:
        body |= {"source": "en", "target": "es", "target_lang": "ES"}
    return body


PATHS = (
    *("/translate", "/detect", "/languages", "/translate_file", "/suggest", "/spec"),
    *("/download_file/x", "/v2/translate", "/v2/usage", "/v2/languages"),
    *("/v2/document", "/v2/document/x", "/v2/document/x/result", "/v2/glossaries"),
    *("/v2/glossaries/x", "/v2/glossaries/x/entries", "/v3/glossaries"),
    *("/v3/glossaries/x", "/v3/glossaries/x/dictionaries", "/v3/style_rules"),
    *("/v1/translate", "/v1/alternatives", "/v1/detect", "/v1/models"),
    *("/MTRestService/TranslateJson", "/MTRestService/PreOrderBatch", "/x/y"),
    *("/translator/translate", "/health", "/metrics", "/"),
)


def fuzz(server: Running, count: int, seed: int) -> None:
    rng = random.Random(seed)
    session = requests.Session()
    for _ in range(count):
        path = rng.choice(PATHS)
        method = rng.choice(["GET", "POST", "POST", "POST", "PUT", "PATCH", "DELETE"])
        body = random_body(rng)
        more: dict[str, Any] = {"json": body}
        if rng.random() < 0.3 and isinstance(body, dict):
            more = {"data": {k: str(v) for k, v in body.items()}}
        elif rng.random() < 0.1:
            more = {"data": rng.randbytes(rng.randint(0, 200))}
        answer = session.request(
            method, server.url + path, timeout=60, allow_redirects=False, **more
        )
        said = (path, method, more, answer.status_code, answer.text[:200])
        assert answer.status_code < 500, said
        if answer.status_code >= 400:
            field = "message" if path.startswith(("/v2", "/v3")) else "error"
            assert isinstance(answer.json()[field], str), said
        assert "Traceback" not in answer.text, said
        assert "/site-packages" not in answer.text, said


def test_fuzzed_requests_are_never_our_fault(server: Running) -> None:
    fuzz(server, 400, seed=1)


@pytest.mark.faults
def test_ten_thousand_fuzzed_requests(server: Running) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda seed: fuzz(server, 2500, seed), range(2, 6)))


def hammer(server: Running, clients: int, seconds: float) -> dict[int, int]:
    """Let clients ask at once; each answer must carry its own client's number."""
    counts: dict[int, int] = {}
    end = time.monotonic() + seconds
    lock = threading.Lock()

    def client(number: int) -> None:
        session, turn = requests.Session(), 0
        while time.monotonic() < end:
            turn += 1
            mark = str(100_000 + 1000 * number + turn % 1000)
            body = {"q": f"Number {mark} please.", "source": "en", "target": "es"}
            answer = session.post(f"{server.url}/translate", json=body, timeout=60)
            with lock:
                counts[answer.status_code] = counts.get(answer.status_code, 0) + 1
            if answer.ok:
                assert mark in answer.json()["translatedText"]
            else:
                assert answer.status_code in (429, 503)
                assert answer.headers["retry-after"]

    with ThreadPoolExecutor(clients) as pool:
        list(pool.map(client, range(clients)))
    return counts


def test_no_answer_is_swapped_between_clients(server: Running) -> None:
    assert hammer(server, 16, 3.0).get(200, 0) > 16


def _memory(server: Running) -> int:
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+)", status)
    assert found
    return int(found[1])


@pytest.mark.faults
def test_two_hundred_clients_for_ten_minutes(start: Start) -> None:
    server = start("--cache", "1000")
    hammer(server, 200, 60.0)
    before = _memory(server)
    counts = hammer(server, 200, 540.0)
    assert counts[200] > 1000
    assert _memory(server) < 1.05 * before


def test_stopping_answers_all_that_was_accepted(start: Start) -> None:
    server = start()
    body = {"q": [f"Number {12345 + n}." for n in range(200)]}
    ask = body | {"source": "en", "target": "es"}
    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(server.post, "/translate", ask) for _ in range(4)]
        time.sleep(0.3)
        assert server.stop() == 0
        for one in waiting:
            answer = one.result()
            assert answer.status_code == 200
            assert len(answer.json()["translatedText"]) == 200


def test_a_full_queue_refuses_at_once(start: Start) -> None:
    server = start("--max-tokens", "400")
    body = {"q": [f"Number {12345 + n} of many." for n in range(300)]}
    answer = server.post("/translate", body | {"source": "en", "target": "es"})
    assert answer.status_code == 413
    assert "too long" in answer.json()["error"]

    def ask(number: int) -> int:
        texts = [f"Sentence {number} {n} goes here." for n in range(15)]
        sent = {"q": texts, "source": "en", "target": "es"}
        answer = server.post("/translate", sent)
        if answer.status_code == 503:
            assert int(answer.headers["retry-after"]) >= 1
        return answer.status_code

    with ThreadPoolExecutor(12) as pool:
        assert set(pool.map(ask, range(12))) == {200, 503}
    server.stop()


@pytest.fixture(scope="session")
def kept(
    start: Start, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[], Running]:
    """A server with keys and a database, which can be started again."""
    folder = tmp_path_factory.mktemp("kept")
    keys = [
        f'[[key]]\nname = "{name}"\nsha256 = "{hashlib.sha256(k).hexdigest()}"\n{limit}'
        for name, k, limit in (
            ("alice", b"secret", ""),
            ("bob", b"poor", "characters_per_month = 10"),
            ("carol", b"slow", "characters_per_minute = 10"),
        )
    ]
    (folder / "keys.toml").write_text("\n".join(keys))
    options = ("--keys", str(folder / "keys.toml"), "--database", str(folder / "db"))
    return lambda: start(*options, "--log-requests")


def test_keys_limits_and_what_survives_a_kill(kept: Callable[[], Running]) -> None:
    server = kept()
    body = {"q": "Good morning", "source": "en", "target": "es"}
    nobody = server.post("/translate", body)
    assert nobody.status_code == 403
    assert nobody.json() == {"error": "Invalid API key"}
    assert server.post("/translate", body | {"api_key": "secret"}).ok
    header = {"Authorization": "DeepL-Auth-Key secret"}
    assert server.get("/v2/usage", headers=header).json()["character_count"] == 12
    wrong = server.get("/v2/usage", headers={"Authorization": "DeepL-Auth-Key x"})
    assert wrong.status_code == 403
    assert server.post("/translate", body | {"api_key": "poor"}).status_code == 403
    poor = {"Authorization": "DeepL-Auth-Key poor"}
    text = {"text": ["Good morning"], "target_lang": "ES"}
    assert server.post("/v2/translate", text, headers=poor).status_code == 456
    slow = server.post("/translate", body | {"api_key": "slow"})
    assert slow.status_code == 429
    assert int(slow.headers["retry-after"]) <= 60
    entries = {"name": "g", "source_lang": "en", "target_lang": "es"}
    glossary = entries | {"entries": "a\tb", "entries_format": "tsv"}
    made = server.post("/v2/glossaries", glossary, headers=header)
    assert made.status_code == 201
    other = server.get("/v2/glossaries", headers=poor).json()
    assert other == {"glossaries": []}
    server.process.kill()
    server.process.wait()
    again = kept()
    assert again.get("/v2/usage", headers=header).json()["character_count"] == 12
    listed = again.get("/v2/glossaries", headers=header).json()["glossaries"]
    assert [one["glossary_id"] for one in listed] == [made.json()["glossary_id"]]
    for log in (server.log, again.log):
        said = log.read_text()
        assert "secret" not in said
        assert "Good morning" not in said
    assert {line["api"] for line in lines(again.log)} >= {"deepl", "health"}
    metrics = again.get("/metrics").text
    assert "alice" not in metrics
    assert "127.0.0.1" not in metrics
    assert 'dragoman_requests_total{api="deepl",status="200"} 2' in metrics
    again.stop()


def test_suggestions_are_kept(start: Start, tmp_path: Path) -> None:
    server = start("--database", str(tmp_path / "db"))
    body = {"q": "dog", "s": "can", "source": "en", "target": "es"}
    assert server.post("/suggest", body).json() == {"success": True}
    server.stop()
    rows = sqlite3.connect(tmp_path / "db").execute("SELECT * FROM suggestions")
    assert rows.fetchall() == [("anonymous", "en", "es", "dog", "can")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "there is nothing to serve: name a model folder"),
        (["nothing"], "there is no model folder nothing"),
        (["x", "--host", "0.0.0.0"], "can be reached from other machines: give --keys"),
        (["x", "--port", "99999"], "99999 is not a port: choose 0 to 65535"),
    ],
)
def test_what_cannot_be_served_is_said_in_one_line(
    options: list[str], message: str, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "dragoman", "serve", *options],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
