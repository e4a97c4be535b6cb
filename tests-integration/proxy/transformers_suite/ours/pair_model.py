"""What the testers of encoder-decoder models share: a tiny configuration and seeded inputs."""

from ..test_modeling_common import ids_tensor, random_attention_mask
from .text_model import BATCH, LENGTH, SIZES

PAIR = {
    "d_model": 24,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 37,
    "decoder_ffn_dim": 37,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}


class PairModelTester:
    """Makes the configuration and inputs that the common tests ask for; the encoder may take other inputs than ids."""

    batch_size = BATCH
    seq_length = encoder_seq_length = decoder_seq_length = key_length = LENGTH
    is_training = True
    hidden_size = 24
    num_hidden_layers = 2
    num_attention_heads = 4
    num_choices = 3

    def __init__(self, config_class: type, **options: object) -> None:
        self.config_class = config_class
        self.options = {"vocab_size": SIZES["vocab_size"], **options}

    def get_config(self):
        return self.config_class(**self.options)

    def encoder_inputs(self):
        return {
            "input_ids": ids_tensor([BATCH, LENGTH], SIZES["vocab_size"] - 3) + 3,
            "attention_mask": random_attention_mask([BATCH, LENGTH]),
        }

    def prepare_config_and_inputs_for_common(self):
        decoder = {
            "decoder_input_ids": ids_tensor([BATCH, LENGTH], SIZES["vocab_size"] - 3) + 3,
            "decoder_attention_mask": random_attention_mask([BATCH, LENGTH]),
        }
        return self.get_config(), {**self.encoder_inputs(), **decoder}
