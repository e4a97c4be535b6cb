"""The native code of mindtorch-cpu and mindtorch-runtime under AddressSanitizer and UndefinedBehaviorSanitizer.

    python tools/sanitized.py [PART ...] [--op PATTERN ...] [--samples N] [--resume] [--write]

Builds the modules with `-DMINDTORCH_SANITIZE=ON` into a copy of the packages below build/sanitized, then runs the PARTs:

    ops ops-float64 ops-bfloat16 ops-int32 ops-complex64 modules optimizers    sweeps over torch's databases
    tests    the unit tests of mindtorch-cpu, and those of the executor, the backward loop and the planned calls
    fuzz     random operands of every native kernel
    calls    random calls of every entry point, torch's answers beside ours
    threads  under ThreadSanitizer instead: tensors and gradients shared by threads, random calls in four threads at once

(default: ops, tests and fuzz). Needs torch, gcc or clang with their sanitizers' libraries, cmake and ninja. What a sanitizer
reports is a finding, and so is a process that dies; the exit status is 1 when there are any. `--resume` goes on where an
earlier run of the same modules was stopped, `--write` puts the figures into docs/status/sanitizers.md. What failed
otherwise, a wrong value say, is for the sweep and the tests without sanitizers to tell; their times are five times these.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from mindtorch_testing.sweep.driver import sweep
from mindtorch_testing.sweep.runner import Limits
from mindtorch_testing.sweep.suites import SUITES

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "sanitized"
RECORDS = FOLDER / "records"
THREADS = FOLDER / "threads"
PAGE = ROOT / "docs" / "status" / "sanitizers.md"
SWEEPS = ("ops", "ops-float64", "ops-bfloat16", "ops-int32", "ops-complex64", "modules", "optimizers")
COMPILED = ("mindtorch-cpu", "mindtorch-runtime")
TESTS = (
    "mindtorch-cpu/tests/unit",
    "mindtorch-runtime/tests/unit",
    "mindtorch-dispatch/tests",
    "mindtorch-autograd/tests/unit",
    "mindtorch-autograd/tests/contract",
    "mindtorch-full/tests/contract/test_planned_calls.py",
)
THREADED = ROOT / "tools" / "threaded.py"
SUPPRESSIONS = ROOT / "tools" / "thread_sanitizer.supp"
THREADED_SEEDS, THREADED_CALLS = 4, 1_000
FUZZ_SEEDS, FUZZ_CALLS = 4, 2_580
CALLS = 25_000
ENTRY_SECONDS = 300.0
TITLE = re.compile(
    r"(ERROR: AddressSanitizer.*|SUMMARY: ThreadSanitizer.*|FATAL: ThreadSanitizer.*|.*: runtime error: .*|\S+ terminated by .*)"
)


def build(checks: str = "ON", place: Path = FOLDER) -> list[Path]:
    """Return the modules, built anew from the sources, in their copy of the packages."""
    quiet = {"stdout": subprocess.DEVNULL, "check": True}
    copy = place / "packages"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(ROOT / "packages", copy, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    modules = []
    for name in COMPILED:
        folder = place / "build" / name
        subprocess.run(
            ["cmake", "-S", ROOT / "packages" / name, "-B", folder, "-G", "Ninja", f"-DMINDTORCH_SANITIZE={checks}",
             f"-DPython_EXECUTABLE={sys.executable}"], **quiet)  # fmt: skip
        subprocess.run(["cmake", "--build", folder], check=True)
        subprocess.run(["cmake", "--install", folder, "--prefix", copy / name / "src"], **quiet)
        modules.append(next((copy / name / "src" / name.replace("-", "_")).glob("_native*.so")))
    return modules


def environment() -> dict[str, str]:
    """Return the variables of a process that loads the module."""
    libraries = [
        subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout.strip()
        for name in ("libasan.so", "libubsan.so", "libstdc++.so")
    ]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(str(path) for path in sorted(FOLDER.glob("packages/*/src"))),
        # The interpreter is not instrumented, so that nothing is known of its leaks. The C++ library comes along since its
        # exceptions are looked for when the process starts.
        "LD_PRELOAD": " ".join(libraries),
        "ASAN_OPTIONS": "detect_leaks=0:quarantine_size_mb=64",
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",  # a process whose output nobody sees ends, and that is seen
        "PYTHONMALLOC": "malloc",  # Python's own would hide what happens to its objects
        "MINDTORCH_NATIVE": "1",
        "OMP_NUM_THREADS": "2",
        "MINDTORCH_SWEEP_RESULTS": str(RECORDS / "results.json"),  # not the sweep's own
    }


def threads_environment() -> dict[str, str]:
    """Return the variables of a process that loads the modules of ThreadSanitizer."""
    name = ["gcc", "-print-file-name=libtsan.so"]
    return {
        "PYTHONPATH": os.pathsep.join(str(path) for path in sorted(THREADS.glob("packages/*/src"))),
        "LD_PRELOAD": subprocess.run(name, capture_output=True, text=True, check=True).stdout.strip(),
        "TSAN_OPTIONS": "halt_on_error=1:report_signal_unsafe=0:allocator_may_return_null=1:"
        f"suppressions={SUPPRESSIONS}",
        "MINDTORCH_NATIVE": "1",
        "OMP_NUM_THREADS": "1",  # its threads wait for each other by means that the sanitizer does not see
        "MINDTORCH_FUZZ_UNLIMITED": "1",
    }


def run_threads(record: Record, plain: dict[str, str]) -> None:
    """Run programs of several threads, in an address space as the sanitizer needs it; what it reports ends a process."""
    ours = threads_environment()
    for seed in range(THREADED_SEEDS):
        if (name := f"programs {seed}") in record.entries:
            continue
        command = ["setarch", "-R", sys.executable, str(THREADED), str(seed)]
        done = subprocess.run(
            command, cwd=ROOT, env={**plain, **ours}, capture_output=True, text=True, check=False
        )  # fmt: skip
        (RECORDS / f"threads-{seed}.log").write_text(done.stdout + done.stderr)
        died = [] if done.returncode == 0 else [f"ended with {done.returncode}"]
        record.add(name, int(done.stdout.split()[-1]) if not died else 0, reported(done.stderr) or died)
    if "calls" not in record.entries:
        options = [f"--environment={name}={value}" for name, value in ours.items()]
        arguments = ["--threads", "4", "--seed", "0", "--calls", str(THREADED_CALLS), *options]
        command = ["setarch", "-R", sys.executable, "-m", "mindtorch_testing.fuzz", *arguments]
        done = subprocess.run(command, cwd=ROOT, env=plain, capture_output=True, text=True, check=False)
        (RECORDS / "threads-calls.log").write_text(done.stdout + done.stderr)
        findings = re.findall(r"^\S+: (?:crash|hang).*$", done.stdout, re.MULTILINE)
        died = [] if done.returncode in (0, 1) else [f"ended with {done.returncode}"]
        record.add("calls", THREADED_CALLS, findings or died)


def reported(text: str) -> list[str]:
    """Return what sanitizers reported in what processes printed."""
    return list(dict.fromkeys(title.strip() for title in TITLE.findall(text)))


def run_captured(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    """Run Python with the module."""
    return subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=environment(), capture_output=True, text=True, check=False
    )


class Record:
    """What was run, one line of JSON per entry, so that a run that was stopped goes on."""

    def __init__(self, part: str, module: str, resume: bool) -> None:
        self.path = RECORDS / f"{part}.jsonl"
        lines = self.path.read_text().splitlines() if resume and self.path.exists() else []
        entries = [json.loads(line) for line in lines]
        self.entries = {entry["name"]: entry for entry in entries if entry["module"] == module}
        self.module = module
        self.path.write_text("".join(json.dumps(entry) + "\n" for entry in self.entries.values()))

    def add(self, name: str, samples: int, findings: list[str], note: str = "") -> None:
        """Keep one entry."""
        entry = {"name": name, "module": self.module, "samples": samples, "findings": findings, "note": note}
        self.entries[name] = entry
        with self.path.open("a") as file:
            file.write(json.dumps(entry) + "\n")
        for finding in findings:
            print(f"{self.path.stem} {name}: {finding}", flush=True)

    @property
    def findings(self) -> list[str]:
        """All findings, with the entries they belong to."""
        return [f"{entry['name']}: {text}" for entry in self.entries.values() for text in entry["findings"]]


def run_sweep(part: str, record: Record, patterns: list[str], samples: int) -> None:
    """Run the entries of a database that the record lacks."""
    log_path = RECORDS / f"{part}.log"

    def keep(position: int, total: int, found: dict[str, Any]) -> None:
        fields = found["fields"].values()
        notes = [field.get("reason", "") for field in fields]
        died = [note for note in notes if " the process" in note or note.startswith("hung ")]
        findings = reported(printed.read()) or died[:1]
        late = next((note for note in notes if "timed out" in note), "")
        record.add(found["name"], sum(field["total"] for field in fields), findings, late)
        if position % 20 == 0:
            print(f"{part}: {position} of {total}", flush=True)

    with log_path.open("w") as log, log_path.open(errors="replace") as printed:
        limits = Limits(samples, min(3, samples), ENTRY_SECONDS)
        sweep("mindtorch", limits, patterns, suite=SUITES[part], log=log, progress=keep, skip=record.entries)


def run_tests(record: Record) -> None:
    """Run the tests, a process per path, so that one that dies costs no other."""
    for name in TESTS:
        if name in record.entries:
            continue
        path = str(FOLDER / "packages" / name)
        done = run_captured(
            ["-m", "pytest", "-q", "-s", "-m", "not slow", "-p", "no:cacheprovider", "-W", "ignore", path]
        )
        (RECORDS / f"{name.replace('/', '-')}.log").write_text(done.stdout + done.stderr)
        counted = re.findall(r"(\d+) (passed|failed|errors?)\b", done.stdout[-400:])
        counts = {kind: int(count) for count, kind in counted}
        died = [] if done.returncode in (0, 1) and counts else [f"pytest ended with {done.returncode}"]
        failed = sum(counts.values()) - counts.get("passed", 0)
        findings = reported(done.stdout + done.stderr) or died
        record.add(name, sum(counts.values()), findings, f"{failed} failed" if failed else "")


def run_fuzz(record: Record) -> None:
    """Give every native kernel random operands, and compare with numpy's kernels."""
    for seed in range(FUZZ_SEEDS):
        if (name := f"seed {seed}") in record.entries:
            continue
        done = run_captured(["-m", "mindtorch_testing.operands", "--seed", str(seed), "--calls", str(FUZZ_CALLS)])
        (RECORDS / f"fuzz-{seed}.log").write_text(done.stdout + done.stderr)
        findings = [line for line in done.stdout.splitlines() if line.startswith("finding ")]
        died = [] if done.returncode in (0, 1) else [f"ended with {done.returncode}"]
        record.add(name, FUZZ_CALLS, reported(done.stderr) + findings or died)


def run_calls(record: Record, plain: dict[str, str]) -> None:
    """Make random calls; only our side has the module, and only its end is a finding."""
    settings = {**environment(), "MINDTORCH_FUZZ_UNLIMITED": "1"}  # the sanitizer reserves more than any limit
    options = [f"--environment={name}={value}" for name, value in settings.items() if plain.get(name) != value]
    for seed in range(FUZZ_SEEDS):
        if (name := f"seed {seed}") in record.entries:
            continue
        arguments = ["--seed", str(seed), "--calls", str(CALLS), "--kind", "crash", "--kind", "hang", *options]
        done = subprocess.run(
            [sys.executable, "-m", "mindtorch_testing.fuzz", *arguments], cwd=ROOT, env=plain, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        (RECORDS / f"calls-{seed}.log").write_text(done.stdout + done.stderr)
        findings = re.findall(r"^\S+: (?:crash|hang).*$", done.stdout, re.MULTILINE)
        died = [] if done.returncode in (0, 1) else [f"ended with {done.returncode}"]
        record.add(name, CALLS, findings or died)


def page(records: dict[str, Record]) -> str:
    """Return the page of docs/status."""
    compiler = subprocess.run(["gcc", "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    lines = [
        "# Native code under sanitizers",
        "",
        f"Written on {datetime.datetime.now(datetime.UTC):%Y-%m-%d} by `python tools/sanitized.py --write`; do not edit.",
        "AddressSanitizer and UndefinedBehaviorSanitizer (threads: ThreadSanitizer) of",
        f"{compiler}, interpreter and numpy not instrumented.",
        "A finding is what a sanitizer reports, a process that dies, and of the random operands (fuzz) also a result that",
        "numpy's kernels do not give.",
        "",
        "| part | entries | samples | findings |",
        "| --- | ---: | ---: | ---: |",
    ]
    for part, record in records.items():
        samples = sum(entry["samples"] for entry in record.entries.values())
        lines.append(f"| {part} | {len(record.entries)} | {samples} | {len(record.findings)} |")
    cut = [f"{part} {e['name']}: {e['note']}" for part, r in records.items() for e in r.entries.values() if e["note"]]
    if cut:
        lines += ["", "Not in full, or failed for another reason:", "", *(f"- {line}" for line in cut)]
    lines += ["", f"Findings: {sum(len(record.findings) for record in records.values())}", ""]
    lines += [f"- {text}" for record in records.values() for text in record.findings]
    return "\n".join(lines).rstrip("\n") + "\n"


def try_sanitizers() -> None:
    """Let the module do what they must report; SystemExit where one of them does not."""
    for count, report in ((40, "runtime error: shift exponent 40"), (8, "AddressSanitizer: heap-buffer-overflow")):
        program = f"import numpy, mindtorch_cpu._native as native; native.overstep({count})"
        done = run_captured(["-c", program])
        if done.returncode == 0 or not any(report in found for found in reported(done.stderr)):
            raise SystemExit(f"the sanitizers do not report what they must, {report!r}, but: {done.stderr[-500:]}")


def digest(modules: list[Path]) -> str:
    """Return what tells the modules of one build from those of another."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in modules)).hexdigest()[:16]


def run_others(parts: list[str], options: argparse.Namespace, plain: dict[str, str]) -> dict[str, Record]:
    """Run the parts under the sanitizers of memory and behaviour."""
    module = digest(build())
    try_sanitizers()
    os.environ.update(environment())
    records = {}
    for part in parts:
        record = records[part] = Record(part, module, options.resume)
        if part == "tests":
            run_tests(record)
        elif part == "fuzz":
            run_fuzz(record)
        elif part == "calls":
            run_calls(record, plain)
        else:
            run_sweep(part, record, options.op, options.samples)
    return records


def main() -> int:
    """Build, run, report."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "part",
        nargs="*",
        choices=[*SWEEPS, "tests", "fuzz", "calls", "threads", []],
        help="default: ops, tests and fuzz",
    )
    parser.add_argument(
        "--op", action="append", default=[], help="entry of the sweeps: name or shell pattern, repeatable"
    )
    parser.add_argument("--samples", type=int, default=8, help="samples per entry of the sweeps (default 8)")
    parser.add_argument("--resume", action="store_true", help="leave out what was run on the same modules")
    parser.add_argument("--write", action="store_true", help="write the page of docs/status")
    options = parser.parse_args()
    RECORDS.mkdir(parents=True, exist_ok=True)
    parts, plain = options.part or ["ops", "tests", "fuzz"], dict(os.environ)
    records = {}
    if "threads" in parts:
        record = records["threads"] = Record("threads", digest(build("threads", THREADS)), options.resume)
        run_threads(record, plain)
    others = [part for part in parts if part != "threads"]
    if others:
        records |= run_others(others, options, plain)
    text = page(records)
    print(text)
    if options.write:
        PAGE.write_text(text)
    return 1 if any(record.findings for record in records.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
