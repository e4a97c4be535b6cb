"""The operations of `torch._refs`, by family."""

REFS = """
abs acos acosh asinh asin atan atanh bitwise_not ceil conj_physical cos cosh count_nonzero deg2rad digamma erf erfinv erfc
exp expm1 exponential exp2 fill fill_ floor frac geometric index_add index_copy index_copy_ index_select index_fill
index_fill_ isfinite isinf isposinf isneginf isnan isreal i0 lerp lgamma log log1p log2 log10 log_normal log_softmax
mvlgamma norm normal normal_ nan_to_num neg positive rad2deg reciprocal round sigmoid sgn sign signbit sin sinc sinh softmax
sqrt square tan tanh trace trunc add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor
clamp_min clamp_max copysign div eq float_power floor_divide fmax fmin fmod gcd ge gt heaviside hypot igamma igammac imag
isclose lcm le logaddexp logaddexp2 logical_and logical_not logical_or logical_xor logsumexp lt maximum minimum mul ne
nextafter pow real remainder rsub sub true_divide xlogy addcdiv addcmul clamp masked_fill masked_fill_ where clone item to
all amax amin any cumsum cumprod mean dot vdot std std_mean sum sum_to_size prod var var_mean addr alias_copy atleast_1d
atleast_2d atleast_3d as_strided as_strided_copy as_strided_scatter block_diag broadcast_shapes broadcast_tensors
broadcast_to cat chunk column_stack conj constant_pad_nd contiguous diag_embed diag diagonal diagonal_copy
diagonal_scatter dsplit dstack expand expand_as expand_copy flatten flip fliplr flipud hsplit hstack meshgrid movedim narrow
narrow_copy native_group_norm native_layer_norm permute permute_copy ravel repeat reshape reshape_as roll rot90 rsqrt
split_with_sizes stack squeeze squeeze_copy t t_copy T take_along_dim tensor_split transpose
transpose_copy unbind_copy unfold unfold_copy unsqueeze unsqueeze_copy view view_as view_copy vsplit vstack view_as_complex
unflatten unbind triu tril triu_indices tril_indices arange cauchy empty empty_like empty_permuted empty_strided eye full
full_like linspace logspace new_empty new_empty_strided new_full new_ones new_zeros ones ones_like randn scalar_tensor zero
zeros zeros_like allclose equal bucketize is_complex renorm stft istft frexp select_scatter
""".split()

IN_PLACE = """
abs acos acosh add addcmul addcdiv asin asinh atan atanh atan2 bitwise_and bitwise_left_shift bitwise_not bitwise_or
bitwise_right_shift bitwise_xor ceil clamp clamp_min clamp_max conj_physical copysign cos cosh cumsum cumprod deg2rad digamma
div eq erf erfc erfinv exp exp2 expm1 float_power floor floor_divide fmod frac gcd ge gt heaviside hypot igamma igammac i0
lcm le lerp lgamma log10 log1p log2 log logical_and logical_not logical_or logical_xor lt mul mvlgamma nan_to_num ne neg
nextafter pow rad2deg reciprocal remainder rsqrt sgn sigmoid sign sin sinc sinh sqrt square sub tan tanh tril triu
true_divide trunc xlogy cauchy exponential geometric log_normal zero
""".split()

LINALG = "diagonal matrix_norm norm svd svdvals vector_norm vecdot cross".split()

SPECIAL = """
bessel_j0 bessel_j1 entr erfcx expit i0e i1 i1e log_ndtr logit log_softmax multigammaln ndtr ndtri softmax
spherical_bessel_j0 xlog1py zeta
""".split()

FFT = """
fft fft2 fftn hfft hfft2 hfftn rfft rfft2 rfftn ifft ifft2 ifftn ihfft ihfft2 ihfftn irfft irfft2 irfftn fftshift ifftshift
""".split()

FUNCTIONAL = """
alpha_dropout celu celu_ channel_shuffle dropout elu elu_ gelu glu group_norm hardshrink hardtanh hinge_embedding_loss
huber_loss l1_loss layer_norm leaky_relu log_softmax margin_ranking_loss mish mish_ mse_loss nll_loss pairwise_distance pdist
poisson_nll_loss prelu relu relu6 selu selu_ smooth_l1_loss softmax softmin softplus softshrink tanhshrink threshold
threshold_ triplet_margin_loss pixel_shuffle pixel_unshuffle hardsigmoid
""".split()

CONVERSIONS = "bfloat16 bool byte cdouble cfloat chalf char double float half int long short complex polar".split()
