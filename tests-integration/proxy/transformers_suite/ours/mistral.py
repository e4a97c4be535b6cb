"""transformers' common tests on Mistral with its sliding window, and its generation."""

import unittest

from transformers import (
    MistralConfig,
    MistralForCausalLM,
    MistralForQuestionAnswering,
    MistralForSequenceClassification,
    MistralForTokenClassification,
    MistralModel,
)

from ..generation.test_utils import GenerationTesterMixin
from ..test_configuration_common import ConfigTester
from ..test_modeling_common import ModelTesterMixin
from .text_model import GenerationChecks, TextModelTester


class MistralModelTest(ModelTesterMixin, GenerationTesterMixin, GenerationChecks, unittest.TestCase):
    all_model_classes = (
        MistralModel,
        MistralForCausalLM,
        MistralForSequenceClassification,
        MistralForTokenClassification,
        MistralForQuestionAnswering,
    )
    causal_class = MistralForCausalLM

    def setUp(self):
        self.model_tester = TextModelTester(
            MistralConfig,
            intermediate_size=40,
            num_key_value_heads=2,
            max_position_embeddings=48,
            bos_token_id=1,
            eos_token_id=2,
            pad_token_id=0,
            sliding_window=6,
        )
        self.config_tester = ConfigTester(self, config_class=MistralConfig, hidden_size=32)

    def test_config(self):
        self.config_tester.run_common_tests()
