"""transformers' common tests on the vision transformer."""

import unittest

from transformers import ViTConfig, ViTForImageClassification, ViTModel

from ..test_configuration_common import ConfigTester
from ..test_modeling_common import ModelTesterMixin
from .image_model import ImageModelTester


class ViTModelTest(ModelTesterMixin, unittest.TestCase):
    all_model_classes = (ViTModel, ViTForImageClassification)
    test_resize_embeddings = False

    def setUp(self):
        self.model_tester = ImageModelTester(ViTConfig)
        self.config_tester = ConfigTester(self, config_class=ViTConfig, has_text_modality=False, hidden_size=36)

    def test_config(self):
        self.config_tester.run_common_tests()

    @unittest.skip("pictures are not embedded by number")
    def test_inputs_embeds(self):
        pass

    @unittest.skip("pictures are not embedded by number")
    def test_model_get_set_embeddings(self):
        pass
