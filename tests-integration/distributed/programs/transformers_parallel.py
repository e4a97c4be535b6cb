"""transformers' Llama and BERT, alone and spread over ranks; rank 0 writes logits and losses.

Arguments: library, file, folder, whether transformers itself spreads them, too.
"""

import json
import sys

library, target, folder, by_transformers = sys.argv[1:5]
if library == "mindtorch":
    import mindtorch_proxy

    mindtorch_proxy.install()

import torch  # noqa: E402  # served by the proxy, if it is installed
import torch.distributed as dist  # noqa: E402
from torch.distributed.tensor import DTensor, Replicate, Shard  # noqa: E402
from torch.distributed.tensor.parallel import (  # noqa: E402
    ColwiseParallel,
    PrepareModuleInput,
    RowwiseParallel,
    SequenceParallel,
    loss_parallel,
    parallelize_module,
)
from transformers import BertConfig, BertForMaskedLM, LlamaConfig, LlamaForCausalLM  # noqa: E402

COMMON = {
    "vocab_size": 67,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
}
WORDS = 8
PLANS = {
    "llama": {
        "model.layers.*.mlp.up_proj": "colwise",
        "model.layers.*.mlp.gate_proj": "colwise",
        "model.layers.*.mlp.down_proj": "rowwise",
    },
    "bert": {
        **{f"bert.encoder.layer.*.attention.self.{name}": "colwise" for name in ("query", "key", "value")},
        "bert.encoder.layer.*.attention.output.dense": "rowwise",
        "bert.encoder.layer.*.intermediate.dense": "colwise",
        "bert.encoder.layer.*.output.dense": "rowwise",
        "cls.predictions.decoder": "colwise_gather_output",
    },
}


def llama():
    """Return a Llama of seeded weights."""
    torch.manual_seed(0)
    return LlamaForCausalLM(
        LlamaConfig(**COMMON, num_key_value_heads=4, initializer_range=0.2, max_position_embeddings=32)
    )


def bert():
    """Return a BERT of seeded weights."""
    torch.manual_seed(0)
    chances = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    return BertForMaskedLM(BertConfig(**COMMON, **chances, initializer_range=0.2, tie_word_embeddings=False))


def spread_input(now, wanted, others=0):
    """Return what turns a layer's first argument, a part of the sequence or the whole, into another."""
    rest = (None,) * others
    return PrepareModuleInput(input_layouts=(now, *rest), desired_input_layouts=(wanted, *rest), use_local_output=True)


def llama_layers(head):
    """Spread attention and feed-forward over their columns and rows."""
    plan = {"model.embed_tokens": RowwiseParallel(input_layouts=Replicate()), "lm_head": head}
    for name in ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "mlp.gate_proj", "mlp.up_proj"):
        plan[f"model.layers.*.{name}"] = ColwiseParallel()
    for name in ("self_attn.o_proj", "mlp.down_proj"):
        plan[f"model.layers.*.{name}"] = RowwiseParallel()
    return plan


def llama_sequence(head):
    """Spread norms, too, over the sequence."""
    plan = llama_layers(head) | {
        "model.layers.0": spread_input(Replicate(), Shard(1)),
        "model.norm": SequenceParallel(),
    }
    for name in ("input_layernorm", "post_attention_layernorm"):
        plan[f"model.layers.*.{name}"] = SequenceParallel()
    for name in ("self_attn.o_proj", "mlp.down_proj"):
        plan[f"model.layers.*.{name}"] = RowwiseParallel(output_layouts=Shard(1))
    plan["model.layers.*.self_attn"] = PrepareModuleInput(
        input_kwarg_layouts={"hidden_states": Shard(1)}, desired_input_kwarg_layouts={"hidden_states": Replicate()},
        use_local_output=True,
    )  # fmt: skip
    plan["model.layers.*.mlp"] = spread_input(Shard(1), Replicate())
    return plan


def bert_layers(head):
    """Spread attention and feed-forward over their columns and rows."""
    plan = {
        "bert.embeddings.word_embeddings": RowwiseParallel(input_layouts=Replicate()),
        "cls.predictions.decoder": head,
    }
    for name in ("attention.self.query", "attention.self.key", "attention.self.value", "intermediate.dense"):
        plan[f"bert.encoder.layer.*.{name}"] = ColwiseParallel()
    for name in ("attention.output.dense", "output.dense"):
        plan[f"bert.encoder.layer.*.{name}"] = RowwiseParallel()
    return plan


def bert_sequence(head):
    """Spread norms, too, over the sequence."""
    plan = bert_layers(head) | {"bert.encoder.layer.0": spread_input(Replicate(), Shard(1), others=2)}
    for name in ("attention.output", "output"):
        plan[f"bert.encoder.layer.*.{name}.dense"] = RowwiseParallel(output_layouts=Shard(1))
        plan[f"bert.encoder.layer.*.{name}.LayerNorm"] = SequenceParallel(use_local_output=True)
    plan["bert.encoder.layer.*.attention.self"] = spread_input(Shard(1), Replicate())
    plan["bert.encoder.layer.*.intermediate"] = spread_input(Shard(1), Replicate())
    plan["cls"] = spread_input(Shard(1), Replicate())
    return plan


def whole(x):
    """Return a tensor's numbers, all of them."""
    return (x.full_tensor() if isinstance(x, DTensor) else x).detach().flatten().tolist()


def train(model, spread_loss=False):
    """Return logits before, and losses of three steps."""
    tokens = torch.randint(0, 67, (2, WORDS), generator=torch.Generator().manual_seed(1))
    model.eval()
    with torch.no_grad():
        logits = whole(model(tokens).logits)
    optimizer, losses = torch.optim.SGD(model.parameters(), lr=0.05), []
    for _ in range(3):
        found = model(tokens).logits
        if spread_loss:
            with loss_parallel():
                loss = torch.nn.functional.cross_entropy(found.flatten(0, 1), tokens.flatten())
                loss.backward()
        else:
            loss = torch.nn.functional.cross_entropy(found.flatten(0, 1), tokens.flatten())
            loss.backward()
        losses.append(whole(loss)[0])
        optimizer.step()
        optimizer.zero_grad()
    placements = sorted({f"{n}: {p.placements}" for n, p in model.named_parameters() if isinstance(p, DTensor)})
    return {"logits": logits, "losses": losses, "placements": placements}


def loaded(make, way, plan):
    """Return logits and losses of a model that transformers spreads while it loads, or what it says of the plan."""
    place = f"{folder}/{library}-{make.__name__}-{way}"  # a rank may still read what another way has
    if not dist.get_rank():
        make().save_pretrained(place)
    dist.barrier()
    try:
        return train(type(make()).from_pretrained(place, tp_plan=plan))
    except ValueError as error:
        return str(error)


dist.init_process_group("gloo")
mesh = dist.init_device_mesh("cpu", (dist.get_world_size(),))
results = {}
for make, layers, sequence in ((llama, llama_layers, llama_sequence), (bert, bert_layers, bert_sequence)):
    gathers = ColwiseParallel(output_layouts=Replicate())
    keeps = ColwiseParallel(output_layouts=Shard(-1), use_local_output=False)
    after = {"input_layouts": Shard(1)} if make is llama else {}
    found = results[make.__name__] = {"alone": train(make())}
    found["layers"] = train(parallelize_module(make(), mesh, layers(gathers)))
    found["loss"] = train(parallelize_module(make(), mesh, layers(keeps)), spread_loss=True)
    gathers = ColwiseParallel(**after, output_layouts=Replicate())
    found["sequence"] = train(parallelize_module(make(), mesh, sequence(gathers)))
    if by_transformers == "True":
        found["auto"] = loaded(make, "auto", "auto")
        found["named"] = loaded(make, "named", PLANS[make.__name__])
if not dist.get_rank():
    with open(target, "w") as stream:
        json.dump(results, stream)
dist.destroy_process_group()
