"""transformers' common tests on Gemma, and its generation."""

import unittest

from transformers import (
    GemmaConfig,
    GemmaForCausalLM,
    GemmaForSequenceClassification,
    GemmaForTokenClassification,
    GemmaModel,
)

from ..generation.test_utils import GenerationTesterMixin
from ..test_configuration_common import ConfigTester
from ..test_modeling_common import ModelTesterMixin
from .text_model import GenerationChecks, TextModelTester


class GemmaModelTest(ModelTesterMixin, GenerationTesterMixin, GenerationChecks, unittest.TestCase):
    all_model_classes = (
        GemmaModel,
        GemmaForCausalLM,
        GemmaForSequenceClassification,
        GemmaForTokenClassification,
    )
    causal_class = GemmaForCausalLM

    def setUp(self):
        self.model_tester = TextModelTester(
            GemmaConfig,
            intermediate_size=40,
            num_key_value_heads=2,
            max_position_embeddings=48,
            bos_token_id=1,
            eos_token_id=2,
            pad_token_id=0,
            head_dim=6,
        )
        self.config_tester = ConfigTester(self, config_class=GemmaConfig, hidden_size=32)

    def test_config(self):
        self.config_tester.run_common_tests()
