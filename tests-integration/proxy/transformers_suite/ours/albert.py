"""transformers' common tests on ALBERT."""

import unittest

from transformers import (
    AlbertConfig,
    AlbertForMaskedLM,
    AlbertForMultipleChoice,
    AlbertForQuestionAnswering,
    AlbertForSequenceClassification,
    AlbertForTokenClassification,
    AlbertModel,
)

from ..test_configuration_common import ConfigTester
from ..test_modeling_common import ModelTesterMixin
from .text_model import TextModelTester


class AlbertModelTest(ModelTesterMixin, unittest.TestCase):
    all_model_classes = (
        AlbertModel,
        AlbertForMaskedLM,
        AlbertForMultipleChoice,
        AlbertForQuestionAnswering,
        AlbertForSequenceClassification,
        AlbertForTokenClassification,
    )

    def setUp(self):
        self.model_tester = TextModelTester(
            AlbertConfig,
            intermediate_size=37,
            max_position_embeddings=48,
            embedding_size=16,
        )
        self.config_tester = ConfigTester(self, config_class=AlbertConfig, hidden_size=36)

    def test_config(self):
        self.config_tester.run_common_tests()
