"""Names that neighbouring libraries import: classes of `torch._C`, readers of records, `torch.onnx`, `torch.ao`."""

import io
import re
import subprocess
import sys
import urllib.parse
import warnings
from functools import partial

import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")

BOTH = pytest.mark.parametrize("T", [mt, torch], ids=["ours", "torch"])


def caught(call):
    try:
        return call()
    except (RuntimeError, TypeError, ValueError, AttributeError) as error:
        return type(error).__name__, str(error)


def equal(scenario):
    ours, theirs = scenario(mt), scenario(torch)
    assert ours == theirs
    return theirs


@BOTH
def test_the_class_of_tensor_classes(T):
    kind = T._C._TensorMeta

    class Meta(kind):
        pass

    class Made(T.Tensor, metaclass=Meta):
        pass

    assert isinstance(T.Tensor, kind)
    assert isinstance(T.nn.Parameter, kind)
    assert isinstance(Made, kind)
    assert isinstance(Made, Meta)
    assert not isinstance(T.Tensor, Meta)
    assert not isinstance(int, kind)
    assert not isinstance(T.ones(1), kind)
    assert issubclass(type(T.nn.Parameter), kind)
    assert issubclass(T.Tensor, T._C.TensorBase)
    assert (kind.__module__, kind.__qualname__) == ("torch._C", "_TensorMeta")


@BOTH
def test_keys_of_backends_that_are_not_here(T):
    for name in ("AutocastCUDA", "AutocastXPU", "AutocastCPU", "AutogradCUDA"):
        key = getattr(T._C.DispatchKey, name)
        assert T._C.DispatchKeySet(key).has(key)
    if T is mt:
        from mindtorch_dispatch.extend.key_names import key_of

        assert key_of("AutocastCPU") is T._C.DispatchKey.Autocast
        assert key_of("AutogradPrivateUse1") is T._C.DispatchKey.Autograd
        # What is registered for a backend that is not here serves no call.
        assert key_of("AutocastCUDA") is None
        assert key_of("AutogradXPU") is None


def _records(T):
    file = io.BytesIO()
    torch.save({"a": torch.arange(6.0), "b": torch.ones(3, dtype=torch.int64)}, file)
    reader = T.PyTorchFileReader(io.BytesIO(file.getvalue()))
    found = [caught(partial(reader.get_record, name)) for name in ("version", "byteorder", "data/1", "none")]
    found += [sorted(reader.get_all_records()), reader.has_record("data/0"), reader.has_record("none")]
    found += [reader.get_record_size("data/0"), reader.get_record_offset("data/0") % 64]
    found += [reader.get_record_offset("data/0") > reader.get_record_header_offset("data/0")]
    found += [reader.serialization_id()]
    for count, dtype in [(24, T.UntypedStorage), (6, T.float32), (5, T.float32), (7, T.int64)]:
        made = caught(lambda count=count, dtype=dtype: reader.get_storage_from_record("data/0", count, dtype))
        if isinstance(made, T.Tensor):
            made = str(made.dtype), tuple(made.shape), made._typed_storage()._untyped_storage.tolist()
        found.append(made)
    found.append(T.PyTorchFileReader is T._C.PyTorchFileReader)
    return found


def test_the_records_of_a_checkpoint():
    assert equal(_records)[2] == torch.ones(3, dtype=torch.int64).numpy().tobytes()


def test_what_is_no_checkpoint(tmp_path):
    (tmp_path / "bad").write_bytes(b"123")
    for name in ("bad", "absent"):
        equal(lambda T, name=name: caught(lambda: T.PyTorchFileReader(str(tmp_path / name))))
    equal(lambda T: caught(lambda: T.PyTorchFileReader(3)))


def _registered(T):
    onnx = __import__(T.__name__ + ".onnx", fromlist=["x"])
    names = ("nothing", "a::b", "a::b::c", "1::b", "")
    found = [caught(lambda name=name: onnx.register_custom_op_symbolic(name, print, 11)) for name in names]
    found += [caught(lambda name=name: onnx.unregister_custom_op_symbolic(name, 11)) for name in names[:3]]
    helper = __import__(T.__name__ + ".onnx.symbolic_helper", fromlist=["x"])
    decorated = helper.parse_args("v", "f")(lambda g, x, y: (x, y))
    found += [decorated(None, 1, 2), decorated._arg_descriptors, onnx.is_in_onnx_export()]
    return [*found, int(onnx.TensorProtoDataType.INT64), onnx.OnnxExporterError.__mro__[1].__name__]


def test_what_is_registered_for_the_exporter():
    equal(_registered)


def test_nothing_is_exported():
    import mindtorch.onnx

    with pytest.raises(mindtorch.onnx.OnnxExporterError, match="does not export"):
        mindtorch.onnx.export(mt.nn.Linear(1, 1), (mt.ones(1, 1),), "x.onnx")


def _marked(T):
    ao = __import__(T.__name__ + ".ao.quantization", fromlist=["x"])
    linear = T.nn.Linear(2, 2).eval()
    wrapped = ao.QuantWrapper(linear)
    x = T.ones(1, 2)
    same = T.equal(wrapped(x), linear(x))
    calls = T.nn.quantized.FloatFunctional()
    calls.activation_post_process = T.nn.Hardtanh(0.0, 1.5)
    found = [calls.add(x, 1), calls.add_scalar(x, 1.0), calls.mul(x, -1), calls.mul_scalar(x, 3.0)]
    found += [calls.cat([x, x], dim=1), calls.add_relu(x, -2 * x), calls.matmul(x, x.T)]
    texts = [repr(calls), repr(wrapped), caught(lambda: calls(x)), wrapped.training, ao.QuantStub("q").qconfig]
    return [one.tolist() for one in found], texts, same, hasattr(ao.DeQuantStub(), "qconfig")


def test_marks_of_quantization():
    equal(_marked)


@BOTH
def test_events_are_named_once_where_that_is_asked_for(T):
    if T is torch:
        return_value = torch._C._log_api_usage_once("x")
        assert return_value is None
        return
    code = "import mindtorch as T\nfor _ in range(2): T._C._log_api_usage_once('a.b')"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={"PYTORCH_API_USAGE_STDERR": "1", **_path()}
    )
    assert done.stderr.splitlines().count("PYTORCH_API_USAGE a.b") == 1


def _path():
    return {"PYTHONPATH": ":".join(sys.path)}


def _older_operators(T):
    ops = __import__(T.__name__ + "._custom_ops", fromlist=["x"])
    space = "older_" + T.__name__

    @ops.custom_op(f"{space}::double")
    def double(x: T.Tensor) -> T.Tensor:
        raise NotImplementedError

    @ops.impl(f"{space}::double", device_types="cpu")
    def double_cpu(x):
        return x * 2

    @ops.impl_abstract(f"{space}::double")
    def double_abstract(x):
        return T.empty_like(x)

    run = getattr(T.ops, space).double
    texts = [
        caught(lambda: ops.custom_op(f"{space}::other")(double)),
        caught(lambda: ops.custom_op(f"{space}::other")(3)),
    ]
    return run(T.ones(2)).tolist(), tuple(run(T.ones(2, device="meta")).shape), re.sub("older_[a-z]+", "", str(texts))


def test_the_older_way_of_defining_operators():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        equal(_older_operators)


def _script_names(T):
    jit = T.jit
    annotations = __import__(T.__name__ + ".jit.annotations", fromlist=["x"])

    def once(x): ...

    names = [T.ScriptModule.__name__, T.ScriptObject.__module__, issubclass(T.ScriptModule, T.ScriptObject)]
    return [*names, jit._overload_method(once) is once, annotations.BroadcastingList2[int], annotations.List.__module__]


def test_names_of_script():
    equal(_script_names)
    with pytest.raises(TypeError, match="No constructor defined"):
        mt.ScriptModule()


def test_downloads_show_how_far_they_are(tmp_path, capsys):
    (tmp_path / "file").write_bytes(b"x" * 10)
    url = "file://" + urllib.parse.quote(str(tmp_path / "file"))
    mt.hub.download_url_to_file(url, str(tmp_path / "copy"), progress=True)
    assert (tmp_path / "copy").read_bytes() == b"x" * 10
    assert "100" in capsys.readouterr().err
    mt.hub.download_url_to_file(url, str(tmp_path / "copy"), progress=False)
    assert capsys.readouterr().err == ""


def test_the_line_shown_without_tqdm(capsys):
    code = """
import io, contextlib, sys
sys.modules["tqdm"] = None
from {} import tqdm
shown = io.StringIO()
with contextlib.redirect_stderr(shown):
    with tqdm(total=10) as bar:
        bar.update(3); bar.set_description("x"); bar.update(7); bar.write("text")
    with tqdm() as bar:
        bar.update(3)
    with tqdm(total=3, disable=True) as bar:
        bar.update(3)
print(repr(shown.getvalue()))
"""
    told = [
        subprocess.run(
            [sys.executable, "-c", code.format(home)], capture_output=True, text=True, env=_path(), check=True
        ).stdout
        for home in ("mindtorch._progress", "torch.hub")
    ]
    assert told[0] == told[1]


def _streams(T):
    stream, event = T.Stream("cpu"), T.Event("cpu", enable_timing=True)
    makes = [
        *(partial(T.Stream, one) for one in (None, "cpu", "cpu:0", "meta", "cuda", "xpu:1", 3)),
        *(partial(T.Event, one) for one in (None, "cpu", "cuda")),
        partial(T.Event, enable_timing=True),
    ]
    asks = [
        stream.query,
        stream.synchronize,
        stream.record_event,
        partial(stream.wait_event, event),
        partial(stream.wait_stream, T.Stream()),
        event.query,
        event.synchronize,
        event.record,
        event.wait,
        partial(event.elapsed_time, T.Event(enable_timing=True)),
        partial(event.elapsed_time, T.Event()),
    ]
    with stream as inside:
        same = inside == stream == T.Stream("cpu")
    attributes = [str(stream.device), stream.device_index, stream.device_type, stream.stream_id, event.event_id, same]
    names = [T.Stream.__module__, T.Event.__qualname__, T.Stream("meta").device_type]
    return [repr(caught(make)) for make in makes], [caught(ask) for ask in asks], attributes, names


def test_streams_of_the_cpu():
    equal(_streams)


def _module_of(T, device):
    found = caught(lambda: T.get_device_module(device))
    return found if isinstance(found, tuple) else found.__name__.rpartition(".")[2]


@pytest.mark.parametrize("device", [None, "cpu", "cuda", "cuda:1", "meta", 3, "xpu", "mps"])
def test_the_module_of_a_device(device):
    equal(lambda T: _module_of(T, device))


@pytest.mark.parametrize("name", ["DeviceMesh", "init_device_mesh"])
def test_arrangements_of_devices_ask_where_the_processes_are(name, monkeypatch):
    for variable in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(variable, raising=False)
    texts = []
    for module in (mt.distributed.device_mesh, torch.distributed.device_mesh):
        with pytest.raises(ValueError, match="environment variable RANK expected, but not set") as caught:
            getattr(module, name)("cpu", (1,))
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


def _einsum_seen(T):
    seen = []

    class Watched(T.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            seen.append((function.__name__, [type(one).__name__ for one in args], kwargs))
            return NotImplemented if len(seen) > 2 else 7

    one = T.ones(2, 2).as_subclass(Watched)
    results = [T.einsum("ij,jk->ik", one, one), T.einsum("ij,jk->ik", [one, T.ones(2, 2)])]
    return results, seen, type(caught(lambda: T.einsum("ij,jk->ik", [one, one]))).__name__


def test_operands_of_einsum_reach_a_subclass_one_by_one():
    equal(_einsum_seen)
