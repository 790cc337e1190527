"""Prints the seconds of PyTorch's fastest training step of the residual network of models/resnet8.cc: batch 1, one thread, plain gradient
descent, normalisation by the running means as in the exported network. Exit status 77: there is no PyTorch."""
import sys
import time

try:
    import torch
    from torch import nn
    from torch.nn import functional as F
except ImportError:
    sys.exit(77)


def conv(inputs, outputs, size, stride):
    return nn.Conv2d(inputs, outputs, size, stride, padding=size // 2)


class Stack(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1, self.bn1 = conv(inputs, outputs, 3, stride), nn.BatchNorm2d(outputs)
        self.conv2, self.bn2 = conv(outputs, outputs, 3, 1), nn.BatchNorm2d(outputs)
        self.shortcut = conv(inputs, outputs, 1, stride) if stride > 1 else nn.Identity()

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + self.shortcut(x))


network = nn.Sequential(conv(3, 16, 3, 1), nn.BatchNorm2d(16), nn.ReLU(), Stack(16, 16, 1), Stack(16, 32, 2), Stack(32, 64, 2),
                        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10)).eval()
torch.set_num_threads(1)
optimizer = torch.optim.SGD(network.parameters(), lr=0.001)
picture, label = torch.rand(1, 3, 32, 32), torch.tensor([3])
best = float("inf")
for _ in range(100):
    start = time.perf_counter()
    optimizer.zero_grad()
    F.cross_entropy(network(picture), label).backward()
    optimizer.step()
    best = min(best, time.perf_counter() - start)
print(best)
