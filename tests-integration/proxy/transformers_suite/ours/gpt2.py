"""transformers' common tests on GPT-2, and its generation."""

import unittest

from transformers import (
    GPT2Config,
    GPT2ForQuestionAnswering,
    GPT2ForSequenceClassification,
    GPT2ForTokenClassification,
    GPT2LMHeadModel,
    GPT2Model,
)

from ..generation.test_utils import GenerationTesterMixin
from ..test_configuration_common import ConfigTester
from ..test_modeling_common import ModelTesterMixin
from .text_model import GenerationChecks, TextModelTester


class GPT2ModelTest(ModelTesterMixin, GenerationTesterMixin, GenerationChecks, unittest.TestCase):
    all_model_classes = (
        GPT2Model,
        GPT2LMHeadModel,
        GPT2ForQuestionAnswering,
        GPT2ForSequenceClassification,
        GPT2ForTokenClassification,
    )
    causal_class = GPT2LMHeadModel

    def setUp(self):
        self.model_tester = TextModelTester(GPT2Config, n_positions=48, bos_token_id=1, eos_token_id=2, pad_token_id=0)
        self.config_tester = ConfigTester(self, config_class=GPT2Config, n_embd=36)

    def test_config(self):
        self.config_tester.run_common_tests()
