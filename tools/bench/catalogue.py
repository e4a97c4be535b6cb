"""Names, texts and effort of the cases. Knows no torch: the driver reads it, the workers read `cases.py`."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Effort:
    """How a case is timed: seconds per turn, pairs of turns, and what it is in words.

    `against` names a case that a second process of ours runs in torch's place: the figure is then ours against ours.
    """

    text: str
    module: str = "cases"
    seconds: float = 0.15
    pairs: int = 15
    against: str = ""


CASES = {
    "add": Effort("add of two 16-element tensors"),
    "add_grad": Effort("add of two 16-element tensors, recording for backward"),
    "chain": Effort("chain of 100 pointwise ops, forward and backward"),
    "pipeline_tiny": Effort(
        "100 tiny ops in a pipeline, against ours without one", seconds=0.3, against="pipeline_tiny_eager"
    ),
    "pipeline_fused": Effort("20 pointwise ops on 4M floats, in a fusing pipeline", seconds=0.3, pairs=9),
    "mlp": Effort("MLP 784-256-256-10, batch 64, Adam step", seconds=0.3, pairs=9),
    "bert_forward": Effort("BERT-base forward, batch 4 × 128", "model_cases", seconds=0.0, pairs=5),
    "bert_train": Effort("BERT-base training step, batch 2 × 128, dropout, AdamW", "model_cases", seconds=0.0, pairs=5),
    "gpt2_decode": Effort("GPT-2-small greedy decoding of 32 tokens, KV cache", "model_cases", seconds=0.0, pairs=5),
}
