"""A GGUF file is converted once: the copy is whole or not there, and belongs to the bytes of its file."""

import os
import re
import shutil
from pathlib import Path

import pytest
import tiny_model
from heard import heard

from s2b_lab.llm import ModelUnavailable
from s2b_lab.models import weights
from s2b_lab.models.causal import causal_model


@pytest.fixture
def gguf(tmp_path, monkeypatch):
    """A file that stands for a GGUF: reading it loads a tiny model, slowly, as the list of readings says."""
    tiny_model.write(tmp_path / "tiny")
    monkeypatch.setenv("S2B_MODEL_CACHE", str(tmp_path / "cache"))
    file, read, load = tmp_path / "small.gguf", [], weights._loaded
    file.write_bytes(b"weights")

    def loaded(place, gguf_file="", **options):
        if gguf_file:
            read.append(Path(place, gguf_file).read_bytes())
            place = str(tmp_path / "tiny")
        return load(place, **options)

    monkeypatch.setattr(weights, "_loaded", loaded)
    return file, read


def outcome(found):
    import torch

    tokenizer, model = found
    with torch.inference_mode():
        return model(torch.tensor([tokenizer("one two. three.")["input_ids"]])).logits


def test_the_file_is_read_once_and_the_copy_says_the_same(gguf):
    file, read = gguf
    first = outcome(weights.load_causal(str(file)))
    again = outcome(weights.load_causal(str(file)))
    assert read == [b"weights"]
    assert bool((first == again).all())
    assert os.listdir(file.parent / "cache") == [weights.converted_folder(file).name]


def test_another_file_of_the_same_name_has_another_copy(gguf):
    file, read = gguf
    weights.load_causal(str(file))
    file.write_bytes(b"others!")
    os.utime(file, (1, 1))
    weights.load_causal(str(file))
    assert read == [b"weights", b"others!"]


@pytest.mark.parametrize("fault", ["cut", "missing", "no receipt", "strange receipt"])
def test_a_copy_that_is_not_whole_is_made_anew(gguf, fault):
    file, read = gguf
    weights.load_causal(str(file))
    folder = weights.converted_folder(file)
    if fault == "cut":
        part = folder / "model.safetensors"
        part.write_bytes(part.read_bytes()[:-9])
    elif fault == "missing":
        (folder / "config.json").unlink()
    elif fault == "no receipt":
        (folder / "converted.json").unlink()
    else:
        (folder / "converted.json").write_text("[1]")
    weights.load_causal(str(file))
    weights.load_causal(str(file))
    assert len(read) == 2 and weights._is_whole(folder)


def test_a_kill_while_writing_leaves_no_copy_and_what_it_left_is_swept(gguf, monkeypatch):
    file, _ = gguf
    folder = weights.converted_folder(file)

    def killed(new, tokenizer, model):
        new.mkdir()
        (new / "config.json").write_text("{}")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(weights, "_write", killed)
        weights.load_causal(str(file))
    assert not folder.exists()
    old, new = folder.parent / f"{folder.name}.old", folder.parent / f"{folder.name}.new"
    old.mkdir()
    new.mkdir()
    os.utime(old, (1, 1))
    weights.load_causal(str(file))
    assert weights._is_whole(folder) and not old.exists() and new.exists()


def test_of_two_writers_at_once_the_first_one_s_copy_stays_and_nobody_is_warned(gguf, monkeypatch):
    file, _ = gguf
    folder, write = weights.converted_folder(file), weights._write

    def overtaken(new, *parts):
        write(new, *parts)
        shutil.copytree(new, folder)
        (folder / "first").touch()

    monkeypatch.setattr(weights, "_write", overtaken)
    with heard(UserWarning) as told:
        weights.load_causal(str(file))
    assert not told
    assert (folder / "first").exists() and weights._is_whole(folder) and os.listdir(folder.parent) == [folder.name]


def test_where_no_copy_can_be_kept_the_model_works_with_a_warning(gguf, monkeypatch):
    file, read = gguf
    (file.parent / "cache").write_text("a file, no folder")
    with pytest.warns(UserWarning, match="cannot be kept in .*cache"):
        assert outcome(weights.load_causal(str(file))).shape
    assert read == [b"weights"]


def test_a_folder_is_read_as_it_is_without_a_copy(tmp_path, monkeypatch):
    monkeypatch.setenv("S2B_MODEL_CACHE", str(tmp_path / "cache"))
    tiny_model.write(tmp_path / "tiny")
    with heard(UserWarning) as told:
        weights.load_causal(str(tmp_path / "tiny"))
    assert not told
    assert not (tmp_path / "cache").exists()


def test_the_cache_is_where_the_environment_or_the_user_keeps_such_things(tmp_path, monkeypatch):
    file = tmp_path / "x.gguf"
    file.write_bytes(b"x")
    monkeypatch.delenv("S2B_MODEL_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    assert weights.converted_folder(file).parent == tmp_path / "user/s2b-lab/models"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert weights.converted_folder(file).parent == Path.home() / ".cache/s2b-lab/models"


@pytest.mark.parametrize("name", ["/no/such/folder", "./nowhere", "~/models/x", "a/b/c", "small.gguf", "models\\small"])
def test_a_path_that_is_not_there_is_told_as_one(name):
    with pytest.raises(
        ModelUnavailable, match=re.escape(f"{name!r} cannot be used: there is no file or folder {name}")
    ):
        causal_model(name).end_probabilities("One.", [4])


def test_a_name_that_cannot_be_downloaded_is_named(monkeypatch):
    """Nothing is asked: the library is offline."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ModelUnavailable, match=r"the local model 'no-one/no-model' cannot be used: .*(connect|find)"):
        causal_model("no-one/no-model").end_probabilities("One.", [4])
