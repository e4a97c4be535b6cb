"""transformers' common tests on BART."""

import unittest

from transformers import BartConfig, BartForConditionalGeneration, BartModel

from ..generation.test_utils import GenerationTesterMixin
from ..test_configuration_common import ConfigTester
from ..test_modeling_common import ModelTesterMixin
from .pair_model import PAIR, PairModelTester


class BartModelTest(ModelTesterMixin, GenerationTesterMixin, unittest.TestCase):
    all_model_classes = (BartModel, BartForConditionalGeneration)
    is_encoder_decoder = True

    def setUp(self):
        options = {"max_position_embeddings": 48, "decoder_start_token_id": 2, "forced_eos_token_id": None}
        self.model_tester = PairModelTester(BartConfig, **PAIR, **options)
        self.config_tester = ConfigTester(self, config_class=BartConfig, d_model=36)

    def test_config(self):
        self.config_tester.run_common_tests()
