"""transformers' common tests on RoBERTa."""

import unittest

from transformers import (
    RobertaConfig,
    RobertaForMaskedLM,
    RobertaForMultipleChoice,
    RobertaForQuestionAnswering,
    RobertaForSequenceClassification,
    RobertaForTokenClassification,
    RobertaModel,
)

from ..test_configuration_common import ConfigTester
from ..test_modeling_common import ModelTesterMixin
from .text_model import TextModelTester


class RobertaModelTest(ModelTesterMixin, unittest.TestCase):
    all_model_classes = (
        RobertaModel,
        RobertaForMaskedLM,
        RobertaForMultipleChoice,
        RobertaForQuestionAnswering,
        RobertaForSequenceClassification,
        RobertaForTokenClassification,
    )

    def setUp(self):
        self.model_tester = TextModelTester(
            RobertaConfig,
            intermediate_size=37,
            max_position_embeddings=48,
            pad_token_id=1,
        )
        self.config_tester = ConfigTester(self, config_class=RobertaConfig, hidden_size=36)

    def test_config(self):
        self.config_tester.run_common_tests()
