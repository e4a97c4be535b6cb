"""What the testers of image models share: a tiny configuration and seeded pictures."""

from ..test_modeling_common import floats_tensor
from .text_model import BATCH

IMAGE = {
    "hidden_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 37,
    "image_size": 16,
    "patch_size": 8,
}


class ImageModelTester:
    """Makes the configuration and inputs that the common tests ask for."""

    batch_size = BATCH
    seq_length = encoder_seq_length = key_length = (16 // 8) ** 2 + 1
    num_masks = mask_length = (16 // 8) ** 2
    is_training = True
    hidden_size = 24
    num_hidden_layers = 2
    num_attention_heads = 4
    attn_implementation = "eager"

    def __init__(self, config_class: type, **options: object) -> None:
        self.config_class = config_class
        self.options = {**IMAGE, **options}

    def get_config(self):
        return self.config_class(**self.options)

    def prepare_config_and_inputs_for_common(self):
        return self.get_config(), {"pixel_values": floats_tensor([BATCH, 3, 16, 16])}
