"""transformers' common tests on BERT."""

import unittest

from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertForMultipleChoice,
    BertForNextSentencePrediction,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    BertLMHeadModel,
    BertModel,
)

from ..test_configuration_common import ConfigTester
from ..test_modeling_common import ModelTesterMixin
from .text_model import GenerationChecks, TextModelTester


class BertModelTest(ModelTesterMixin, unittest.TestCase):
    all_model_classes = (
        BertModel,
        BertForMaskedLM,
        BertForMultipleChoice,
        BertForNextSentencePrediction,
        BertForQuestionAnswering,
        BertForSequenceClassification,
        BertForTokenClassification,
    )

    def setUp(self):
        self.model_tester = TextModelTester(BertConfig, intermediate_size=37, max_position_embeddings=48)
        self.config_tester = ConfigTester(self, config_class=BertConfig, hidden_size=36)

    def test_config(self):
        self.config_tester.run_common_tests()

    def test_pretraining_heads(self):
        config, inputs = self.model_tester.prepare_config_and_inputs_for_common()
        output = BertForPreTraining(config).eval()(**inputs)
        batch, length = inputs["input_ids"].shape
        self.assertEqual(tuple(output.prediction_logits.shape), (batch, length, config.vocab_size))
        self.assertEqual(tuple(output.seq_relationship_logits.shape), (batch, 2))


class BertDecoderModelTest(GenerationChecks, unittest.TestCase):
    causal_class = BertLMHeadModel

    def setUp(self):
        self.model_tester = TextModelTester(
            BertConfig, intermediate_size=37, max_position_embeddings=48, is_decoder=True
        )
