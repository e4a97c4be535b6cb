"""Why is my NPU not found? One step after the other, as far as the first that fails, and what to do about it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from mindtorch_npu import checks, probe, workers
from mindtorch_npu.acl import loader

OK, TROUBLE, LEFT_OUT = "ok", "trouble", "not looked at"


@dataclass(frozen=True)
class Step:
    """One question, its answer, and what to do when the answer is trouble."""

    question: str
    status: str
    found: str
    advice: str | None = None


def _of(check: checks.Check, question: str, advice: str) -> Step:
    if check.status == checks.OK:
        return Step(question, OK, check.value or "")
    return Step(question, TROUBLE, "; ".join(part for part in (check.value, check.why) if part), advice)


def _devices() -> Step:
    return _of(
        checks.check_devices(),
        "Does the driver show devices, and may you open them?",
        "Install the Ascend driver and firmware, or pass /dev/davinci<number>, /dev/davinci_manager, /dev/devmm_svm and "
        "/dev/hisi_hdc into the container; where they are there, join the group that owns them (HwHiAiUser).",
    )


def _visible() -> Step:
    return _of(
        checks.check_visible_devices(),
        f"Does {checks.VISIBLE_DEVICES} hide devices?",
        f"Let {checks.VISIBLE_DEVICES} be an ascending list of numbers, or unset it.",
    )


def _driver() -> Step:
    return _of(
        checks.check_driver(), "Which driver is installed?", f"Install the driver, or mount {checks.DRIVER.parent}."
    )


def _cann() -> Step:
    return _of(checks.check_cann(), "Which CANN is installed?", "Install the CANN toolkit and source its set_env.sh.")


def _one_installation() -> Step:
    return _of(
        checks.check_one_installation(),
        "Is one version of CANN on the paths alone?",
        "Begin in a new shell and source the set_env.sh of one installation.",
    )


def _libraries() -> Step:
    return _of(
        checks.check_library_path(),
        "Are the libraries on the path real ones?",
        "Take the stub folder out of LD_LIBRARY_PATH.",
    )


def _acl() -> Step:
    return _of(
        checks.check_acl(),
        "Can Python import pyACL?",
        "Source set_env.sh of CANN: it puts python/site-packages on PYTHONPATH and lib64 on LD_LIBRARY_PATH.",
    )


def _runtime() -> Step:
    return _of(
        checks.check_runtime(),
        "Does the runtime load and count devices?",
        "Look up the code with `mindtorch-npu errors CODE`; versions of driver and CANN must fit each other.",
    )


def _answers(found: list[checks.Check]) -> Step:
    """What the driver tells of the devices, one by one."""
    question = "What does the driver say of every device?"
    bad = [check for check in found if check.status == checks.FAILURE]
    shown = bad or [check for check in found if check.status != checks.OK] or found
    text = "; ".join(f"{one.name}: " + ": ".join(part for part in (one.value, one.why) if part) for one in shown)
    if not bad:
        return Step(question, OK, text or "nothing")
    advice = (
        f"Leave the bad ones out, {checks.VISIBLE_DEVICES}=<the others>, and see `mindtorch-npu health`; a device that "
        "hangs or has errors of its memory needs a reset by npu-smi, or to be replaced."
    )
    return Step(question, TROUBLE, text, advice)


def _simulator(report: probe.Report) -> Step:
    question = f"What does {loader.SIMULATOR}={os.environ[loader.SIMULATOR]} simulate?"
    if report.error is not None:
        return Step(question, TROUBLE, report.error, f"Unset {loader.SIMULATOR}, or write it as in the README.")
    return Step(question, OK, f"{report.device_count} device(s), {report.soc_name}; no hardware is used")


STEPS: tuple[Callable[[], Step], ...] = (_devices, _visible, _driver, _cann, _one_installation, _libraries, _acl)


def examine() -> Iterator[Step]:
    """Yield the steps; those after a trouble that they rest on are not looked at."""
    if loader.simulated():
        told, said = workers.together(probe.ask, checks.check_readings)
        yield _simulator(told)
        yield _answers(said)
        return
    missing: str | None = None
    for step in STEPS:
        found = step()
        if found.status == TROUBLE and missing is None and step not in (_visible, _one_installation, _libraries):
            missing = found.question
        yield found
    if missing is not None:
        # Loading the vendor's libraries tells nothing new where something they need is not there.
        yield Step("Does the runtime load and count devices?", LEFT_OUT, f"first: {missing}")
        return
    loaded, said = workers.together(_runtime, checks.check_readings)
    yield loaded
    yield _answers(said)


def report() -> dict[str, Any]:
    """Return the steps, whether all went well, and the first thing to do."""
    steps = list(examine())
    first = next((step for step in steps if step.status == TROUBLE), None)
    return {
        "simulated": loader.simulated(),
        "well": first is None,
        "first": None if first is None else {"trouble": first.found, "advice": first.advice},
        "steps": [asdict(step) for step in steps],
    }


def text(found: dict[str, Any]) -> str:
    """Return the report for people."""
    lines = []
    for number, step in enumerate(found["steps"], 1):
        lines.append(f"{number}. {step['question']}\n   {step['status']}: {step['found']}")
        if step["advice"]:
            lines.append(f"   -> {step['advice']}")
    bad = [step for step in found["steps"] if step["status"] == TROUBLE]
    if found["well"]:
        said = "Simulated devices are found; no NPU is used." if found["simulated"] else "The NPU should be found."
        return "\n".join([*lines, said])
    said = "The NPU is not found" if found["steps"][-1]["status"] != TROUBLE or len(bad) > 1 else "A device is not well"
    return "\n".join([*lines, f"{said}: {found['first']['trouble']}.", f"Do this first: {found['first']['advice']}"])
