"""transformers' common tests on ELECTRA."""

import unittest

from transformers import (
    ElectraConfig,
    ElectraForMaskedLM,
    ElectraForMultipleChoice,
    ElectraForQuestionAnswering,
    ElectraForSequenceClassification,
    ElectraForTokenClassification,
    ElectraModel,
)

from ..test_configuration_common import ConfigTester
from ..test_modeling_common import ModelTesterMixin
from .text_model import TextModelTester


class ElectraModelTest(ModelTesterMixin, unittest.TestCase):
    all_model_classes = (
        ElectraModel,
        ElectraForMaskedLM,
        ElectraForMultipleChoice,
        ElectraForQuestionAnswering,
        ElectraForSequenceClassification,
        ElectraForTokenClassification,
    )

    def setUp(self):
        self.model_tester = TextModelTester(
            ElectraConfig,
            intermediate_size=37,
            max_position_embeddings=48,
            embedding_size=16,
        )
        self.config_tester = ConfigTester(self, config_class=ElectraConfig, hidden_size=36)

    def test_config(self):
        self.config_tester.run_common_tests()
