"""Sequence models written with torch alone: recurrences, relative attention, experts, sampling, CTC and a chain of labels."""

import json

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_sequence, pad_packed_sequence


def relative_attention():
    """Segments with a memory of the last one; the scores of distances are moved into place as in Transformer-XL."""
    embedding, mix, along = nn.Embedding(20, 16), nn.Linear(16, 48, bias=False), nn.Linear(16, 16, bias=False)
    first, second = nn.Parameter(torch.randn(2, 8) * 0.02), nn.Parameter(torch.randn(2, 8) * 0.02)
    parameters = [first, second, *embedding.parameters(), *mix.parameters(), *along.parameters()]
    optimizer = torch.optim.Adam(parameters, 1e-2)
    slow = 1 / (10000 ** (torch.arange(0.0, 16, 2.0) / 16))
    memory, losses = torch.zeros(0, 2, 16), []
    for _ in range(4):
        tokens = torch.randint(0, 20, (6, 2))
        seen = torch.cat([memory, embedding(tokens)])
        length = len(seen)
        query, key, value = (one.view(length, 2, 2, 8) for one in mix(seen).chunk(3, -1))
        angle = torch.outer(torch.arange(length - 1, -1, -1.0), slow)
        distance = along(torch.cat([angle.sin(), angle.cos()], -1)).view(length, 2, 8)
        query = query[-6:]
        content = torch.einsum("ibnd,jbnd->ijbn", query + first, key)
        place = torch.einsum("ibnd,jnd->ijbn", query + second, distance)
        padded = torch.cat([place.new_zeros(6, 1, 2, 2), place], 1)
        place = padded.view(length + 1, 6, 2, 2)[1:].view_as(place)
        hidden = torch.ones(6, length, dtype=torch.bool).triu(1 + length - 6)
        scores = ((content + place) / 8**0.5).masked_fill(hidden[:, :, None, None], -torch.inf)
        out = torch.einsum("ijbn,jbnd->ibnd", scores.softmax(1), value).reshape(6, 2, 16) + seen[-6:]
        loss = F.cross_entropy((out @ embedding.weight.T).flatten(0, 1), tokens.roll(-1, 0).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        memory = seen[-6:].detach()
        losses.append(loss.item())
    return losses


def recurrences():
    """The recurrences of RWKV and of a selective state space, with gradients."""
    decay, bonus = torch.randn(4, requires_grad=True), torch.randn(4, requires_grad=True)
    key, value = torch.randn(7, 4, requires_grad=True), torch.randn(7, 4, requires_grad=True)
    above, below, largest, out = torch.zeros(4), torch.zeros(4), torch.full((4,), -1e38), []
    for now, given in zip(key, value, strict=True):
        top = torch.maximum(largest, bonus + now)
        old, new = (largest - top).exp(), (bonus + now - top).exp()
        out.append((old * above + new * given) / (old * below + new))
        top = torch.maximum(largest - decay.exp(), now)
        old, new = (largest - decay.exp() - top).exp(), (now - top).exp()
        above, below, largest = old * above + new * given, old * below + new, top
    torch.stack(out).pow(2).sum().backward()
    x, mixing = torch.randn(2, 6, 8), nn.Conv1d(8, 8, 4, groups=8, padding=3)
    x = F.silu(mixing(x.transpose(1, 2))[..., :6].transpose(1, 2))
    step, into, outof = F.softplus(torch.randn(2, 6, 8)), torch.randn(2, 6, 4), torch.randn(2, 6, 4)
    rate = nn.Parameter(torch.log(torch.arange(1.0, 5.0).repeat(8, 1)))
    held = torch.exp(torch.einsum("bld,dn->bldn", step, -rate.exp()))
    given = torch.einsum("bld,bln,bld->bldn", step, into, x)
    state, states = torch.zeros(2, 8, 4), []
    for place in range(6):
        state = held[:, place] * state + given[:, place]
        states.append(torch.einsum("bdn,bn->bd", state, outof[:, place]))
    result = torch.stack(states, 1)
    result.square().mean().backward()
    return [*out[-1].tolist(), *decay.grad.tolist(), *result[0, -1].tolist(), *rate.grad.sum(0).tolist()]


class Experts(nn.Module):
    """The two best of four experts for every token."""

    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(16, 4, bias=False)
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(16, 32), nn.SiLU(), nn.Linear(32, 16)) for _ in range(4))

    def forward(self, x):
        flat = x.view(-1, 16)
        share, chosen = self.gate(flat).softmax(1).topk(2, dim=-1)
        share = share / share.sum(-1, keepdim=True)
        out = torch.zeros_like(flat)
        for number, places in enumerate(F.one_hot(chosen, 4).permute(2, 1, 0)):
            rank, token = torch.where(places)
            out.index_add_(0, token, self.experts[number](flat[token]) * share[token, rank, None])
        return out.view_as(x)


class Decoder(nn.Module):
    """A block with turned queries, shared keys and experts, and its cache."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(30, 16)
        self.query, self.both = nn.Linear(16, 16, bias=False), nn.Linear(16, 16, bias=False)
        self.norm, self.experts = nn.RMSNorm(16), Experts()
        angle = torch.outer(torch.arange(64), 1 / 100 ** (torch.arange(0, 4, 2) / 4))
        self.register_buffer("turn", torch.polar(torch.ones_like(angle), angle))

    def turned(self, x, start):
        pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], 2, 2)) * self.turn[start : start + x.shape[1], None]
        return torch.view_as_real(pairs).flatten(3)

    def forward(self, tokens, cache=None):
        x = self.embedding(tokens)
        start = 0 if cache is None else cache[0].shape[1]
        hidden = self.norm(x)
        query = self.turned(self.query(hidden).unflatten(-1, (4, 4)), start)
        key, value = self.both(hidden).unflatten(-1, (4, 4)).chunk(2, 2)
        key = self.turned(key, start)
        if cache is not None:
            key, value = torch.cat([cache[0], key], 1), torch.cat([cache[1], value], 1)
        seen = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool).tril(key.shape[1] - query.shape[1])
        parts = [one.transpose(1, 2) for one in (query, key, value)]
        made = F.scaled_dot_product_attention(*parts, attn_mask=seen, enable_gqa=True)
        x = x + made.transpose(1, 2).flatten(2)
        return (x + self.experts(self.norm(x))) @ self.embedding.weight.T, (key, value)


def experts():
    """A language model with experts is trained; tokens are drawn with its cache, and by beams."""
    model, tokens = Decoder(), torch.randint(0, 30, (4, 13))
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2, betas=(0.9, 0.95))
    losses = []
    for _ in range(4):
        loss = F.cross_entropy(model(tokens[:, :-1])[0].flatten(0, 1), tokens[:, 1:].flatten(), label_smoothing=0.1)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    with torch.inference_mode():
        drawn, cache, now = tokens[:2, :4], None, tokens[:2, :4]
        for _ in range(8):
            scores, cache = model(now, cache)
            ordered, places = (scores[:, -1] / 0.8).softmax(-1).sort(descending=True)
            ordered[ordered.cumsum(-1) - ordered > 0.9] = 0.0
            now = places.gather(-1, torch.multinomial(ordered, 1))
            drawn = torch.cat([drawn, now], 1)
        beams = [(tokens[:1, :3], 0.0)]
        for _ in range(4):
            further = []
            for line, score in beams:
                best = F.log_softmax(model(line)[0][:, -1], -1)[0].topk(3)
                further += [
                    (torch.cat([line, place.view(1, 1)], 1), score + value.item())
                    for value, place in zip(*best, strict=True)
                ]
            beams = sorted(further, key=lambda one: -one[1])[:3]
    return [*losses, *drawn.flatten().tolist(), *(score for _, score in beams)]


def alignments():
    """CTC over a bidirectional LSTM, a chain of labels, and lines of several lengths."""
    lstm, head = nn.LSTM(6, 8, num_layers=2, bidirectional=True), nn.Linear(16, 5)
    optimizer = torch.optim.RAdam([*lstm.parameters(), *head.parameters()], 1e-2)
    sound, words = torch.randn(12, 3, 6), torch.randint(1, 5, (3, 4))
    losses = []
    for _ in range(3):
        scores = F.log_softmax(head(lstm(sound)[0]), -1)
        loss = F.ctc_loss(scores, words, torch.tensor([12, 12, 9]), torch.tensor([4, 3, 2]), zero_infinity=True)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    moves, seen, labels = torch.randn(4, 4, requires_grad=True), torch.randn(3, 6, 4), torch.randint(0, 4, (3, 6))
    total = seen[:, 0]
    for place in range(1, 6):
        total = torch.logsumexp(total[:, :, None] + moves + seen[:, place, None], 1)
    path = seen.gather(2, labels[..., None]).sum((1, 2)) + moves[labels[:, :-1], labels[:, 1:]].sum(1)
    loss = (total.logsumexp(1) - path).mean()
    loss.backward()
    lines = pack_sequence([torch.randn(n, 4) for n in (3, 6, 2)], enforce_sorted=False)
    out, last = nn.GRU(4, 5, bidirectional=True)(lines)
    padded, lengths = pad_packed_sequence(out, padding_value=-1.0)
    return [
        *losses,
        loss.item(),
        *moves.grad[0].tolist(),
        *padded[2].sum(-1).tolist(),
        *lengths.tolist(),
        last.sum().item(),
    ]


def main():
    found = {}
    for part in (relative_attention, recurrences, experts, alignments):
        torch.manual_seed(2)
        found[part.__name__] = part()
    print(json.dumps(found))


main()
