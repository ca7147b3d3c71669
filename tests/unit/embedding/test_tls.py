"""Certificates of providers that are not to be trusted, on real TLS connections."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from seoga.contracts import network
from seoga.contracts.embedding import Passage
from seoga.errors import EmbeddingFailed, ProviderFault
from seoga_embedding.engine import EmbeddingEngine

from .conftest import good
from .test_providers import Spec

Start = Callable[..., EmbeddingEngine]


class Authority:
    """Signs certificates, as a company's own does."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._key = folder, ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Own authority")])
        self.file = folder / "authority.pem"
        own = self._certificate(self._name, self._key, "", days=1)
        self.file.write_bytes(own.public_bytes(serialization.Encoding.PEM))

    def _certificate(
        self, name: x509.Name, key: ec.EllipticCurvePrivateKey, host: str, days: int
    ) -> x509.Certificate:
        now = datetime.now(UTC)
        made = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=9))
            .not_valid_after(now + timedelta(days=days))
            .add_extension(x509.BasicConstraints(ca=not host, path_length=None), critical=True)
        )
        if host:
            made = made.add_extension(
                x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False
            )
        return made.sign(self._key, hashes.SHA256())

    def server(self, host: str, days: int = 1) -> ssl.SSLContext:
        """What a server needs that is `host`, for so many more days."""
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
        certificate = self._certificate(name, key, host, days)
        file = self._folder / f"{host}.pem"
        file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
            + certificate.public_bytes(serialization.Encoding.PEM)
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context


class Server(ThreadingHTTPServer):
    """Counts connections; a handshake that fails is one too."""

    connections = 0

    def verify_request(self, *_: object) -> bool:
        self.connections += 1
        return True

    def handle_error(self, *_: object) -> None:
        """A client that leaves is what these tests are about."""


class Embeddings(BaseHTTPRequestHandler):
    """The same vector for every text."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        data = [{"index": at, "embedding": [1.0, 0.0]} for at in range(len(asked["input"]))]
        body = json.dumps({"data": data}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@contextmanager
def serving(context: ssl.SSLContext | None) -> Iterator[Server]:
    server = Server(("127.0.0.1", 0), Embeddings)
    if context is not None:
        # The handshake is done by the thread of its connection, not by the one that accepts.
        server.socket = context.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join(20)
        server.server_close()


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
def trust(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Authority], None]]:
    """Names an authority as a person does."""

    def named(authority: Authority) -> None:
        monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
        network.trusted.cache_clear()

    network.trusted.cache_clear()
    yield named
    network.trusted.cache_clear()


@pytest.mark.parametrize(
    ("host", "days", "known", "why"),
    [
        ("localhost", 1, False, "unable to get local issuer certificate"),
        ("elsewhere.example", 1, True, "Hostname mismatch"),
        ("localhost", -1, True, "certificate has expired"),
    ],
)
def test_a_certificate_that_is_not_trusted_ends_the_work_after_one_call_with_the_way_out(
    *,
    start: Start,
    spec_of: Spec,
    authority: Authority,
    trust: Callable[[Authority], None],
    host: str,
    days: int,
    known: bool,
    why: str,
) -> None:
    if known:
        trust(authority)
    engine = start()
    with serving(authority.server(host, days)) as server:
        url = f"https://localhost:{server.server_port}"
        spec = spec_of("openai", base_url=url, dimension=2)
        for _ in range(3):
            with pytest.raises(EmbeddingFailed) as failed:
                engine.embed_passages([Passage(f"text {at}") for at in range(9)], spec)
            assert failed.value.fault is ProviderFault.OUTAGE
            assert f"at {url} " in failed.value.message
            assert why in failed.value.message
            assert "SSL_CERT_FILE" in failed.value.hint
        assert server.connections == 1


def test_an_authority_that_is_named_is_trusted_on_this_machine_too(
    start: Start, spec_of: Spec, authority: Authority, trust: Callable[[Authority], None]
) -> None:
    trust(authority)
    with serving(authority.server("localhost")) as server:
        spec = spec_of("openai", base_url=f"https://localhost:{server.server_port}", dimension=2)
        assert len(good(start().embed_passages([Passage("one"), Passage("two")], spec))) == 2


def test_a_server_without_tls_at_an_https_address_is_told(start: Start, spec_of: Spec) -> None:
    with serving(None) as server:
        spec = spec_of("openai", base_url=f"https://localhost:{server.server_port}", dimension=2)
        with pytest.raises(EmbeddingFailed) as failed:
            start().embed_query("one", spec)
        assert "over TLS" in failed.value.message
        assert "http address" in failed.value.hint
        assert server.connections == 1
