"""transformers' common tests on Whisper, whose encoder halves the length of its input."""

import unittest

from transformers import WhisperConfig, WhisperForConditionalGeneration, WhisperModel

from ..generation.test_utils import GenerationTesterMixin
from ..test_configuration_common import ConfigTester
from ..test_modeling_common import ModelTesterMixin, floats_tensor
from .pair_model import PAIR, PairModelTester
from .text_model import BATCH

FRAMES, MELS = 36, 8


class WhisperTester(PairModelTester):
    encoder_seq_length = key_length = FRAMES // 2

    def encoder_inputs(self):
        return {"input_features": floats_tensor([BATCH, MELS, FRAMES], 1.0)}


class WhisperModelTest(ModelTesterMixin, GenerationTesterMixin, unittest.TestCase):
    all_model_classes = (WhisperModel, WhisperForConditionalGeneration)
    is_encoder_decoder = True
    test_resize_embeddings = False  # the common test feeds ids to the encoder

    def setUp(self):
        sizes = {"num_mel_bins": MELS, "max_source_positions": FRAMES // 2, "max_target_positions": 48}
        options = {"decoder_start_token_id": 1, "suppress_tokens": None, "begin_suppress_tokens": None}
        self.model_tester = WhisperTester(WhisperConfig, **PAIR, **sizes, **options)
        self.config_tester = ConfigTester(self, config_class=WhisperConfig, d_model=36)

    def _prepare_for_class(self, inputs, model_class, return_labels=False):
        inputs = super()._prepare_for_class(inputs, model_class, return_labels=return_labels)
        if return_labels:
            inputs["labels"] = inputs["decoder_input_ids"]
        return inputs

    def test_config(self):
        self.config_tester.run_common_tests()
