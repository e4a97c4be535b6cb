"""openai-whisper: a sound's mel spectrogram, a small model's logits, and decoding by the best token and by beams."""

import json

import numpy as np
import torch
import whisper
from whisper.model import ModelDimensions, Whisper


def main():
    torch.manual_seed(0)
    sizes = ModelDimensions(
        n_mels=80, n_audio_ctx=1500, n_audio_state=32, n_audio_head=2, n_audio_layer=1, n_vocab=51865, n_text_ctx=448,
        n_text_state=32, n_text_head=2, n_text_layer=1,
    )  # fmt: skip
    model = Whisper(sizes).eval()
    torch.nn.init.normal_(model.decoder.positional_embedding)  # which it leaves to a checkpoint
    sound = np.sin(np.arange(48000) * 0.05).astype(np.float32)
    mel = whisper.log_mel_spectrogram(whisper.pad_or_trim(sound))
    heard = model.embed_audio(mel[None])
    logits = model.logits(torch.tensor([[50258, 50259, 50359]]), heard)
    found = {
        "mel": [mel.mean().item(), *mel[:4, :6].flatten().tolist()],
        "heard": heard[0, :3].flatten().tolist(),
        "logits": logits[0, :, :40].flatten().tolist(),
    }
    for name, more in (("greedy", {"without_timestamps": True}), ("beams", {"beam_size": 3})):
        options = whisper.DecodingOptions(language="en", fp16=False, sample_len=5, **more)
        decoded = whisper.decode(model, mel, options)
        found[name] = [*decoded.tokens, decoded.avg_logprob, decoded.no_speech_prob]
    print(json.dumps(found))


main()
