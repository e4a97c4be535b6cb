"""transformers' common tests on Llama, grouped-query attention included, and its generation."""

import unittest

from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    LlamaForQuestionAnswering,
    LlamaForSequenceClassification,
    LlamaForTokenClassification,
    LlamaModel,
)

from ..generation.test_utils import GenerationTesterMixin
from ..test_configuration_common import ConfigTester
from ..test_modeling_common import ModelTesterMixin
from .text_model import GenerationChecks, TextModelTester


class LlamaModelTest(ModelTesterMixin, GenerationTesterMixin, GenerationChecks, unittest.TestCase):
    all_model_classes = (
        LlamaModel,
        LlamaForCausalLM,
        LlamaForQuestionAnswering,
        LlamaForSequenceClassification,
        LlamaForTokenClassification,
    )
    causal_class = LlamaForCausalLM

    def setUp(self):
        self.model_tester = TextModelTester(
            LlamaConfig,
            intermediate_size=40,
            num_key_value_heads=2,
            max_position_embeddings=48,
            bos_token_id=1,
            eos_token_id=2,
            pad_token_id=0,
        )
        self.config_tester = ConfigTester(self, config_class=LlamaConfig, hidden_size=32)

    def test_config(self):
        self.config_tester.run_common_tests()
