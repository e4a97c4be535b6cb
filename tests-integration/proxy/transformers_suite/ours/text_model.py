"""What the testers of text models share: a tiny configuration and seeded inputs."""

import torch

from ..test_modeling_common import ids_tensor, random_attention_mask

SIZES = {"vocab_size": 61, "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4}
BATCH, LENGTH = 5, 9


class TextModelTester:
    """Makes the configuration and inputs that the common tests ask for."""

    batch_size = BATCH
    seq_length = LENGTH
    encoder_seq_length = LENGTH
    is_training = True
    hidden_size = SIZES["hidden_size"]
    num_hidden_layers = SIZES["num_hidden_layers"]
    num_attention_heads = SIZES["num_attention_heads"]
    num_choices = 3

    def __init__(self, config_class: type, **options: object) -> None:
        self.config_class = config_class
        self.options = options

    def get_config(self):
        return self.config_class(**SIZES, **self.options)

    def prepare_config_and_inputs_for_common(self):
        inputs = {
            # None that stands for an end or for padding: RoBERTa numbers positions by them.
            "input_ids": ids_tensor([BATCH, LENGTH], SIZES["vocab_size"] - 3) + 3,
            "attention_mask": random_attention_mask([BATCH, LENGTH]),
        }
        return self.get_config(), inputs


class GenerationChecks:
    """Every generation strategy gives sequences of the right form, and the cache changes nothing."""

    causal_class = None
    new_tokens = 6

    def _generate(self, **options):
        config, inputs = self.model_tester.prepare_config_and_inputs_for_common()
        torch.manual_seed(0)
        model = self.causal_class(config).eval()
        inputs["attention_mask"] = torch.ones_like(inputs["attention_mask"])
        defaults = {"max_new_tokens": self.new_tokens, "min_new_tokens": self.new_tokens, "pad_token_id": 0}
        return model.generate(**inputs, **{**defaults, **options}), inputs

    def _check(self, sequences, inputs, times=1):
        prompt = inputs["input_ids"].repeat_interleave(times, 0)
        self.assertEqual(tuple(sequences.shape), (BATCH * times, LENGTH + self.new_tokens))
        self.assertTrue(torch.equal(sequences[:, :LENGTH], prompt))
        self.assertEqual(sequences.dtype, torch.int64)

    def test_generate_greedy(self):
        self._check(*self._generate(do_sample=False))

    def test_generate_sample(self):
        self._check(*self._generate(do_sample=True, top_k=20, top_p=0.9, temperature=0.7))

    def test_generate_beams(self):
        self._check(*self._generate(do_sample=False, num_beams=3))

    def test_generate_beam_sample_several(self):
        self._check(*self._generate(do_sample=True, num_beams=4, num_return_sequences=2), times=2)

    def test_generate_processors(self):
        self._check(*self._generate(do_sample=False, repetition_penalty=1.3, no_repeat_ngram_size=2))

    def test_generate_reports_scores(self):
        output, inputs = self._generate(do_sample=False, return_dict_in_generate=True, output_scores=True)
        self._check(output.sequences, inputs)
        self.assertEqual(len(output.scores), self.new_tokens)
        picked = torch.stack([score.argmax(-1) for score in output.scores], 1)
        self.assertTrue(torch.equal(picked, output.sequences[:, LENGTH:]))

    def test_cache_changes_nothing(self):
        config, inputs = self.model_tester.prepare_config_and_inputs_for_common()
        torch.manual_seed(0)
        model = self.causal_class(config).eval()
        inputs["attention_mask"] = torch.ones_like(inputs["attention_mask"])
        options = {**inputs, "do_sample": False, "max_new_tokens": self.new_tokens, "pad_token_id": 0}
        cached = model.generate(**options, use_cache=True)
        self.assertTrue(torch.equal(cached, model.generate(**options, use_cache=False)))
