"""What libraries convert: tensors to classes, arrays of pandas, the description of the processor."""

import numpy as np

import mindtorch as mt


def test_as_subclass_asks_no_override():
    asked = []

    class Asked(mt.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            asked.append(func.__name__)
            return super().__torch_function__(func, types, args, kwargs or {})

    given = mt.ones(2).as_subclass(Asked)
    assert type(given.as_subclass(mt.Tensor)) is mt.Tensor
    assert asked == []
    assert type(given + 1) is Asked


def test_a_tensor_of_an_array_in_fortran_order_is_cut():
    array = np.asfortranarray(np.arange(24.0).reshape(2, 3, 4))
    for made in (
        mt.tensor(array),
        mt.tensor(array, dtype=mt.float32),
        mt.tensor(array.transpose(1, 0, 2), dtype=mt.int32),
    ):
        kept = made.numpy().copy()
        assert made[1:].tolist() == kept[1:].tolist()
        made[1] = 7
        assert (made.numpy()[1] == 7).all()
        assert (made.numpy()[0] == kept[0]).all()


def test_the_processor_is_described_by_the_native_module():
    assert mt._C._cpu._get_cpu_capability()["num_logical_cores"] >= 1
    assert mt._C._cpu._init_amx() is mt.cpu._init_amx()
