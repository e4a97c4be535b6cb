"""Small seeded models of sixteen architectures, the inputs they take and whether they generate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import transformers as tf

VOCABULARY, BATCH, LENGTH, HIDDEN, HEADS, LAYERS, INNER = 67, 3, 12, 32, 4, 2, 48
ENDS = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
_SIZES = {"vocab_size": VOCABULARY, "hidden_size": HIDDEN, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS}
_ENCODER = {**_SIZES, "intermediate_size": INNER, "max_position_embeddings": 64, "pad_token_id": 0}
_ROTARY = {**_SIZES, "intermediate_size": INNER, "num_key_value_heads": 2, "max_position_embeddings": 64, **ENDS}
_PAIR = {
    "d_model": HIDDEN,
    "encoder_layers": LAYERS,
    "decoder_layers": LAYERS,
    "encoder_attention_heads": HEADS,
    "decoder_attention_heads": HEADS,
    "encoder_ffn_dim": INNER,
    "decoder_ffn_dim": INNER,
    **ENDS,
}

Inputs = dict[str, torch.Tensor]


@dataclass(frozen=True)
class Architecture:
    """How one architecture is built and fed; ``generates`` names the input that generation starts from."""

    model: Callable[[], torch.nn.Module]
    inputs: Callable[[], Inputs]
    generates: str = ""


def text() -> Inputs:
    """Return ids, a mask with padding on the left, and the ids as labels."""
    ids = torch.randint(3, VOCABULARY, (BATCH, LENGTH))
    mask = torch.ones_like(ids)
    mask[0, :4] = 0
    return {"input_ids": ids, "attention_mask": mask, "labels": ids}


def _pixels() -> Inputs:
    return {"pixel_values": torch.randn(BATCH, 3, 16, 16), "labels": torch.randint(0, 5, (BATCH,))}


def _pixels_and_text() -> Inputs:
    ids = torch.randint(3, VOCABULARY, (BATCH, LENGTH))
    ids[:, -1] = VOCABULARY - 1  # the end of the text, whose state stands for all of it
    return {"input_ids": ids, "pixel_values": torch.randn(BATCH, 3, 16, 16)}


def _sound() -> Inputs:
    return {"input_features": torch.randn(BATCH, 8, 40), "labels": torch.randint(3, VOCABULARY, (BATCH, LENGTH))}


def _vision(**more: object) -> dict[str, object]:
    sizes = {key: value for key, value in _SIZES.items() if key != "vocab_size"}
    return {**sizes, "intermediate_size": INNER, "image_size": 16, "patch_size": 4, **more}


def _clip() -> torch.nn.Module:
    words = {**_SIZES, "intermediate_size": INNER, "max_position_embeddings": 20, "eos_token_id": VOCABULARY - 1}
    return tf.CLIPModel(tf.CLIPConfig(text_config=words, vision_config=_vision(), projection_dim=16))


def _t5() -> torch.nn.Module:
    sizes = {"vocab_size": VOCABULARY, "d_model": HIDDEN, "d_kv": 8, "d_ff": INNER, "num_heads": HEADS}
    return tf.T5ForConditionalGeneration(
        tf.T5Config(**sizes, num_layers=LAYERS, decoder_start_token_id=0, eos_token_id=2, pad_token_id=0)
    )


def _bart() -> torch.nn.Module:
    config = tf.BartConfig(**_PAIR, vocab_size=VOCABULARY, max_position_embeddings=64, decoder_start_token_id=2)
    return tf.BartForConditionalGeneration(config)


def _whisper() -> torch.nn.Module:
    sizes = {"vocab_size": VOCABULARY, "num_mel_bins": 8, "max_source_positions": 20, "max_target_positions": 64}
    none = {"suppress_tokens": None, "begin_suppress_tokens": None}
    return tf.WhisperForConditionalGeneration(tf.WhisperConfig(**_PAIR, **sizes, **none, decoder_start_token_id=1))


def _gpt2() -> torch.nn.Module:
    return tf.GPT2LMHeadModel(tf.GPT2Config(**_SIZES, n_positions=64, **ENDS))


def _opt() -> torch.nn.Module:
    config = tf.OPTConfig(**_SIZES, ffn_dim=INNER, max_position_embeddings=64, word_embed_proj_dim=HIDDEN, **ENDS)
    return tf.OPTForCausalLM(config)


def _distilbert() -> torch.nn.Module:
    sizes = {"vocab_size": VOCABULARY, "dim": HIDDEN, "n_layers": LAYERS, "n_heads": HEADS, "hidden_dim": INNER}
    return tf.DistilBertForMaskedLM(tf.DistilBertConfig(**sizes, max_position_embeddings=64))


ARCHITECTURES = {
    "bert": Architecture(
        lambda: tf.BertLMHeadModel(tf.BertConfig(**_ENCODER, is_decoder=True)), text, generates="input_ids"
    ),
    "distilbert": Architecture(_distilbert, text),
    "roberta": Architecture(
        lambda: tf.RobertaForCausalLM(tf.RobertaConfig(**_ENCODER, is_decoder=True)), text, generates="input_ids"
    ),
    "gpt2": Architecture(_gpt2, text, generates="input_ids"),
    "llama": Architecture(lambda: tf.LlamaForCausalLM(tf.LlamaConfig(**_ROTARY)), text, generates="input_ids"),
    "t5": Architecture(_t5, text, generates="input_ids"),
    "bart": Architecture(_bart, text, generates="input_ids"),
    "vit": Architecture(lambda: tf.ViTForImageClassification(tf.ViTConfig(**_vision(num_labels=5))), _pixels),
    "clip": Architecture(_clip, _pixels_and_text),
    "whisper": Architecture(_whisper, _sound, generates="input_features"),
    "qwen2": Architecture(lambda: tf.Qwen2ForCausalLM(tf.Qwen2Config(**_ROTARY)), text, generates="input_ids"),
    "mistral": Architecture(
        lambda: tf.MistralForCausalLM(tf.MistralConfig(**_ROTARY, sliding_window=6)), text, generates="input_ids"
    ),
    "gemma": Architecture(
        lambda: tf.GemmaForCausalLM(tf.GemmaConfig(**_ROTARY, head_dim=8)), text, generates="input_ids"
    ),
    "albert": Architecture(lambda: tf.AlbertForMaskedLM(tf.AlbertConfig(**_ENCODER, embedding_size=16)), text),
    "electra": Architecture(
        lambda: tf.ElectraForCausalLM(tf.ElectraConfig(**_ENCODER, embedding_size=16, is_decoder=True)),
        text,
        generates="input_ids",
    ),
    "opt": Architecture(_opt, text, generates="input_ids"),
}
