"""What stands among concrete arguments for inputs."""


class PHBase:
    """Stands among concrete arguments for what stays an input."""

    def __repr__(self) -> str:
        return "PH"


class PHWithMeta(PHBase):
    """As `PH`, with a key; its attributes become the proxy's and the node's meta."""

    def __init__(self, ph_key: str | None = None) -> None:
        super().__init__()
        self.ph_key = ph_key


PH = PHBase()


for _kind in (PHBase, PHWithMeta):
    _kind.__module__ = "torch.fx._symbolic_trace"
