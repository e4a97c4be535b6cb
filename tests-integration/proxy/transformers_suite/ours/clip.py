"""transformers' common tests on CLIP's tower of pictures."""

import unittest

from transformers import CLIPVisionConfig, CLIPVisionModel, CLIPVisionModelWithProjection

from ..test_configuration_common import ConfigTester
from ..test_modeling_common import ModelTesterMixin
from .image_model import ImageModelTester


class TowerTester(ImageModelTester):
    is_training = False  # the tower has no loss of its own


class CLIPVisionModelTest(ModelTesterMixin, unittest.TestCase):
    all_model_classes = (CLIPVisionModel, CLIPVisionModelWithProjection)
    test_resize_embeddings = False

    def setUp(self):
        self.model_tester = TowerTester(CLIPVisionConfig, projection_dim=16)
        self.config_tester = ConfigTester(self, config_class=CLIPVisionConfig, has_text_modality=False, hidden_size=36)

    def test_config(self):
        self.config_tester.run_common_tests()

    @unittest.skip("pictures are not embedded by number")
    def test_inputs_embeds(self):
        pass

    @unittest.skip("pictures are not embedded by number")
    def test_model_get_set_embeddings(self):
        pass
