"""Dictionaries: files, identities, learning."""

import math
import pickle
import subprocess
import sys

import numpy as np
import pytest
import tessera
from conftest import ramp
from tessera import Dictionary


def other_dictionary():
    """One that is not built in."""
    return Dictionary.builtin().with_provenance("for a test")


def test_files_and_identities(tmp_path):
    own = other_dictionary()
    own.save(tmp_path / "own.tsd")
    again = Dictionary.open(tmp_path / "own.tsd")
    assert again == own and hash(again) == hash(own) and again.id == own.id and len(own.id) == 32
    assert again.provenance == "for a test" and again.nbytes == (tmp_path / "own.tsd").stat().st_size
    assert Dictionary.builtin().id.startswith("builtin:") and Dictionary.builtin() != own
    assert own.id in repr(own) and own.n_references == 0


def test_nothing_is_overwritten_unasked(tmp_path):
    path = tmp_path / "own.tsd"
    path.write_bytes(b"precious")
    with pytest.raises(FileExistsError, match="overwrite=True"):
        other_dictionary().save(path)
    assert path.read_bytes() == b"precious" and len(list(tmp_path.iterdir())) == 1
    other_dictionary().save(path, overwrite=True)
    assert Dictionary.open(path) == other_dictionary()


def test_pickled_dictionaries_are_the_same():
    own = other_dictionary()
    assert pickle.loads(pickle.dumps(own)) == own


def test_files_need_their_dictionary(monkeypatch, tmp_path):
    own = other_dictionary()
    file = tessera.encode(ramp(40, 40), dictionary=own)
    assert tessera.CodedImage(file).dictionary_id == own.id
    monkeypatch.setenv("TESSERA_DICT_PATH", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with pytest.raises(tessera.DictionaryError, match=str(tmp_path)):
        tessera.decode(file)
    with pytest.raises(tessera.DictionaryError, match="is builtin"):
        tessera.decode(file, dictionary=Dictionary.builtin())
    given = tessera.decode(file, dictionary=own)
    own.save(tmp_path / "any name.tsd")
    np.testing.assert_array_equal(tessera.decode(file), given)
    assert Dictionary.find(own.id[:10]) == own


def test_damaged_files_are_errors(tmp_path):
    bad = bytearray(other_dictionary().to_bytes())
    bad[len(bad) // 2] ^= 1
    for content in (bytes(bad), b"", b"no dictionary at all"):
        with pytest.raises(tessera.DictionaryError):
            Dictionary.from_bytes(content)
    (tmp_path / "bad.tsd").write_bytes(bytes(bad))
    with pytest.raises(tessera.DictionaryError, match="bad.tsd"):
        Dictionary.open(tmp_path / "bad.tsd")
    with pytest.raises(FileNotFoundError, match="none.tsd"):
        Dictionary.open(tmp_path / "none.tsd")


def test_training_is_told_and_repeats(collection, trained_here):
    trained, heard = trained_here
    assert (trained.n_training + trained.n_validation, trained.finished) == (5, True)
    assert [str(path).endswith("notes.png") for path, _ in trained.skipped] == [True]
    assert trained.change <= 0 and {stage for stage, _, _ in heard} >= {"harvest", "validation"}
    again = tessera.train([collection], threads=1, references=False, expected=math.inf)
    assert again.dictionary == trained.dictionary and again.change == trained.change


def test_training_in_no_time_ends(collection):
    trained = tessera.train(collection, seconds=0, expected=math.inf)
    assert not trained.finished


def test_nothing_to_learn_from_is_an_error(tmp_path):
    with pytest.raises(tessera.ParameterError, match="no readable pictures"):
        tessera.train(tmp_path)
    with pytest.raises(OSError, match="does not exist"):
        tessera.train(tmp_path / "nowhere")


def test_a_watcher_that_fails_ends_the_training(collection, capfd):
    def fail(*step):
        raise RuntimeError("cannot draw")

    trained = tessera.train(collection, progress=fail)
    assert not trained.finished and "cannot draw" in capfd.readouterr().err


def test_importing_is_quick_and_needs_no_scikit_learn():
    program = "import sys, tessera; print('sklearn' in sys.modules, 'distributed' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["False", "False"]
