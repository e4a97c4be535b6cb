"""Trading channels for resolution."""

from ..meta import shuffle as rules
from ..table import op

op("pixel_shuffle(Tensor self, int upscale_factor) -> Tensor", rules.pixel_shuffle, variants="function")
op("pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor", rules.pixel_unshuffle, variants="function")
op("channel_shuffle(Tensor self, SymInt groups) -> Tensor", rules.channel_shuffle, variants="function")
op("native_channel_shuffle(Tensor self, SymInt groups) -> Tensor", rules.channel_shuffle, variants="function")
