"""transformers' common tests on T5."""

import unittest

from transformers import T5Config, T5ForConditionalGeneration, T5Model

from ..generation.test_utils import GenerationTesterMixin
from ..test_configuration_common import ConfigTester
from ..test_modeling_common import ModelTesterMixin
from .pair_model import PairModelTester


class T5ModelTest(ModelTesterMixin, GenerationTesterMixin, unittest.TestCase):
    all_model_classes = (T5Model, T5ForConditionalGeneration)
    is_encoder_decoder = True

    def setUp(self):
        sizes = {"d_model": 24, "d_kv": 6, "d_ff": 37, "num_heads": 4, "num_layers": 2, "num_decoder_layers": 2}
        ends = {"decoder_start_token_id": 0, "eos_token_id": 2, "pad_token_id": 0}
        self.model_tester = PairModelTester(T5Config, **sizes, **ends)
        self.config_tester = ConfigTester(self, config_class=T5Config, d_model=36)

    def test_config(self):
        self.config_tester.run_common_tests()

    @unittest.skip("the model below the head is not a part of T5 that stands alone")
    def test_model_base_model_prefix(self):
        pass
