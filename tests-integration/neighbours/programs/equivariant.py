"""e3nn: products of irreducible representations, whose results turn with what they are given."""

import json

import torch
from e3nn import nn, o3


def main():
    torch.manual_seed(4)
    kinds = o3.Irreps("4x0e + 2x1o + 1x2e")
    product = o3.FullyConnectedTensorProduct(kinds, o3.Irreps.spherical_harmonics(2), "3x0e + 2x1o")
    gate = nn.Gate("2x0e", [torch.tanh], "2x0e", [torch.sigmoid], "2x1o")
    linear = o3.Linear("3x0e + 2x1o", gate.irreps_in)

    def run(features, vectors):
        harmonics = o3.spherical_harmonics([0, 1, 2], vectors, normalize=True, normalization="component")
        return gate(linear(product(features, harmonics)))

    features, vectors = kinds.randn(5, -1), torch.randn(5, 3, requires_grad=True)
    made = run(features, vectors)
    made.square().sum().backward()
    turn = o3.rand_matrix()
    turned = run(features @ kinds.D_from_matrix(turn).T, vectors @ turn.T)
    expected = made @ gate.irreps_out.D_from_matrix(turn).T
    assert (turned - expected).abs().max() < 1e-4
    found = {"made": made.tolist(), "gradient": vectors.grad.tolist(), "wigner": o3.wigner_3j(1, 1, 2).tolist()}
    print(json.dumps({**found, "weights": [one.grad.norm().item() for one in product.parameters()]}))


main()
