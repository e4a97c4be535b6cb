"""Graph networks of PyTorch Geometric: twenty steps of a GCN, other layers, batches, pooling."""

import json

import torch
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GATConv, GCNConv, GINConv, SAGEConv, global_mean_pool
from torch_geometric.utils import add_self_loops, degree, to_dense_adj

torch.manual_seed(0)
edges = torch.randint(0, 10, (2, 30))
graph = Data(x=torch.randn(10, 4), edge_index=edges, y=torch.randint(0, 3, (10,)))
first, second = GCNConv(4, 8), GCNConv(8, 3)
optimizer = torch.optim.Adam([*first.parameters(), *second.parameters()], lr=1e-2)
losses = []
for _ in range(20):
    out = second(first(graph.x, graph.edge_index).relu(), graph.edge_index)
    loss = torch.nn.functional.cross_entropy(out, graph.y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
found = {
    "losses": losses,
    "dense": to_dense_adj(edges).tolist(),
    "degree": degree(add_self_loops(edges)[0][0]).tolist(),
}
batch = Batch.from_data_list([graph, graph])
for layer in (GATConv(4, 3, heads=2), SAGEConv(4, 6), GINConv(torch.nn.Linear(4, 6))):
    out = global_mean_pool(layer(batch.x, batch.edge_index), batch.batch)
    out.square().sum().backward()
    found[type(layer).__name__] = [out.tolist(), [one.grad.tolist() for one in layer.parameters()]]
print(json.dumps(found))
