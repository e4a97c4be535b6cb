"""segment-anything: a small model of random weights masks an image for points and boxes, and for its own masks."""

import json
from functools import partial

import numpy as np
import torch
from segment_anything import SamPredictor
from segment_anything.modeling import ImageEncoderViT, MaskDecoder, PromptEncoder, Sam, TwoWayTransformer


def model():
    """Return the three parts put together."""
    encoder = ImageEncoderViT(
        depth=2, embed_dim=32, img_size=64, mlp_ratio=2, norm_layer=partial(torch.nn.LayerNorm, eps=1e-6), num_heads=2,
        patch_size=8, qkv_bias=True, use_rel_pos=True, global_attn_indexes=[1], window_size=3, out_chans=16,
    )  # fmt: skip
    prompts = PromptEncoder(embed_dim=16, image_embedding_size=(8, 8), input_image_size=(64, 64), mask_in_chans=4)
    decoder = MaskDecoder(
        num_multimask_outputs=3,
        transformer=TwoWayTransformer(depth=2, embedding_dim=16, mlp_dim=32, num_heads=2),
        transformer_dim=16,
        iou_head_depth=3,
        iou_head_hidden_dim=16,
    )
    return Sam(image_encoder=encoder, prompt_encoder=prompts, mask_decoder=decoder).eval()


def main():
    torch.manual_seed(0)
    image = np.random.RandomState(0).randint(0, 255, (48, 64, 3), dtype=np.uint8)
    sam = model()
    predictor = SamPredictor(sam)
    predictor.set_image(image)
    masks, scores, low = predictor.predict(
        point_coords=np.array([[10, 12.0]]), point_labels=np.array([1]), box=np.array([3, 3, 40, 40.0])
    )
    found = {"scores": scores.tolist(), "areas": masks.sum((1, 2)).tolist(), "low": low[0].flatten()[:50].tolist()}
    _, scores, low = predictor.predict(
        point_coords=np.array([[30, 20.0], [50, 40.0]]), point_labels=np.array([1, 0]), mask_input=low[:1]
    )
    found["again"] = [*scores.tolist(), *low[1].flatten()[:50].tolist()]
    print(json.dumps(found))


main()
