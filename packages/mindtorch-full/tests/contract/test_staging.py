"""Stagers of `async_save`, files of checkpoints and shared parts, beside torch's."""

import importlib

import pytest

torch = pytest.importorskip("torch", reason="oracle")
mindtorch = pytest.importorskip("mindtorch")

OPTIONS = {"none": None, "blocking": (), "default": (False, False, False, False), "thread": (False, False, True, False),
           "shared": (False, True, False, False)}  # fmt: skip


def module(library, name):
    return importlib.import_module(f"{library.__name__}.distributed.checkpoint{name}")


def stager(library, name):
    staging, options = module(library, ".staging"), OPTIONS[name]
    if options is None:
        return None
    return staging.DefaultStager(staging.StagingOptions(*options)) if options else staging.BlockingAsyncStager()


def saved(library, name, folder):
    """Save in the background, change the state at once, load; return kinds of results, and what was loaded."""
    checkpoint = module(library, "")
    state = {"a": library.arange(4.0), "n": {"b": library.ones(2, 2)}, "k": [1, 2]}
    found = checkpoint.async_save(state, checkpoint_id=folder, async_stager=stager(library, name))
    kinds = [type(found).__name__]
    if hasattr(found, "upload_completion"):
        kinds.append(found.staging_completion.result())
        found = found.upload_completion
    state["a"].zero_()
    kinds.append(type(found.result()).__name__)
    loaded = {"a": library.zeros(4), "n": {"b": library.zeros(2, 2)}}
    checkpoint.load(loaded, checkpoint_id=folder)
    return kinds, loaded["a"].tolist(), loaded["n"]["b"].tolist()


@pytest.mark.filterwarnings("ignore::UserWarning")  # of a single process, from a thread
@pytest.mark.parametrize("name", OPTIONS)
def test_what_is_saved_is_the_state_at_the_call(name, tmp_path):
    found = saved(mindtorch, name, tmp_path / "ours")
    assert found == saved(torch, name, tmp_path / "torchs")
    assert found[1:] == ([0.0, 1.0, 2.0, 3.0], [[1.0, 1.0], [1.0, 1.0]])


def test_a_cached_copy_keeps_its_memory():
    blocking = module(mindtorch, ".staging").BlockingAsyncStager(cache_staged_state_dict=True)
    state = {"a": mindtorch.ones(3), "n": {"b": mindtorch.zeros(2)}}
    first = blocking.stage(state)["a"]
    state["a"].fill_(5.0)
    second = blocking.stage(state)["a"]
    assert first.data_ptr() == second.data_ptr() != state["a"].data_ptr()
    assert second.tolist() == [5.0] * 3
    blocking.close()
    assert blocking.state_dict_cache is None


def refused(library):
    staging = module(library, ".staging")

    class Own(staging.AsyncStager):
        pass

    found = [
        isinstance(module(library, "").FileSystemWriter("x"), staging.AsyncStager),
        isinstance(3, staging.AsyncStager),
    ]
    for action in (staging.DefaultStager, lambda: Own().stage({})):
        with pytest.raises((AssertionError, NotImplementedError)) as caught:
            action()
        found.append([caught.type.__name__, str(caught.value)])
    return found


def test_refusals_are_torchs():
    assert refused(mindtorch) == refused(torch)


def shared(library):
    metadata, parts = module(library, ".metadata"), module(library, ".resharding")

    def part(offsets, sizes):
        return metadata.ChunkStorageMetadata(library.Size(offsets), library.Size(sizes))

    pairs = [
        (part([2, 3], [4, 5]), part([3, 1], [2, 9])),
        (part([0], [4]), part([4], [4])),
        (part([0], [5]), part([4], [4])),
    ]
    return [
        (parts._check_shard_metadata_pair_overlap(*pair), parts._shards_get_overlap_region_wrt_saved_tensor(*pair))
        for pair in pairs
    ]


def test_what_parts_share_is_torchs():
    assert shared(mindtorch) == shared(torch)


def files(library, folder):
    kind = module(library, ".filesystem").FileSystem
    system, place = kind(), kind().init_path(str(folder))
    system.mkdir(system.concat_path(place, "inner"))
    path, other = system.concat_path(place, "one"), system.concat_path(place, "other")
    with system.create_stream(path, "wb") as stream:
        stream.write(b"1")
    system.rename(path, other)
    listed = sorted(str(one).rpartition("/")[2] for one in system.ls(place))
    system.rm_file(other)
    return listed, system.exists(other), system.exists(place), kind.validate_checkpoint_id("s3://x")


def test_files_are_handled_as_by_torchs(tmp_path):
    (tmp_path / "ours").mkdir()
    (tmp_path / "torchs").mkdir()
    assert files(mindtorch, tmp_path / "ours") == files(torch, tmp_path / "torchs")
