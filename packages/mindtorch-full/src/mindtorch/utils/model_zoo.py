"""The older home of `torch.hub`'s downloads."""

from mindtorch.hub import load_state_dict_from_url as load_url
from mindtorch.hub import tqdm

__all__ = ["load_url", "tqdm"]
