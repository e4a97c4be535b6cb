"""`python data.py NAME FOLDER`: small synthetic data in the files that programs read, the same in every run."""

from __future__ import annotations

import pickle
import shutil
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

WORDS = "the of time and light some water day to be in river stone was with night all they".split()


def text(count: int, seed: int = 0) -> str:
    """Return words in lines."""
    chosen = np.random.default_rng(seed).choice(WORDS, count)
    return "\n".join(" ".join(chosen[start : start + 12]) for start in range(0, count, 12)) + "\n"


def characters(root: Path) -> None:
    """A text by characters, as nanoGPT's preparation leaves it."""
    folder, content = root / "data/shakespeare_char", text(3000)
    known = sorted(set(content))
    ids = np.array([known.index(one) for one in content], np.uint16)
    ids[:8000].tofile(folder / "train.bin")
    ids[8000:].tofile(folder / "val.bin")
    meta = {"vocab_size": len(known), "itos": dict(enumerate(known)), "stoi": {one: i for i, one in enumerate(known)}}
    (folder / "meta.pkl").write_bytes(pickle.dumps(meta))


def tokens(root: Path) -> None:
    """Tokens of GPT-2 for nanoGPT's benchmark."""
    folder = root / "data/openwebtext"
    np.random.default_rng(1).integers(0, 50257, 5000).astype(np.uint16).tofile(folder / "train.bin")


def document(root: Path) -> None:
    """A text in one file, with the words that minGPT begins its samples with."""
    (root / "input.txt").write_text("O God, O God!\n" + text(600))


def corpus(root: Path) -> None:
    """The three parts of a corpus."""
    for seed, (part, count) in enumerate((("train", 1500), ("valid", 300), ("test", 300))):
        (root / f"data/wikitext-2/{part}.txt").write_text(text(count, seed))


def digits(root: Path, train: int = 600, test: int = 200) -> None:
    """Images of digits in MNIST's files, where programs look for them."""
    rng = np.random.default_rng(2)
    for place in ("data", "../data"):
        raw = root / place / "MNIST" / "raw"
        raw.mkdir(parents=True, exist_ok=True)
        for part, count in (("train", train), ("t10k", test)):
            labels = rng.integers(0, 10, count).astype(np.uint8)
            images = rng.integers(0, 60, (count, 28, 28)).astype(np.uint8)
            for image, label in zip(images, labels, strict=True):
                image[2 * label + 4 : 2 * label + 7, 4:24] += 180
            shape = np.array([0x803, count, 28, 28], ">i4").tobytes()
            (raw / f"{part}-images-idx3-ubyte").write_bytes(shape + images.tobytes())
            (raw / f"{part}-labels-idx1-ubyte").write_bytes(
                np.array([0x801, count], ">i4").tobytes() + labels.tobytes()
            )


def citations(root: Path) -> None:
    """Papers, their words and who cites whom, in the Cora data set's two files."""
    rng, folder = np.random.default_rng(3), root / "cora"
    folder.mkdir()
    subjects = "Case_Based Genetic_Algorithms Neural_Networks Probabilistic_Methods Reinforcement_Learning Rule_Learning Theory"
    papers = 2708
    with (folder / "cora.content").open("w") as file:
        for paper in range(papers):
            words = (rng.random(60) < 0.1).astype(int)
            file.write("\t".join([str(paper), *map(str, words), subjects.split()[paper % 7]]) + "\n")
    pairs = rng.integers(0, papers, (6000, 2))
    (folder / "cora.cites").write_text("".join(f"{one}\t{other}\n" for one, other in pairs if one != other))
    with tarfile.open(root / "cora.tgz", "w:gz") as archive:
        archive.add(folder, "cora")


def citations_above(root: Path) -> None:
    """The same two files in the folder `data` beside the program's."""
    place = root.parent / "data"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    citations(place)


def photographs(root: Path) -> None:
    """Images by class for training and validation."""
    rng = np.random.default_rng(4)
    for part in ("train", "val"):
        for kind in ("a", "b"):
            folder = root / "images" / part / kind
            folder.mkdir(parents=True)
            for number in range(4):
                pixels = rng.integers(0, 255, (80, 96, 3)).astype(np.uint8)
                Image.fromarray(pixels).save(folder / f"{number}.png")


def small_photographs(root: Path) -> None:
    """Images of the BSDS300 data set's form."""
    rng = np.random.default_rng(5)
    for part in ("train", "test"):
        folder = root / "dataset/BSDS300/images" / part
        folder.mkdir(parents=True)
        for number in range(6):
            pixels = rng.integers(0, 255, (260, 260, 3)).astype(np.uint8)
            Image.fromarray(pixels).save(folder / f"{number}.jpg")


def nothing(root: Path) -> None:
    """For programs that make their data themselves."""


MAKERS: dict[str, Callable[[Path], None]] = {
    make.__name__: make
    for make in (
        characters,
        citations,
        citations_above,
        corpus,
        digits,
        document,
        nothing,
        photographs,
        small_photographs,
        tokens,
    )
}

if __name__ == "__main__":
    MAKERS[sys.argv[1]](Path(sys.argv[2]))
