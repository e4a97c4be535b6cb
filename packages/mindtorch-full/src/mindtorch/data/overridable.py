"""The functions that `__torch_function__` sees in torch, by the namespace that users find them in."""

OVERRIDABLE = {
    "": """
_sym_sqrt abs absolute acos acosh adaptive_avg_pool1d adaptive_max_pool1d add addbmm addcdiv addcmul addmm addmv addr
adjoint affine_grid_generator alias_copy all allclose alpha_dropout amax amin aminmax angle any arccos arccosh arcsin
arcsinh arctan arctan2 arctanh argmax argmin argsort argwhere as_strided_copy as_strided_scatter asin asinh atan atan2
atanh atleast_1d atleast_2d atleast_3d avg_pool1d baddbmm batch_norm batch_norm_backward_elemt
batch_norm_backward_reduce batch_norm_elemt batch_norm_gather_stats batch_norm_gather_stats_with_counts
batch_norm_stats batch_norm_update_stats bernoulli bilinear binary_cross_entropy_with_logits bincount binomial
bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor block_diag bmm broadcast_tensors
broadcast_to bucketize cartesian_prod cat ccol_indices_copy cdist ceil celu chain_matmul channel_shuffle cholesky
cholesky_inverse cholesky_solve choose_qparams_optimized chunk clamp clamp_max clamp_min clip clone col_indices_copy
column_stack combinations complex concat concatenate conj conj_physical constant_pad_nd conv1d conv2d conv3d conv_tbc
conv_transpose1d conv_transpose2d conv_transpose3d convolution copysign corrcoef cos cosh cosine_embedding_loss
cosine_similarity count_nonzero cov cross crow_indices_copy ctc_loss cummax cummin cumprod cumsum cumulative_trapezoid
deg2rad dequantize det detach detach_copy diag diag_embed diagflat diagonal diagonal_copy diagonal_scatter diff
digamma dist div divide dot dropout dsmm dsplit dstack einsum embedding embedding_bag empty_like eq equal erf erfc
erfinv exp exp2 expand_copy expm1 fake_quantize_per_channel_affine fake_quantize_per_tensor_affine
fbgemm_linear_fp16_weight fbgemm_linear_fp16_weight_fp32_activation fbgemm_linear_int8_weight
fbgemm_linear_int8_weight_fp32_activation fbgemm_linear_quantize_weight fbgemm_pack_gemm_matrix_fp16
fbgemm_pack_quantized_matrix feature_alpha_dropout feature_dropout fix flatten flip fliplr flipud float_power floor
floor_divide fmax fmin fmod frac frexp frobenius_norm full_like fused_moving_avg_obs_fake_quant gather gcd ge geqrf
ger get_device gradient greater greater_equal grid_sampler grid_sampler_2d grid_sampler_3d group_norm gru gru_cell gt
hardshrink hash_tensor heaviside hinge_embedding_loss histc histogram histogramdd hsmm hsplit hstack hypot i0 igamma
igammac imag index_add index_copy index_fill index_put index_reduce index_select indices_copy inner instance_norm
int_repr inverse is_complex is_conj is_distributed is_floating_point is_inference is_neg is_nonzero is_same_size
is_signed isclose isfinite isin isinf isnan isneginf isposinf isreal istft kl_div kron kthvalue layer_norm lcm ldexp
le lerp less less_equal lgamma lobpcg log log10 log1p log2 log_softmax logaddexp logaddexp2 logcumsumexp logdet
logical_and logical_not logical_or logical_xor logit logsumexp lstm lstm_cell lt lu lu_solve lu_unpack
margin_ranking_loss masked_fill masked_scatter masked_select matmul matrix_exp matrix_power max max_pool1d
max_pool1d_with_indices max_pool2d max_pool3d maximum mean median meshgrid min minimum miopen_batch_norm
miopen_convolution miopen_convolution_add_relu miopen_convolution_relu miopen_convolution_transpose
miopen_depthwise_convolution miopen_rnn mode moveaxis movedim msort mul multinomial multiply mv mvlgamma nan_to_num
nanmean nanmedian nanquantile nansum narrow narrow_copy native_batch_norm native_channel_shuffle native_dropout
native_group_norm native_layer_norm native_norm ne neg negative nextafter nonzero nonzero_static norm norm_except_dim
not_equal nuclear_norm numel ones_like orgqr ormqr outer pairwise_distance pca_lowrank pdist permute permute_copy
pinverse pixel_shuffle pixel_unshuffle poisson poisson_nll_loss polar polygamma positive pow prelu prod put
q_per_channel_axis q_per_channel_scales q_per_channel_zero_points q_scale q_zero_point qr quantile
quantize_per_channel quantize_per_tensor quantize_per_tensor_dynamic quantized_batch_norm quantized_gru_cell
quantized_lstm_cell quantized_max_pool1d quantized_max_pool2d quantized_max_pool3d quantized_rnn_relu_cell
quantized_rnn_tanh_cell rad2deg ravel real reciprocal relu remainder renorm repeat_interleave reshape resolve_conj
resolve_neg rms_norm rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell roll rot90 round row_indices_copy row_stack rrelu
rsqrt rsub saddmm scatter scatter_add scatter_reduce searchsorted select select_copy select_scatter selu sgn sigmoid
sign signbit sin sinc sinh slice_copy slice_inverse slice_scatter slogdet smm softmax sort split split_copy
split_with_sizes split_with_sizes_copy sqrt square squeeze squeeze_copy stack std std_mean stft sub subtract sum svd
svd_lowrank swapaxes swapdims sym_float sym_int sym_ite sym_max sym_min sym_not sym_sum t t_copy take take_along_dim
tan tanh tensor_split tensordot threshold tile topk trace transpose transpose_copy trapezoid trapz triangular_solve
tril triplet_margin_loss triu true_divide trunc unbind unbind_copy unflatten unfold_copy unique unique_consecutive
unravel_index unsafe_chunk unsafe_split unsafe_split_with_sizes unsqueeze unsqueeze_copy values_copy var var_mean vdot
view_as_complex view_as_complex_copy view_as_real view_as_real_copy view_copy vsplit vstack where xlogy zeros_like
    """,
    "nn.functional": """
_threshold adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool1d_with_indices
adaptive_max_pool2d adaptive_max_pool2d_with_indices adaptive_max_pool3d adaptive_max_pool3d_with_indices affine_grid
alpha_dropout avg_pool2d avg_pool3d batch_norm binary_cross_entropy binary_cross_entropy_with_logits celu
cosine_embedding_loss cross_entropy ctc_loss dropout dropout1d dropout2d dropout3d elu embedding embedding_bag
feature_alpha_dropout fold fractional_max_pool2d fractional_max_pool2d_with_indices fractional_max_pool3d
fractional_max_pool3d_with_indices gaussian_nll_loss gelu glu grid_sample group_norm gumbel_softmax hardtanh
hinge_embedding_loss huber_loss instance_norm interpolate kl_div l1_loss layer_norm leaky_relu linear
linear_cross_entropy local_response_norm log_softmax logsigmoid lp_pool1d lp_pool2d lp_pool3d margin_ranking_loss
max_pool1d max_pool1d_with_indices max_pool2d max_pool2d_with_indices max_pool3d max_pool3d_with_indices max_unpool1d
max_unpool2d max_unpool3d mish mse_loss multi_head_attention_forward multi_margin_loss multilabel_margin_loss
multilabel_soft_margin_loss nll_loss normalize one_hot pad poisson_nll_loss relu relu6 rms_norm rrelu
scaled_dot_product_attention selu silu smooth_l1_loss soft_margin_loss softmax softmin softplus softshrink softsign
tanhshrink triplet_margin_loss triplet_margin_with_distance_loss unfold
    """,
    "linalg": """
cholesky cholesky_ex cond cross det diagonal eig eigh eigvals eigvalsh householder_product inv inv_ex ldl_factor
ldl_factor_ex ldl_solve lstsq lu lu_factor lu_factor_ex lu_solve matmul matrix_exp matrix_norm matrix_power
matrix_rank multi_dot norm pinv qr slogdet solve solve_ex solve_triangular svd svdvals tensorinv tensorsolve vander
vecdot vector_norm
    """,
    "fft": """
fft fft2 fftn fftshift hfft hfft2 hfftn ifft ifft2 ifftn ifftshift ihfft ihfft2 ihfftn irfft irfft2 irfftn rfft rfft2
rfftn
    """,
    "special": """
airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v
chebyshev_polynomial_w digamma entr erf erfc erfcx erfinv exp2 expit expm1 gammainc gammaincc gammaln
hermite_polynomial_h hermite_polynomial_he i0 i0e i1 i1e laguerre_polynomial_l legendre_polynomial_p log1p log_ndtr
log_softmax logit logsumexp modified_bessel_i0 modified_bessel_i1 modified_bessel_k0 modified_bessel_k1 multigammaln
ndtr ndtri polygamma psi round scaled_modified_bessel_k0 scaled_modified_bessel_k1 shifted_chebyshev_polynomial_t
shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v shifted_chebyshev_polynomial_w sinc softmax
spherical_bessel_j0 xlog1py xlogy zeta
    """,
    "Tensor": """
__add__ __and__ __array__ __array_wrap__ __bool__ __complex__ __contains__ __deepcopy__ __div__ __dlpack__
__dlpack_device__ __eq__ __float__ __floordiv__ __format__ __ge__ __getitem__ __gt__ __iadd__ __iand__ __ifloordiv__
__ilshift__ __imod__ __imul__ __index__ __int__ __invert__ __ior__ __ipow__ __irshift__ __isub__ __itruediv__ __ixor__
__le__ __len__ __long__ __lshift__ __lt__ __matmul__ __mod__ __mul__ __ne__ __nonzero__ __or__ __pow__ __radd__
__rand__ __reduce_ex__ __repr__ __reversed__ __rfloordiv__ __rlshift__ __rmatmul__ __rmod__ __rmul__ __ror__ __rpow__
__rrshift__ __rshift__ __rsub__ __rtruediv__ __rxor__ __setitem__ __setstate__ __sub__ __truediv__ __xor__
_autocast_to_full_precision _autocast_to_reduced_precision _clear_non_serializable_cached_data _coalesced_ _dimI _dimV
_indices _is_view _nested_tensor_size _nested_tensor_storage_offsets _nested_tensor_strides _nnz
_sparse_mask_projection _to_dense _values abs abs_ absolute absolute_ acos acos_ acosh acosh_ add add_ addbmm addbmm_
addcdiv addcdiv_ addcmul addcmul_ addmm addmm_ addmv addmv_ addr addr_ adjoint all allclose amax amin aminmax angle
any apply_ arccos arccos_ arccosh arccosh_ arcsin arcsin_ arcsinh arcsinh_ arctan arctan2 arctan2_ arctan_ arctanh
arctanh_ argmax argmin argsort argwhere as_strided as_strided_ as_strided_scatter asin asin_ asinh asinh_ atan atan2
atan2_ atan_ atanh atanh_ backward baddbmm baddbmm_ bernoulli bernoulli_ bfloat16 bincount bitwise_and bitwise_and_
bitwise_left_shift bitwise_left_shift_ bitwise_not bitwise_not_ bitwise_or bitwise_or_ bitwise_right_shift
bitwise_right_shift_ bitwise_xor bitwise_xor_ bmm bool broadcast_to byte cauchy_ ccol_indices cdouble ceil ceil_
cfloat chalf char cholesky cholesky_inverse cholesky_solve chunk clamp clamp_ clamp_max clamp_max_ clamp_min
clamp_min_ clip clip_ clone coalesce col_indices conj conj_physical conj_physical_ const_data_ptr contiguous copy_
copysign copysign_ corrcoef cos cos_ cosh cosh_ count_nonzero cov cpu cross crow_indices cuda cummax cummin cumprod
cumprod_ cumsum cumsum_ data_ptr deg2rad deg2rad_ dense_dim dequantize det detach detach_ diag diag_embed diagflat
diagonal diagonal_scatter diff digamma digamma_ dim dim_order dist div div_ divide divide_ dot double dsplit
element_size eq eq_ equal erf erf_ erfc erfc_ erfinv erfinv_ exp exp2 exp2_ exp_ expand expand_as expm1 expm1_
exponential_ fill_ fill_diagonal_ fix fix_ flatten flip fliplr flipud float float_power float_power_ floor floor_
floor_divide floor_divide_ fmax fmin fmod fmod_ frac frac_ frexp gather gcd gcd_ ge ge_ geometric_ geqrf ger
get_device greater greater_ greater_equal greater_equal_ gt gt_ half hardshrink hash_tensor heaviside heaviside_ histc
histogram hsplit hypot hypot_ i0 i0_ igamma igamma_ igammac igammac_ index index_add index_add_ index_copy index_copy_
index_fill index_fill_ index_put index_put_ index_reduce index_reduce_ index_select indices inner int int_repr inverse
ipu is_coalesced is_complex is_conj is_contiguous is_distributed is_floating_point is_inference is_neg is_nonzero
is_pinned is_same_size is_set_to is_shared is_signed isclose isfinite isinf isnan isneginf isposinf isreal istft item
kron kthvalue lcm lcm_ ldexp ldexp_ le le_ lerp lerp_ less less_ less_equal less_equal_ lgamma lgamma_ log log10
log10_ log1p log1p_ log2 log2_ log_ log_normal_ log_softmax logaddexp logaddexp2 logcumsumexp logdet logical_and
logical_and_ logical_not logical_not_ logical_or logical_or_ logical_xor logical_xor_ logit logit_ logsumexp long lt
lt_ lu lu_solve map2_ map_ masked_fill masked_fill_ masked_scatter masked_scatter_ masked_select matmul matrix_exp
matrix_power max maximum mean median min minimum mm mode module_load moveaxis movedim msort mtia mul mul_ multinomial
multiply multiply_ mv mvlgamma mvlgamma_ nan_to_num nan_to_num_ nanmean nanmedian nanquantile nansum narrow
narrow_copy ndimension ne ne_ neg neg_ negative negative_ nelement nextafter nextafter_ nonzero nonzero_static norm
normal_ not_equal not_equal_ numel numpy orgqr ormqr outer permute pin_memory pinverse polygamma polygamma_ positive
pow pow_ prelu prod put put_ q_per_channel_axis q_per_channel_scales q_per_channel_zero_points q_scale q_zero_point qr
qscheme quantile rad2deg rad2deg_ random_ ravel reciprocal reciprocal_ record_stream register_hook
register_post_accumulate_grad_hook relu relu_ remainder remainder_ renorm renorm_ repeat repeat_interleave
requires_grad_ reshape reshape_as resize resize_ resize_as resize_as_ resize_as_sparse_ resolve_conj resolve_neg
retain_grad roll rot90 round round_ row_indices rsqrt rsqrt_ scatter scatter_ scatter_add scatter_add_ scatter_reduce
scatter_reduce_ select select_scatter set_ sgn sgn_ share_memory_ short sigmoid sigmoid_ sign sign_ signbit sin sin_
sinc sinc_ sinh sinh_ size slice_inverse slice_scatter slogdet smm softmax sort sparse_dim sparse_mask sparse_resize_
sparse_resize_and_clear_ split split_with_sizes sqrt sqrt_ square square_ squeeze squeeze_ sspaddmm std stft storage
storage_offset storage_type sub sub_ subtract subtract_ sum sum_to_size svd swapaxes swapaxes_ swapdims swapdims_ t t_
take take_along_dim tan tan_ tanh tanh_ tensor_split tile to to_dense to_mkldnn to_sparse tolist topk trace transpose
transpose_ triangular_solve tril tril_ triu triu_ true_divide true_divide_ trunc trunc_ type type_as unbind unfold
uniform_ unique unique_consecutive unsafe_chunk unsafe_split unsafe_split_with_sizes unsqueeze unsqueeze_
untyped_storage values var vdot view view_as vsplit where xlogy xlogy_ xpu zero_
    """,
    "properties": """
H T __cuda_array_interface__ _backward_hooks _base _cdata _grad _grad_fn _post_accumulate_grad_hooks _version data
device dtype grad grad_dtype grad_fn imag is_cpu is_cuda is_ipu is_leaf is_maia is_meta is_mkldnn is_mps is_mtia
is_nested is_quantized is_sparse is_sparse_csr is_vulkan is_xla is_xpu itemsize layout mH mT name nbytes ndim
output_nr real requires_grad retains_grad shape volatile
    """,
}
"""Namespace below `torch` to names; `properties` are those of `Tensor`."""

ANSWERED = {
    "": """
_assert_async _conj_copy _functional_assert_async _fused_rms_norm _fw_primal_copy _indices_copy _make_dual_copy
_native_batch_norm_legit _neg_view_copy _reshape_alias_copy _rowwise_prune _sparse_broadcast_to_copy _sym_acos
_sym_asin _sym_atan _sym_cos _sym_cosh _sym_sin _sym_sinh _sym_tan _sym_tanh _values_copy _wrapped_linear_prepack
_wrapped_quantized_linear_prepacked segment_reduce
    """,
    "nn.init": """
constant_ kaiming_uniform_ normal_ uniform_
    """,
    "distributed.distributed_c10d": """
all_gather all_gather_coalesced all_gather_single all_reduce all_reduce_coalesced all_to_all all_to_all_single
broadcast gather irecv isend recv reduce reduce_scatter reduce_scatter_single scatter send
    """,
}
"""Functions that can be overridden too, and that are not listed as such: private ones and those of other modules."""
