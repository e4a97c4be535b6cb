"""transformers' common tests on DistilBERT."""

import unittest

from transformers import (
    DistilBertConfig,
    DistilBertForMaskedLM,
    DistilBertForMultipleChoice,
    DistilBertForQuestionAnswering,
    DistilBertForSequenceClassification,
    DistilBertForTokenClassification,
    DistilBertModel,
)

from ..test_configuration_common import ConfigTester
from ..test_modeling_common import ModelTesterMixin
from .text_model import TextModelTester


class DistilBertModelTest(ModelTesterMixin, unittest.TestCase):
    all_model_classes = (
        DistilBertModel,
        DistilBertForMaskedLM,
        DistilBertForMultipleChoice,
        DistilBertForQuestionAnswering,
        DistilBertForSequenceClassification,
        DistilBertForTokenClassification,
    )

    def setUp(self):
        self.model_tester = TextModelTester(
            DistilBertConfig,
            hidden_dim=37,
            max_position_embeddings=48,
        )
        self.config_tester = ConfigTester(self, config_class=DistilBertConfig, dim=36)

    def test_config(self):
        self.config_tester.run_common_tests()
