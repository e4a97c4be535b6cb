"""What native code shares with Python is declared once: a slot that is not there, and a module of another declaration."""

import re
from dataclasses import replace

import pytest

from mindtorch_runtime import layout, native

there = pytest.mark.skipif(native.module is None, reason="the native module is not built, or switched off")


def test_every_class_has_its_slots():
    classes, _ = native._shared()
    for name in layout.names(layout.Classes):
        cls = getattr(classes, name)
        for slot in layout.SLOTS[name].split():
            assert type(getattr(cls, slot)).__name__ == "member_descriptor", (cls, slot)


def test_slots_are_of_declared_classes():
    declared = {name for classes, _ in layout.PARTS.values() for name in layout.names(classes)}
    assert set(layout.SLOTS) == declared


def test_every_slot_is_in_the_header():
    made = layout.header()
    assert f'LAYOUT_HASH[] = "{layout.HASH}"' in made
    for name, slots in layout.SLOTS.items():
        for slot in slots.split():
            assert re.search(rf'"{slot}", offsetof\(Shared, {name}\.{slot.lstrip("_")}\)', made)


@there
def test_a_slot_that_was_renamed_is_named():
    class Renamed:
        __slots__ = ("another",)

    classes, objects = native._shared()
    with pytest.raises(TypeError, match=r"Renamed'> has no slot plans, which mindtorch_runtime.layout says it has"):
        native.module.install(layout.values(replace(classes, packet=Renamed)), layout.values(objects))
    native.module.install(layout.values(classes), layout.values(objects))


@there
def test_what_is_handed_over_has_the_declared_number():
    classes, objects = native._shared()
    with pytest.raises(TypeError, match="takes tuples of 14 and"):
        native.module.install(layout.values(classes)[:-1], layout.values(objects))


@there
def test_the_module_is_of_this_declaration():
    assert native.module.LAYOUT == layout.HASH
