"""Names, texts, effort and goals of the cases. Knows no torch: the driver reads it, the workers read the modules."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Effort:
    """How a case is timed: seconds per turn, pairs of turns, and what it is in words.

    `goal` is the ratio it shall not exceed. `against` names a case that a second process of ours runs in torch's place:
    the figure is then ours against ours.
    """

    text: str
    module: str = "cases"
    seconds: float = 0.15
    pairs: int = 15
    against: str = ""
    goal: float | None = None


def _tiny(text: str, goal: float | None = None, **effort: object) -> Effort:
    return Effort(text, "tiny_cases", goal=goal, **effort)  # type: ignore[arg-type]


def _kernel(text: str, goal: float | None = 1.0) -> Effort:
    return Effort(text, "kernel_cases", seconds=0.1, pairs=11, goal=goal)


def _moving(text: str) -> Effort:
    return Effort(text, "moving_cases", seconds=0.1, pairs=11, goal=1.0)


def _reduction(text: str) -> Effort:
    return Effort(text, "reduction_cases", seconds=0.1, pairs=7, goal=1.0)


def _element(text: str) -> Effort:
    return Effort(text, "element_cases", seconds=0.1, pairs=7, goal=1.0)


def _brain(text: str) -> Effort:
    return Effort(text, "brain_cases", seconds=0.1, pairs=11, goal=1.0)


def _layer(text: str) -> Effort:
    return Effort(text, "layer_cases", seconds=0.1, pairs=11, goal=1.0)


def _image(text: str) -> Effort:
    return Effort(text, "image_cases", seconds=0.1, pairs=7, goal=1.0)


def _recurrent(text: str, goal: float | None = 1.0) -> Effort:
    return Effort(text, "recurrent_cases", seconds=0.1, pairs=7, goal=goal)


def _optimizer(text: str, goal: float | None = 1.0) -> Effort:
    return Effort(text, "optimizer_cases", seconds=0.1, pairs=7, goal=goal)


def _model(text: str, goal: float | None = None) -> Effort:
    return Effort(text, "model_cases", seconds=0.0, pairs=5, goal=goal)


def _net(text: str, goal: float | None = 1.0, seconds: float = 0.0) -> Effort:
    return Effort(text, "net_cases", seconds=seconds, pairs=7, goal=goal)


def _user(text: str, goal: float | None = 1.0) -> Effort:
    return Effort(text, "user_cases", seconds=0.1, pairs=7, goal=goal)


def _small_program(text: str) -> Effort:
    return Effort(text, "small_program_cases", seconds=0.1, pairs=7, goal=1.0)


def _everyday(text: str) -> Effort:
    return Effort(text, "everyday_cases", seconds=0.1, pairs=7, goal=1.0)


_TINY = {
    "add": _tiny("add of two 16-element tensors", 0.2),
    "add_grad": _tiny("add of two 16-element tensors, recording for backward", 0.3),
    "add_number": _tiny("a.add(2.0) of 16 elements", 0.4),
    "select": _tiny("a[1] of 16 elements", 0.4),
    "view": _tiny("a.view(4, 4) of 16 elements", 0.4),
    "total": _tiny("a.sum() of 16 elements", 0.4),
    "chain": _tiny("chain of 100 pointwise ops, forward and backward", 0.25),
    "read": _tiny("float(t), t.item(), bool(t) and t.tolist() of one element", 0.5),
    "subscript": _tiny("m[1, 2], m[:, 1], m[..., 0], m[None] and m[1:3] of 4 × 4", 0.5),
    "assign": _tiny("m[1] = 1., m[0, 1] = 1., m[:, 1] = row of 4 × 4", 1.0),
    "convert": _tiny("m.float(), m.cpu(), m.double() of 4 × 4", 1.0),
    "reshape": _tiny("m.flatten(), m.reshape(-1), m.T and m.view_as(n) of 4 × 4", 0.8),
    "make": _tiny("torch.tensor of a number, of a list and of a list of lists", 1.0),
    "no_grad": _tiny("no_grad and inference_mode, entered and left", 1.0),
    "pipeline_tiny": _tiny(
        "100 tiny ops in a pipeline, against ours without one", seconds=0.3, against="pipeline_tiny_eager"
    ),
}

_KERNELS = {
    "gelu": _kernel("gelu (erf), 512 × 3072"),
    "gelu_tanh": _kernel("gelu (tanh), 512 × 3072"),
    "gelu_backward": _kernel("gelu (erf) backward, 512 × 3072"),
    "exp": _kernel("exp, 512 × 3072"),
    "tanh": _kernel("tanh, 512 × 3072"),
    "softmax": _kernel("softmax, 6144 × 128"),
    "softmax_backward": _kernel("softmax backward, 6144 × 128"),
    "layer_norm": _kernel("layer_norm, 512 × 768"),
    "layer_norm_backward": _kernel("layer_norm backward, 512 × 768"),
    "dropout": _kernel("dropout, 512 × 3072"),
    "cross_entropy": _kernel("cross_entropy, 128 × 30522"),
    "cross_entropy_backward": _kernel("cross_entropy forward and backward, 128 × 30522"),
    "sum_last": _kernel("sum(-1), 6144 × 128"),
    "sum_first": _kernel("sum(0), 512 × 3072"),
    "embedding_backward": _kernel("embedding backward, 256 rows into 30522 × 768"),
    "add_many": _kernel("add, 512 × 3072"),
    "add_bias": _kernel("add of a bias, 512 × 3072"),
    "linear_512_768_768": _kernel("linear 512 × 768 by 768"),
    "linear_512_768_3072": _kernel("linear 512 × 768 by 3072"),
    "linear_512_3072_768": _kernel("linear 512 × 3072 by 768"),
    "linear_64_784_256": _kernel("linear 64 × 784 by 256"),
    "linear_4_768_3072": _kernel("linear 4 × 768 by 3072"),
    "linear_1_768_3072": _kernel("linear 1 × 768 by 3072"),
    "linear_1_768_50257": _kernel("linear 1 × 768 by 50257"),
    "matmul_1024": _kernel("matmul 1024 × 1024 by 1024"),
    "bmm": _kernel("bmm 48 × (128 × 64 by 128)"),
    "attention_128": _kernel("attention forward, 4 × 12 × 128 × 64"),
    "attention_1024": _kernel("attention forward, 1 × 12 × 1024 × 64"),
    "attention_causal": _kernel("causal attention forward, 1 × 12 × 1024 × 64"),
    "attention_decode": _kernel("attention of one query to 512 keys, 12 heads"),
    "attention_backward": _kernel("attention forward and backward, 4 × 12 × 128 × 64"),
}

_MOVING = {
    "uniform": _moving("uniform_, 1024 × 1024"),
    "normal": _moving("normal_, 1024 × 1024"),
    "randint": _moving("randint, 1024 × 1024"),
    "randperm": _moving("randperm of 100,000"),
    "transpose": _moving("contiguous of a transposed 1024 × 1024"),
    "heads": _moving("contiguous of 4 × 12 × 128 × 64, heads split"),
    "channels_last": _moving("channels_last of 32 × 64 × 28 × 28"),
    "to_bfloat16": _moving("float32 to bfloat16, 1024 × 1024"),
    "to_float16": _moving("float32 to float16, 1024 × 1024"),
    "fill": _moving("fill_, 1024 × 1024"),
    "cat": _moving("cat of two 512 × 768, last dimension"),
    "pad": _moving("pad of 32 × 64 × 28 × 28 by one"),
    "triangle": _moving("tril, 1024 × 1024"),
    "rows": _moving("x[i], 1024 rows of 30522 × 768"),
    "put_rows": _moving("index_put_ accumulating 1024 rows into 30522 × 768"),
    "masked": _moving("x[mask], 1024 × 1024"),
    "gather": _moving("gather, 1024 × 1024"),
    "scatter_add": _moving("scatter_add_, 1024 × 1024"),
    "embedding": _moving("embedding, 512 rows of 30522 × 768"),
    "bags": _moving("embedding_bag, 256 means of 16 rows of 64"),
    "topk": _moving("topk(50) of 4 × 50257"),
    "nonzero": _moving("nonzero, 1024 × 1024"),
    "stack": _moving("stack of two 512 × 768, last dimension"),
    "split_and_cat": _moving("split of 512 × 768 in four, and cat"),
    "repeat": _moving("repeat(4, 2) of 256 × 512"),
    "roll": _moving("roll(3, -1), 1024 × 1024"),
    "flip": _moving("flip(-1), 1024 × 1024"),
    "index_select_columns": _moving("index_select of 512 columns of 512 × 1024"),
    "index_add": _moving("index_add_ of 512 rows to 4096 × 768"),
    "one_hot": _moving("one_hot of 2048 numbers, 128 classes"),
    "scatter_greatest": _moving("scatter_reduce, amax, 1024 × 1024"),
    "index_copy_columns": _moving("index_copy of 1024 columns, 1024 × 1024"),
    "index_reduce": _moving("index_reduce, amax, of 1024 rows to 1024 × 1024"),
    "triangle_places": _moving("triu_indices, 1024 × 1024"),
}

_REDUCTIONS = {
    "mean_last": _reduction("mean(-1), 6144 × 128"),
    "amax_last": _reduction("amax(-1), 6144 × 128"),
    "max_last": _reduction("max(-1), 6144 × 128"),
    "argmax_last": _reduction("argmax(-1), 6144 × 128"),
    "var_last": _reduction("var(-1), 6144 × 128"),
    "norm_last": _reduction("norm(dim=-1), 6144 × 128"),
    "sum_whole_numbers": _reduction("sum(-1) of int64, 6144 × 128"),
    "cumsum": _reduction("cumsum(-1), 1024 × 1024"),
    "sort_rows": _reduction("sort(-1), 1024 × 256"),
    "sort_whole_numbers": _reduction("sort of 262,144 int64"),
    "unique": _reduction("unique of 262,144 int64"),
    "median": _reduction("median(-1), 1024 × 256"),
    "bincount": _reduction("bincount of 262,144 numbers"),
    "cummax": _reduction("cummax(-1), 1024 × 1024"),
    "cumsum_whole_numbers": _reduction("cumsum(-1) of int64, 1024 × 1024"),
    "kthvalue": _reduction("kthvalue of 1,048,576"),
    "nansum": _reduction("nansum(-1), 1024 × 1024"),
    "distances": _reduction("cdist of 1024 × 64 and 1024 × 64"),
}

_ELEMENTS = {
    "add_transposed": _element("add of a transposed 1024 × 1024"),
    "add_every_other": _element("add of every other column, 1024 × 512"),
    "add_column": _element("add of a column, 512 × 3072"),
    "outer": _element("a column by a row, 1024 × 1024"),
    "where": _element("where, 1024 × 1024"),
    "masked_fill": _element("masked_fill of 4 × 12 × 128 × 128 by keys"),
    "clamp": _element("clamp, 1024 × 1024"),
    "compare": _element("a > b, 1024 × 1024"),
    "remainder": _element("x % 3, 1024 × 512"),
    "nan_to_num": _element("nan_to_num, 1024 × 1024"),
    "add_whole_numbers": _element("add of int64, 1024 × 512"),
    "shift": _element("x << 2 of int64, 1024 × 512"),
    "add_double": _element("add of float64, 512 × 1024"),
    "exp_double": _element("exp of float64, 512 × 1024"),
    "sin_double": _element("sin of float64, 512 × 1024"),
    "erf_double": _element("erf of float64, 512 × 1024"),
    "sigmoid_double": _element("sigmoid of float64, 512 × 1024"),
    "special_functions": _element("erfc, erfinv, logit, hypot, elu and leaky_relu, 1024 × 1024"),
    "linspace": _element("linspace of 524,288"),
    "add_bfloat16": _element("add of bfloat16, 1024 × 1024"),
    "add_float16": _element("add of float16, 1024 × 1024"),
    "clamp_float16": _element("clamp of float16, 1024 × 1024"),
    "sin_float16": _element("sin of float16, 1024 × 1024"),
}

_BFLOAT16 = {
    "brain_add_bias": _brain("bfloat16: add of a bias, 512 × 3072"),
    "brain_scale": _brain("bfloat16: times a number, 512 × 3072"),
    "brain_relu": _brain("bfloat16: relu, 512 × 3072"),
    "brain_gelu": _brain("bfloat16: gelu (erf), 512 × 3072"),
    "brain_linear": _brain("bfloat16: linear 512 × 768 by 3072"),
    "brain_linear_one": _brain("bfloat16: linear 1 × 768 by 3072"),
    "brain_bmm": _brain("bfloat16: bmm 48 × (128 × 64 by 128)"),
    "brain_layer_norm": _brain("bfloat16: layer_norm, 512 × 768"),
    "brain_softmax": _brain("bfloat16: softmax, 6144 × 128"),
    "brain_sum": _brain("bfloat16: sum(-1), 6144 × 128"),
}

_LAYERS = {
    "conv_first": _layer("convolution 7 × 7, stride 2, of 4 × 3 × 224 × 224 to 64"),
    "conv_three": _layer("convolution 3 × 3 of 8 × 64 × 56 × 56"),
    "conv_three_train": _layer("convolution 3 × 3 of 8 × 64 × 56 × 56, forward and backward"),
    "conv_down": _layer("convolution 3 × 3, stride 2, of 8 × 64 × 56 × 56 to 128"),
    "conv_down_train": _layer("convolution 3 × 3, stride 2, of 8 × 64 × 56 × 56 to 128, forward and backward"),
    "conv_depthwise": _layer("depthwise convolution 3 × 3 of 8 × 128 × 56 × 56"),
    "conv_depthwise_small": _layer("depthwise convolution 3 × 3 of 8 × 256 × 14 × 14"),
    "conv_depthwise_seven": _layer("depthwise convolution 7 × 7 of 4 × 96 × 56 × 56"),
    "conv_patches": _layer("convolution 16 × 16, stride 16, of 4 × 3 × 224 × 224 to 768"),
    "gated_train": _layer("glu, 512 × 3072, forward and backward"),
    "rms_norm_train": _layer("rms_norm, 512 × 768, forward and backward"),
    "l1_loss_train": _layer("l1_loss, 512 × 3072, forward and backward"),
}

_IMAGES = {
    "resize_nearest": _image("nearest, 4 × 32 × 56 × 56 to 112 × 112"),
    "resize_bilinear": _image("bilinear, 4 × 32 × 56 × 56 to 112 × 112"),
    "resize_bilinear_train": _image("bilinear, 4 × 32 × 56 × 56 to 112 × 112, forward and backward"),
    "resize_bicubic": _image("bicubic, 4 × 32 × 56 × 56 to 112 × 112"),
    "resize_antialiased": _image("bilinear, antialiased, 4 × 3 × 256 × 256 to 112 × 112"),
    "grid_sample": _image("grid_sample of 4 × 32 × 56 × 56"),
    "grid_sample_train": _image("grid_sample of 4 × 32 × 56 × 56, forward and backward"),
    "max_pool": _image("max_pool2d(2) of 8 × 64 × 56 × 56"),
    "max_pool_train": _image("max_pool2d(3, 2, 1) of 8 × 64 × 56 × 56, forward and backward"),
    "max_pool_volumes": _image("max_pool3d(2) of 2 × 16 × 32 × 32 × 32"),
    "adaptive_mean": _image("adaptive_avg_pool2d(7) of 16 × 256 × 14 × 14"),
    "adaptive_largest": _image("adaptive_max_pool2d(7) of 16 × 256 × 14 × 14"),
    "conv_volumes": _image("convolution 3 × 3 × 3 of 2 × 16 × 16 × 16 × 16 to 32"),
    "conv_volumes_train": _image("convolution 3 × 3 × 3 of 2 × 16 × 16 × 16 × 16 to 32, forward and backward"),
    "conv_transposed": _image("transposed convolution 4 × 4, stride 2, of 8 × 64 × 28 × 28 to 32"),
    "conv_transposed_train": _image(
        "transposed convolution 4 × 4, stride 2, of 8 × 64 × 28 × 28 to 32, forward and backward"
    ),
    "product_of_int64": _image("matmul of int64, 128 × 128 by 128"),
    "dot": _image("dot of 100,000"),
    "outer_products": _image("64 columns by rows, 128 × 128 each"),
    "attention_eighty": _image("attention forward, 2 × 16 × 128 × 80"),
}

_RECURRENT = {
    "lstm": _recurrent("LSTM 128 to 256, 50 steps of 32"),
    "lstm_train": _recurrent("LSTM 128 to 256, 50 steps of 32, forward and backward"),
    "lstm_alone": _recurrent("LSTM 32 to 64, 20 steps of one"),
    "lstm_alone_train": _recurrent("LSTM 32 to 64, 20 steps of one, forward and backward"),
    "lstm_both_train": _recurrent("LSTM 64 to 128 in both directions, 30 steps of 8, forward and backward"),
    "gru": _recurrent("GRU 128 to 256, 50 steps of 32", 0.7),
    "gru_train": _recurrent("GRU 128 to 256, 50 steps of 32, forward and backward", 0.7),
    "gru_alone_train": _recurrent("GRU 32 to 64, 20 steps of one, forward and backward"),
    "rnn_train": _recurrent("RNN 128 to 256, 50 steps of 32, forward and backward"),
    "lstm_cell": _recurrent("LSTM cell of 64, batch 8"),
    "gru_cell": _recurrent("GRU cell of 64, batch 8"),
    "lstm_words": _recurrent("LSTM language model, 2 layers of 200, 35 words of 20 texts, SGD step", 0.8),
    "gru_words": _recurrent("GRU language model, 2 layers of 200, 35 words of 20 texts, SGD step", 0.8),
}

_OPTIMIZERS = {
    "adam": _optimizer("Adam, default, 10M parameters"),
    "adam_fused": _optimizer("Adam, fused, 10M parameters"),
    "adamw": _optimizer("AdamW, default, 10M parameters"),
    "adamw_foreach": _optimizer("AdamW, foreach, 10M parameters"),
    "adamw_fused": _optimizer("AdamW, fused, 10M parameters"),
    "sgd": _optimizer("SGD with momentum, default, 10M parameters"),
    "sgd_fused": _optimizer("SGD with momentum, fused, 10M parameters"),
    "adagrad_fused": _optimizer("Adagrad, fused, 10M parameters"),
    "clip_gradients": _optimizer("clip_grad_norm_, 10M parameters"),
    "zero_gradients": _optimizer("zero_grad(set_to_none=False), 10M parameters"),
}

_PROGRAMS = {
    "pipeline_fused": Effort("20 pointwise ops on 4M floats, in a fusing pipeline", seconds=0.3, pairs=9),
    "mlp": Effort("MLP 784-256-256-10, batch 64, Adam step", seconds=0.3, pairs=9, goal=0.5),
    "bert_forward": _model("BERT-base forward, batch 4 × 128", 0.97),
    "bert_pipeline": _model("BERT-base forward, batch 4 × 128, in a fusing pipeline", 0.9),
    "bert_train": _model("BERT-base training step, batch 2 × 128, dropout, AdamW", 0.75),
    "bert_train_fused": _model("BERT-base training step, batch 2 × 128, dropout, fused AdamW", 0.95),
    "gpt2_decode": _model("GPT-2-small greedy decoding of 32 tokens, KV cache", 0.8),
}

_NETS = {
    "resnet_train": _net("ResNet-18 training step, batch 4 of 224 × 224, SGD with momentum", 0.85),
    "resnet_forward": _net("ResNet-18 forward, batch 4 of 224 × 224"),
    "sample_gradients": _net("gradients of 64 samples by vmap, MLP 32-64-10", 0.6, seconds=0.2),
    "hessian": _net("hessian of a function of 16 numbers", seconds=0.2),
    "jvp": _net("jvp of MLP 32-64-10, 64 samples", seconds=0.2),
}

_USERS = {
    "graph_train": _user("graph net of two layers, 2,000 nodes and 20,000 edges, AdamW step"),
    "agent_act": _user("agent of reinforcement learning, choice for one observation"),
    "agent_train": _user("agent of reinforcement learning, clipped policy step on 256 choices, AdamW"),
    "diffusion_train": _user("diffusion, small U-Net on 16 images of 32 × 32, AdamW step"),
    "experts_train": _user("mixture of experts, 512 tokens to 2 of 8 nets, AdamW step"),
    "long_text": _user("transformer of two layers, causal, forward of 2,048 tokens"),
    "sound_train": _user("sound, spectrograms of 8 × 16,000 samples and convolutions, AdamW step"),
    "mobile_train": _user("separable convolutions, batch 8 of 96 × 96, AdamW step"),
    "mobile_forward": _user("separable convolutions, forward of one image of 96 × 96"),
    "quantised_train": _user("perceptron trained with weights and activations of eight bits, AdamW step"),
}

_EVERYDAY = {
    "text_convolutions": _everyday("text by convolutions of three widths, 16 × 40 words, forward and backward"),
    "speech_loss": _everyday("ctc_loss of 8 × 50 steps and 15 labels, forward and backward"),
    "segmentation_loss": _everyday("cross_entropy of 4 × 10 × 32 × 32, forward and backward"),
    "bags_train": _everyday("EmbeddingBag, 100 sums of 20 rows of 20,000 × 64, forward and backward"),
    "weighted_bags_train": _everyday("EmbeddingBag, 100 weighted sums of 20 rows, forward and backward"),
    "rotations": _everyday("1000 products of 3 × 3 by 3 × 3"),
    "rotated_points": _everyday("1000 products of 3 × 3 by 3"),
    "small_inverses": _everyday("inverses of 100 matrices of 4 × 4"),
    "small_determinants": _everyday("determinants of 100 matrices of 3 × 3"),
    "quasi_newton": _everyday("LBFGS, ten iterations on 50 numbers"),
    "replay_batch": _everyday("batch of 64 transitions, tuples to tensors"),
    "array_batches": _everyday("DataLoader without workers, 512 arrays in batches of 32"),
    "convolution_channels_last": _everyday("convolution 3 × 3 of 8 × 64 × 28 × 28, channels last"),
    "convolution_groups_train": _everyday("convolution 3 × 3 in 4 groups of 8 × 64 × 28 × 28, forward and backward"),
    "group_norm_train": _everyday("group_norm of 8 × 64 × 28 × 28, forward and backward"),
    "prelu_train": _everyday("prelu of 8 × 64 × 28 × 28, forward and backward"),
    "floor_divide": _everyday("x // 0.3, 1000 × 1000"),
    "spectra": _everyday("rfft of 64 × 1024"),
    "short_spectrum": _everyday("fft of 64"),
    "sparse_rows": _everyday("CSR matrix of 10,000 of 1000 × 1000, times 1000 × 32"),
}

_SMALL_PROGRAMS = {
    "log_mel": _small_program("log-mel spectrograms of 4 × 16,000 samples"),
    "denoise_spectrum": _small_program("rfft2, mask and irfft2 of 8 × 64 × 64"),
    "quantised_encoder": _small_program("two dynamically quantised layers, 32 × 256 by 1024"),
    "photograph_channels_last": _small_program("separable net, channels last, forward of 4 images of 96 × 96"),
    "whiten": _small_program("principal axes of 512 × 32: covariance, eigh, product"),
    "poses": _small_program("rigid motions of 64 sets of 20 points, by svd"),
    "meta_step": _small_program("gradient through a gradient step, 32 × 10 by 10"),
    "curvature": _small_program("torch.func.hessian of a function of 20 numbers"),
    "sample_words": _small_program("16 words drawn from the best 50 of 32,000, with a penalty"),
    "boxes": _small_program("overlaps of 300 boxes with 100, and the best"),
    "pulses_1d": _small_program("1-d convolutions and pooling, 8 × 2,000 samples, AdamW step"),
    "windows_of_series": _small_program("dilated causal 1-d net, forward of 16 × 256 steps"),
    "qr_of_batch": _small_program("qr of 100 matrices of 4 × 4"),
    "eigenvalues_of_batch": _small_program("eigvalsh of 100 matrices of 4 × 4"),
    "pool_channels_last": _small_program("max pooling 2 × 2 of 8 × 64 × 28 × 28, channels last"),
    "norm_channels_last": _small_program("batch norm of 8 × 64 × 28 × 28, channels last, in evaluation"),
    "pointwise_channels_last": _small_program("convolution 1 × 1 of 8 × 64 × 28 × 28, channels last"),
    "columns_spectrum": _small_program("fft of 256 × 256 along the first dimension"),
    "log_of_sums": _small_program("logaddexp of 64 × 512"),
}

GROUPS = {
    "tiny": _TINY,
    "kernels": _KERNELS,
    "moving": _MOVING,
    "reductions": _REDUCTIONS,
    "elements": _ELEMENTS,
    "bfloat16": _BFLOAT16,
    "layers": _LAYERS,
    "images": _IMAGES,
    "recurrent": _RECURRENT,
    "nets": _NETS,
    "users": _USERS,
    "everyday": _EVERYDAY,
    "small_programs": _SMALL_PROGRAMS,
    "optimizers": _OPTIMIZERS,
    "programs": _PROGRAMS,
}
CASES = {name: effort for group in GROUPS.values() for name, effort in group.items()}

_PEAKS = [*_USERS, *_NETS, "lstm_words", "gru_words"]
# Of these the peak memory is measured, in fresh processes: the measurement's name is that of the case and `_memory`.
MEMORY = {f"{name}_memory": name for name in _PEAKS} | {"bert_memory": "bert_train"}
GROUPS["memory"] = {name: CASES[case] for name, case in MEMORY.items()}
