"""transformers' common tests on Qwen2, and its generation."""

import unittest

from transformers import (
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen2ForQuestionAnswering,
    Qwen2ForSequenceClassification,
    Qwen2ForTokenClassification,
    Qwen2Model,
)

from ..generation.test_utils import GenerationTesterMixin
from ..test_configuration_common import ConfigTester
from ..test_modeling_common import ModelTesterMixin
from .text_model import GenerationChecks, TextModelTester


class Qwen2ModelTest(ModelTesterMixin, GenerationTesterMixin, GenerationChecks, unittest.TestCase):
    all_model_classes = (
        Qwen2Model,
        Qwen2ForCausalLM,
        Qwen2ForSequenceClassification,
        Qwen2ForTokenClassification,
        Qwen2ForQuestionAnswering,
    )
    causal_class = Qwen2ForCausalLM

    def setUp(self):
        self.model_tester = TextModelTester(
            Qwen2Config,
            intermediate_size=40,
            num_key_value_heads=2,
            max_position_embeddings=48,
            bos_token_id=1,
            eos_token_id=2,
            pad_token_id=0,
        )
        self.config_tester = ConfigTester(self, config_class=Qwen2Config, hidden_size=32)

    def test_config(self):
        self.config_tester.run_common_tests()
