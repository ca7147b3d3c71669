"""Errors keep their class, words and reason across pickles and across the wire."""

import pickle

import pytest

from seoga import errors
from seoga.errors import EmbeddingFailed, ExtractionFailed, ProviderFault, Reason, SeogaError


def _every_class() -> list[type[SeogaError]]:
    return [
        found
        for found in vars(errors).values()
        if isinstance(found, type) and issubclass(found, SeogaError)
    ]


@pytest.mark.parametrize("cls", _every_class())
def test_an_error_is_the_same_class_with_the_same_words_on_the_other_side(
    cls: type[SeogaError],
) -> None:
    error = cls("the thing is 깨짐", "fix it")
    there = errors.unwire(errors.wire(error))
    assert type(there) is cls
    assert there.shape() == error.shape()
    pickled = pickle.loads(pickle.dumps(error))
    assert type(pickled) is cls
    assert pickled.shape() == error.shape()
    assert str(pickled) == "the thing is 깨짐"


def test_codes_are_distinct() -> None:
    codes = [cls.code for cls in _every_class()]
    assert len(set(codes)) == len(codes)


def test_the_drawn_tree_names_every_class() -> None:
    drawn = errors.__doc__ or ""
    for cls in _every_class():
        assert cls.__name__ in drawn


def test_reason_and_fault_travel_with_the_error() -> None:
    encrypted = ExtractionFailed("locked", reason=Reason.ENCRYPTED)
    there = errors.unwire(errors.wire(encrypted))
    assert isinstance(there, ExtractionFailed)
    assert there.reason is Reason.ENCRYPTED
    assert pickle.loads(pickle.dumps(encrypted)).reason is Reason.ENCRYPTED
    limited = EmbeddingFailed("slow down", fault=ProviderFault.RATE)
    back = errors.unwire(errors.wire(limited))
    assert isinstance(back, EmbeddingFailed)
    assert back.fault is ProviderFault.RATE


def test_a_code_of_a_newer_release_becomes_a_plain_error() -> None:
    assert type(errors.unwire({"code": "from_the_future", "message": "m"})) is SeogaError


def test_a_reason_of_a_newer_release_is_not_a_crash() -> None:
    there = errors.unwire({"code": "extraction_failed", "message": "m", "reason": "quantum"})
    assert isinstance(there, ExtractionFailed)
    assert there.reason is Reason.INTERNAL
