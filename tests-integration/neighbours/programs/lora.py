"""LoRA on a tiny Llama: trained, saved, loaded and merged."""

import json
import tempfile

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM


def base():
    torch.manual_seed(5)
    sizes = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}
    return LlamaForCausalLM(LlamaConfig(vocab_size=61, num_key_value_heads=2, max_position_embeddings=40, **sizes))


def main():
    config = LoraConfig(r=4, lora_alpha=8, lora_dropout=0.1, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM")
    model = get_peft_model(base(), config)
    trained, total = model.get_nb_trainable_parameters()
    ids = torch.randint(3, 61, (4, 12))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
    losses = []
    for _ in range(12):
        optimizer.zero_grad()
        loss = model(input_ids=ids, labels=ids).loss
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        logits = model(input_ids=ids).logits
        with model.disable_adapter():
            plain = model(input_ids=ids).logits
        with tempfile.TemporaryDirectory() as folder:
            model.save_pretrained(folder)
            loaded = PeftModel.from_pretrained(base(), folder).eval()(input_ids=ids).logits
        merged = model.merge_and_unload()(input_ids=ids).logits
    torch.testing.assert_close(loaded, logits)
    torch.testing.assert_close(merged, logits, rtol=1e-4, atol=1e-5)
    print(json.dumps({"parameters": [trained, total], "losses": losses, "moved": (logits - plain).abs().max().item()}))


main()
