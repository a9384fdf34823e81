# SPDX-License-Identifier: Apache-2.0
"""PyTorch as the peer of examples/train_lm: the same model, trained from the same weights on the
same batches.

   eager     the model as it is written below
   compiled  the same through torch.compile, the loss included

The model is what one writes in PyTorch: nn.Module, scaled_dot_product_attention, x * cos +
rotate_half(x) * sin, and AdamW with its fused step. A request names how it is trained and how many
steps; every answer starts again from the weights of the checkpoint.
"""

import argparse
import json
import math
import os
import time
from pathlib import Path
from typing import Any, Callable

import torch
import torch.nn.functional as F
from torch import nn

from trainer_data import Batches, Checkpoint

Tensor = torch.Tensor


def rotate_half(x: Tensor) -> Tensor:
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


class Attention(nn.Module):
    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(dim, dim, bias=False) for _ in range(4))

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        windows, tokens, dim = x.shape
        q, k, v = (
            linear(x).view(windows, tokens, self.heads, -1).transpose(1, 2)
            for linear in (self.q, self.k, self.v)
        )
        q = q * cos + rotate_half(q) * sin
        k = k * cos + rotate_half(k) * sin
        o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(o.transpose(1, 2).reshape(windows, tokens, dim))


class Mlp(nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.up = nn.Linear(dim, 4 * dim, bias=False)
        self.down = nn.Linear(4 * dim, dim, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(F.relu(self.up(x)).square())


class Layer(nn.Module):
    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.norm1 = nn.RMSNorm(dim, eps=1e-5)
        self.attention = Attention(dim, heads)
        self.norm2 = nn.RMSNorm(dim, eps=1e-5)
        self.mlp = Mlp(dim)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        x = x + self.attention(self.norm1(x), cos, sin)
        return x + self.mlp(self.norm2(x))


class Model(nn.Module):
    """Its parameters have the names of train_lm's checkpoints, without their "model."."""

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__()
        dim, heads = config["dim"], config["heads"]
        self.embedding = nn.Embedding(config["vocabulary"], dim)
        self.layers = nn.ModuleList(Layer(dim, heads) for _ in range(config["layers"]))
        self.norm = nn.RMSNorm(dim, eps=1e-5)
        self.head = nn.Linear(dim, config["vocabulary"], bias=False)
        width = dim // heads
        rates = config["rope"]["base"] ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
        angles = torch.arange(config["context"], dtype=torch.float64)[:, None] * rates
        wide = torch.cat((angles, angles), dim=-1)
        self.register_buffer("cos", wide.cos().float(), persistent=False)
        self.register_buffer("sin", wide.sin().float(), persistent=False)

    def forward(self, inputs: Tensor, targets: Tensor) -> Tensor:
        x = self.embedding(inputs)
        for layer in self.layers:
            x = layer(x, self.cos, self.sin)
        logits = self.head(self.norm(x))
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def learning_rate(adam: dict[str, float], step: int, steps: int) -> float:
    """adam.hpp's: a line up, then half a cosine down."""
    warm = max(1.0, adam["warmup"] * steps)
    if step + 1 < warm:
        return adam["peak_rate"] * (step + 1) / warm
    progress = (step + 1 - warm) / max(1.0, steps - warm)
    last = adam["final_rate_ratio"]
    return adam["peak_rate"] * (last + (1 - last) * 0.5 * (1 + math.cos(math.pi * progress)))


class Training:
    def __init__(self, checkpoint: Checkpoint, batches: Batches, loss_of: str) -> None:
        self.checkpoint = checkpoint
        self.batches = batches
        self.model = Model(checkpoint.config)
        self.loss: Callable[[Tensor, Tensor], Tensor] = self.model
        if loss_of == "compiled":
            self.loss = torch.compile(self.model, dynamic=False)

    def run(self, steps: int) -> dict[str, list[float]]:
        """The seconds of each step and its loss in bits per character, from the checkpoint on."""
        config, adam = self.checkpoint.config, self.checkpoint.config["adam"]
        with torch.no_grad():
            for name, parameter in self.model.named_parameters():
                parameter.copy_(torch.from_numpy(self.checkpoint.tensor("model." + name)))
        parameters = list(self.model.parameters())
        optimizer = torch.optim.AdamW(
            [
                {"params": [p for p in parameters if p.dim() == 2], "weight_decay": adam["decay"]},
                {"params": [p for p in parameters if p.dim() == 1], "weight_decay": 0.0},
            ],
            betas=(adam["beta1"], adam["beta2"]),
            eps=adam["epsilon"],
            fused=True,
        )
        seconds: list[float] = []
        losses: list[float] = []
        for step in range(steps):
            begin = time.perf_counter()
            inputs, targets = (torch.from_numpy(codes) for codes in self.batches.of(step))
            for group in optimizer.param_groups:
                group["lr"] = learning_rate(adam, step, config["steps"])
            optimizer.zero_grad()
            loss = self.loss(inputs, targets)
            loss.backward()
            nn.utils.clip_grad_norm_(parameters, adam["clip"])
            optimizer.step()
            losses.append(loss.item() / math.log(2))
            seconds.append(time.perf_counter() - begin)
        return {"seconds": seconds, "losses": losses}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--text", type=Path, required=True)
    parser.add_argument("--threads", type=int, required=True)
    options = parser.parse_args()
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what others print must not come between the answers
    torch.set_num_threads(options.threads)
    checkpoint = Checkpoint(options.checkpoint)
    batches = Batches(options.text.read_bytes(), checkpoint.config)
    trainings = {name: Training(checkpoint, batches, name) for name in ("eager", "compiled")}
    print(json.dumps({"version": torch.__version__}), file=answers)
    while True:
        try:
            request = json.loads(input())
        except EOFError:
            return
        print(json.dumps(trainings[request["training"]].run(request["steps"])), file=answers)


if __name__ == "__main__":
    main()
