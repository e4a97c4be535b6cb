"""transformers' common tests on OPT, and its generation."""

import unittest

from transformers import (
    OPTConfig,
    OPTForCausalLM,
    OPTForQuestionAnswering,
    OPTForSequenceClassification,
    OPTModel,
)

from ..generation.test_utils import GenerationTesterMixin
from ..test_configuration_common import ConfigTester
from ..test_modeling_common import ModelTesterMixin
from .text_model import GenerationChecks, TextModelTester


class OPTModelTest(ModelTesterMixin, GenerationTesterMixin, GenerationChecks, unittest.TestCase):
    all_model_classes = (
        OPTModel,
        OPTForCausalLM,
        OPTForSequenceClassification,
        OPTForQuestionAnswering,
    )
    causal_class = OPTForCausalLM

    def setUp(self):
        self.model_tester = TextModelTester(
            OPTConfig,
            ffn_dim=40,
            max_position_embeddings=48,
            word_embed_proj_dim=24,
            bos_token_id=1,
            eos_token_id=2,
            pad_token_id=0,
        )
        self.config_tester = ConfigTester(self, config_class=OPTConfig, hidden_size=32)

    def test_config(self):
        self.config_tester.run_common_tests()
