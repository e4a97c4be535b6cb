"""Stands in for tests/utils/test_configuration_utils.py: values every configuration accepts, none the default."""

config_common_kwargs = {
    "return_dict": False,
    "output_hidden_states": True,
    "output_attentions": True,
    "dtype": "float16",
    "chunk_size_feed_forward": 3,
    "architectures": ["SomeModel"],
    "id2label": {0: "yes"},
    "label2id": {"yes": 0},
    "problem_type": "regression",
}
