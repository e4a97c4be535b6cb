"""Weak references and dictionaries that go by identity: tensors compare elementwise, so equality cannot find them."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any
from weakref import ref

from mindtorch._naming import adopt

__all__ = ["TensorWeakRef", "WeakIdKeyDictionary", "WeakIdRef", "WeakTensorKeyDictionary"]


class _WeakKey(weakref.ref):  # type: ignore[type-arg]
    """A weak reference that hashes as its object and equals another while both objects are there and the same."""

    __slots__ = ("_id",)

    @staticmethod
    def _hash(key: object) -> int:
        raise NotImplementedError

    @staticmethod
    def _same(mine: object, theirs: object) -> bool:
        raise NotImplementedError

    def __init__(self, key: Any, callback: Any = None) -> None:
        self._id = self._hash(key)
        super().__init__(key, callback)  # type: ignore[call-arg]

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        mine, theirs = self(), other() if isinstance(other, ref) else None
        if mine is not None and theirs is not None:
            return self._same(mine, theirs)
        return self is other


class WeakIdRef(_WeakKey):
    """A weak reference that hashes and compares by the identity of what it refers to.

    >>> x = torch.ones(1)
    >>> reference = torch.utils.weak.WeakIdRef(x)
    >>> reference() is x
    True
    """

    __slots__ = ()

    @staticmethod
    def _hash(key: object) -> int:
        return id(key)

    @staticmethod
    def _same(mine: object, theirs: object) -> bool:
        return mine is theirs


class _WeakHashRef(_WeakKey):
    """The same for objects whose own hash and equality are to be used."""

    __slots__ = ()

    @staticmethod
    def _hash(key: object) -> int:
        return hash(key)

    @staticmethod
    def _same(mine: object, theirs: object) -> bool:
        return mine == theirs


class WeakIdKeyDictionary(MutableMapping[Any, Any]):
    """A dictionary whose entries go when their key object goes.

    >>> x = torch.ones(1)
    >>> notes = torch.utils.weak.WeakIdKeyDictionary()
    >>> notes[x] = "input"
    >>> notes[x], len(notes)
    ('input', 1)
    >>> del x
    >>> len(notes)
    0
    """

    def __init__(self, dict: Any = None, ref_type: Any = WeakIdRef) -> None:
        self.data: Any = {}
        self.ref_type = ref_type

        selfref = ref(self)

        def forget(reference: Any) -> None:
            owner = selfref()
            if owner is None:
                return
            if owner._iterating:
                owner._pending.append(reference)
            else:
                owner.data.pop(reference, None)

        self._forget = forget
        self._pending: list[Any] = []
        self._iterating = 0
        if dict is not None:
            self.update(dict)

    def _live(self) -> Iterator[tuple[Any, Any]]:
        """The entries whose keys are alive; keys that go meanwhile are taken out afterwards."""
        self._iterating += 1
        try:
            for reference, value in self.data.items():
                key = reference()
                if key is not None:
                    yield key, value
        finally:
            self._iterating -= 1
            while not self._iterating and self._pending:
                self.data.pop(self._pending.pop(), None)

    def __delitem__(self, key: Any) -> None:
        del self.data[self.ref_type(key)]

    def __getitem__(self, key: Any) -> Any:
        return self.data[self.ref_type(key)]

    def __len__(self) -> int:
        return len(self.data) - len(self._pending)

    def __repr__(self) -> str:
        return f"<{self.__class__.__name__} at {id(self):#x}>"

    def __setitem__(self, key: Any, value: Any) -> None:
        self.data[self.ref_type(key, self._forget)] = value

    def copy(self) -> WeakIdKeyDictionary:
        """A shallow copy of the entries that are alive."""
        new = WeakIdKeyDictionary(ref_type=self.ref_type)
        for key, value in self._live():
            new[key] = value
        return new

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> Any:
        raise NotImplementedError("a dictionary of weak references cannot be copied deeply: its keys would go at once")

    def get(self, key: Any, default: Any = None) -> Any:
        """The value of a key, or a default."""
        return self.data.get(self.ref_type(key), default)

    def __contains__(self, key: Any) -> bool:
        try:
            return self.ref_type(key) in self.data
        except TypeError:
            return False

    def items(self) -> Any:
        """The live keys with their values."""
        return self._live()

    def keys(self) -> Any:
        """The live keys."""
        return (key for key, _ in self._live())

    __iter__ = keys

    def values(self) -> Any:
        """The values of the live keys."""
        return (value for _, value in self._live())

    def keyrefs(self) -> list[Any]:
        """The weak references themselves."""
        return list(self.data)

    def popitem(self) -> tuple[Any, Any]:
        """Take out the entry added last."""
        while True:
            reference, value = self.data.popitem()
            key = reference()
            if key is not None:
                return key, value

    def pop(self, key: Any, *args: Any) -> Any:
        """Take out the entry of a key."""
        return self.data.pop(self.ref_type(key), *args)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """The value of a key, entered if missing."""
        return self.data.setdefault(self.ref_type(key, self._forget), default)

    def __ior__(self, other: Any) -> Any:
        self.update(other)
        return self

    def __or__(self, other: Any) -> Any:
        if not isinstance(other, Mapping):
            return NotImplemented
        merged = self.copy()
        merged.update(other)
        return merged

    def __ror__(self, other: Any) -> Any:
        if not isinstance(other, Mapping):
            return NotImplemented
        merged = self.__class__(ref_type=self.ref_type)
        merged.update(other)
        merged.update(self)
        return merged

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MutableMapping):
            return NotImplemented
        return {id(key): value for key, value in self.items()} == {id(key): value for key, value in other.items()}

    __hash__ = None  # type: ignore[assignment]


WeakTensorKeyDictionary = WeakIdKeyDictionary


class TensorWeakRef:
    """A weak reference to a tensor.

    >>> x = torch.ones(1)
    >>> reference = torch.utils.weak.TensorWeakRef(x)
    >>> reference() is x
    True
    >>> del x
    >>> print(reference())
    None
    """

    ref: Any

    def __init__(self, tensor: Any) -> None:
        self.ref = weakref.ref(tensor)

    def __call__(self) -> Any:
        return self.ref()


adopt(globals())
