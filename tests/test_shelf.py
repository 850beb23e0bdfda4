"""What is kept in parts: texts of a tree in packs, and what was printed of each file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from graphlint.cache import printed, shelf, witness
from graphlint.cache.shelf import Shelf, Text
from graphlint.cache.tree import Told
from graphlint.retold import Piece, Retold
from graphlint.types import Report

STEM = "a"


def packs(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"{STEM}-*{shelf.ENDING}"))


def put(folder: Path, kept: list[Text], text: bytes) -> list[Text]:
    """Put one more text on a shelf, as a run does."""
    own = Shelf(str(folder), STEM)
    kept = [*kept, own.add(text)]
    places = own.settle(kept)
    return [places.get(each, each) for each in kept]


def test_a_text_is_read_as_it_was_added_and_after_it_was_written(tmp_path: Path) -> None:
    own = Shelf(str(tmp_path), STEM)
    texts = [b"one", b"", b"three\nlines\n"]
    fresh = [own.add(each) for each in texts]
    assert list(map(own.read, fresh)) == texts
    places = own.settle(fresh)
    assert [Shelf(str(tmp_path), STEM).read(places[each]) for each in fresh] == texts
    assert own.settle(places.values()) == {}


def test_a_run_adds_a_pack_and_many_small_packs_become_one(tmp_path: Path) -> None:
    texts = [b"x" * 1000, *(str(number).encode() for number in range(2 * shelf.MOST))]
    kept: list[Text] = []
    for text in texts:
        kept = put(tmp_path, kept, text)
        assert list(map(Shelf(str(tmp_path), STEM).read, kept)) == texts[: len(kept)]
    assert 1 < len({each.pack for each in kept}) <= shelf.MOST
    assert kept[0].pack == put(tmp_path, [], texts[0])[0].pack, "the largest pack stays as it is"


def test_a_large_pack_in_which_hardly_anything_is_used_goes_too(tmp_path: Path) -> None:
    own = Shelf(str(tmp_path), STEM)
    fresh = [own.add(b"x" * 1000), own.add(b"y" * 100)]
    places = own.settle(fresh)
    kept = [places[fresh[1]]]
    for number in range(shelf.MOST):
        kept = put(tmp_path, kept, str(number).encode())
    assert kept[0].pack != places[fresh[1]].pack


def test_packs_in_which_nothing_is_used_are_removed_after_a_while(tmp_path: Path) -> None:
    kept = put(tmp_path, put(tmp_path, [], b"one"), b"two")
    (tmp_path / f"b-1{shelf.ENDING}").write_text("of another tree")
    Shelf(str(tmp_path), STEM).tidy(kept[:1])
    assert len(packs(tmp_path)) == 2, "somebody may still be reading it"
    for path in packs(tmp_path):
        os.utime(path, (0, 0))
    Shelf(str(tmp_path), STEM).tidy(kept[:1])
    assert [each.name for each in packs(tmp_path)] == [kept[0].pack]
    assert (tmp_path / f"b-1{shelf.ENDING}").exists()


@pytest.mark.parametrize("damage", [b"", b"x" * 100])
def test_a_damaged_text_is_refused(tmp_path: Path, damage: bytes) -> None:
    (kept,) = put(tmp_path, [], b"text")
    (path,) = packs(tmp_path)
    path.write_bytes(damage)
    with pytest.raises(ValueError, match="damaged"):
        Shelf(str(tmp_path), STEM).read(kept)
    path.unlink()
    with pytest.raises(ValueError, match="cannot be read"):
        Shelf(str(tmp_path), STEM).read(kept)


def test_pieces_of_what_was_printed_outlive_a_change(tmp_path: Path) -> None:
    folder, file = str(tmp_path / "cache"), "a.printed"
    os.mkdir(folder)
    said = printed.Printed(1, "— one\n\ntwo\n", {"a": "— one", "b": "two"})
    for holds in (True, False):
        said.holds = holds
        assert printed.save(folder, file, said, {str(tmp_path): witness.look(str(tmp_path))})
        again = printed.load(folder, file)
        assert again is not None and (again.status, again.text, again.holds) == (1, said.text, holds)
        assert again.pieces == ({} if holds else said.pieces)


def test_the_text_of_a_piece_is_not_used_by_another_graphlint(tmp_path: Path) -> None:
    def key(basis: str) -> str:
        told = Told(Text("digest"), 0, 0, 0, False, {}, ())
        return Piece("a.py", told, Retold({}, {}, Shelf(str(tmp_path), STEM), basis, lambda: Report(()))).key

    assert key("one") == key("one") != key("other")
