"""peft's other methods on a tiny Llama: each is trained, saved and loaded."""

import json
import tempfile
import warnings

import peft
import torch
from transformers import LlamaConfig, LlamaForCausalLM

warnings.simplefilter("ignore")
TARGETS = {"target_modules": ["q_proj", "v_proj"]}
METHODS = {
    "ia3": lambda: peft.IA3Config(target_modules=["k_proj", "down_proj"], feedforward_modules=["down_proj"]),
    "adalora": lambda: peft.AdaLoraConfig(r=4, init_r=6, total_step=10, tinit=1, tfinal=2, **TARGETS),
    "dora": lambda: peft.LoraConfig(r=4, use_dora=True, **TARGETS),
    "rslora": lambda: peft.LoraConfig(r=4, use_rslora=True, init_lora_weights="pissa", **TARGETS),
    "loha": lambda: peft.LoHaConfig(r=4, **TARGETS),
    "lokr": lambda: peft.LoKrConfig(r=4, **TARGETS),
    "oft": lambda: peft.OFTConfig(oft_block_size=8, **TARGETS),
    "vera": lambda: peft.VeraConfig(r=4, **TARGETS),
    "prompt": lambda: peft.PromptTuningConfig(num_virtual_tokens=3),
    "prefix": lambda: peft.PrefixTuningConfig(num_virtual_tokens=3),
    "p-tuning": lambda: peft.PromptEncoderConfig(num_virtual_tokens=3, encoder_hidden_size=16),
}


def base():
    torch.manual_seed(5)
    sizes = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}
    return LlamaForCausalLM(LlamaConfig(vocab_size=61, num_key_value_heads=2, max_position_embeddings=40, **sizes))


def tried(make):
    config = make()
    config.task_type = "CAUSAL_LM"
    model = peft.get_peft_model(base(), config)
    ids = torch.randint(3, 61, (4, 12))
    optimizer = torch.optim.AdamW([one for one in model.parameters() if one.requires_grad], lr=0.02)
    losses = []
    for _ in range(4):
        optimizer.zero_grad()
        loss = model(input_ids=ids, labels=ids).loss
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        logits = model(input_ids=ids).logits
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        loaded = peft.PeftModel.from_pretrained(base(), folder).eval()
    with torch.no_grad():
        near = (loaded(input_ids=ids).logits - logits).abs().max().item()
    return {"losses": losses, "logits": logits.flatten()[:20].tolist(), "again": near < 1e-3}


print(json.dumps({name: tried(make) for name, make in METHODS.items()}))
