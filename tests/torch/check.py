"""Other people's tests, and live comparisons with their classes: TorchCode's judge, LlamaMLP and GemmaMLP, and the goldens made anew.

Usage: python check.py ROOT SPELLINGS     (run.js makes the environment and calls it; SPELLINGS is JSON, spelling to gate)
"""
import json
import os
import random
import subprocess
import sys
import tempfile
from types import SimpleNamespace

import torch
from safetensors.torch import load_file
from torch import nn
from torch_judge.tasks import get_task
from transformers import GemmaConfig, LlamaConfig
from transformers.activations import ACT2FN
from transformers.models.gemma.modeling_gemma import GemmaMLP
from transformers.models.llama.modeling_llama import LlamaMLP

from wasm_mlp import Core, WasmMLP

CASES = 200
FLOAT32_TOLERANCE = 2e-6  # of a tensor's largest value, as in fixtures/README.md
FLOAT64_TOLERANCE = 1e-12
REGENERATED_FLOAT32_TOLERANCE = 1e-6
HIDDEN_ACTS = {"silu": "silu", "gelu": "gelu", "gelu_pytorch_tanh": "gelu_tanh", "gelu_new": "gelu_tanh", "relu": "relu",
               "relu2": "relu2", "sigmoid": "sigmoid", "quick_gelu": "quick_gelu", "linear": "none"}


def distance(actual, expected):
    """Largest difference over the largest expected value; NaN must meet NaN."""
    assert actual.shape == expected.shape, (actual.shape, expected.shape)
    if expected.numel() == 0:
        return 0.0
    actual, expected = actual.double(), expected.double()
    assert torch.equal(actual.isnan(), expected.isnan())
    scale = expected.nan_to_num(0).abs().max().item()
    worst = (actual - expected).nan_to_num(0).abs().max().item()
    return 0.0 if worst == 0 else worst / scale


def judge(core):
    """TorchCode's own snippets against a class whose arithmetic is wasm's, with the calls counted."""
    task = get_task("mlp")

    class SwiGLUMLP(WasmMLP):
        def __init__(self, d_model, d_ff):
            linears = dict(gate_proj=nn.Linear(d_model, d_ff), up_proj=nn.Linear(d_model, d_ff), down_proj=nn.Linear(d_ff, d_model))
            super().__init__(core, "silu", SimpleNamespace(**linears))

    before = dict(core.calls)
    for test in task["tests"]:
        exec(test["code"].replace("{fn}", task["function_name"]), {task["function_name"]: SwiGLUMLP})
        print(f"ok - torch-judge, {test['name']}")
    counted = {name: core.calls[name] - before[name] for name in before}
    assert counted == {"mlp_forward": 4, "mlp_backward": 1}, counted
    print(f"ok - {len(task['tests'])} of {len(task['tests'])}; calls into wasm: {counted}")


def spellings(core, table):
    """Every spelling that transformers knows as well is the function that it has under that name."""
    z = torch.linspace(-25, 25, 5001)
    shared = [spelling for spelling in table if spelling in ACT2FN]
    assert len(shared) >= 14, shared
    z_at, out_at = core.put(z), core.allocate(z.nbytes)
    for spelling in shared:
        core.done("act", out_at, z_at, core.activations[table[spelling]], len(z))
        error = distance(core.get(out_at, z.shape), ACT2FN[spelling](z.double()))
        assert error <= FLOAT32_TOLERANCE, (spelling, error)
    core.free(z_at, out_at)
    print(f"ok - {len(shared)} spellings are transformers' functions: {', '.join(shared)}")


def random_case(rng, generator):
    d, d_ff = rng.randint(2, 70), rng.randint(2, 100)
    shape = [*rng.choice([[rng.randint(2, 40)], [rng.randint(1, 4), rng.randint(2, 9)], [1]]), d]
    act = rng.choice(sorted(HIDDEN_ACTS))
    if rng.random() < 0.4:
        act = "gelu_pytorch_tanh"
        module = GemmaMLP(GemmaConfig(hidden_size=d, intermediate_size=d_ff, num_attention_heads=1, head_dim=8, hidden_act=act))
    else:
        module = LlamaMLP(LlamaConfig(hidden_size=d, intermediate_size=d_ff, num_attention_heads=1, head_dim=8, hidden_act=act,
                                      mlp_bias=rng.random() < 0.5))
    spread = rng.choice([0.1, 1.0, 1.0, 10.0])
    with torch.no_grad():
        for p in module.parameters():
            p.copy_(torch.randn(p.shape, generator=generator) / (p.shape[-1] ** 0.5 if p.dim() == 2 else 2))
    return module, act, torch.randn(shape, generator=generator) * spread, torch.randn(shape, generator=generator)


def gradients(module, x, d_y):
    module.zero_grad(set_to_none=True)
    x = x.clone().requires_grad_(True)
    y = module(x)
    (y * d_y).sum().backward()
    return {"y": y.detach(), "x": x.grad, **{name: p.grad.clone() for name, p in module.named_parameters()}}


def live(core32, core64):
    """Outputs and all gradients of random layers, both builds, against the classes run in float64."""
    rng, generator = random.Random(1), torch.Generator().manual_seed(1)
    worst = {core32.dtype: 0.0, core64.dtype: 0.0}
    classes = {}
    for case in range(CASES):
        module, act, x, d_y = random_case(rng, generator)
        classes[type(module).__name__] = classes.get(type(module).__name__, 0) + 1
        ours32 = gradients(WasmMLP(core32, HIDDEN_ACTS[act], module), x, d_y)
        module.double()
        ours64 = gradients(WasmMLP(core64, HIDDEN_ACTS[act], module), x.double(), d_y.double())
        expected = gradients(module, x.double(), d_y.double())
        for ours, core, tolerance in ((ours32, core32, FLOAT32_TOLERANCE), (ours64, core64, FLOAT64_TOLERANCE)):
            assert ours.keys() == expected.keys()
            for name, value in expected.items():
                error = distance(ours[name], value)
                assert error <= tolerance, f"case {case} ({type(module).__name__}, {act}, x {list(x.shape)}): {name} is {error} off"
                worst[core.dtype] = max(worst[core.dtype], error)
    print(f"ok - {CASES} random layers ({classes}): largest difference / largest value: "
          + ", ".join(f"{dtype} {error:.2e}" for dtype, error in worst.items()))


def regenerate(root):
    """The goldens made anew by the scripts in fixtures/: what they draw bit for bit, what they compute within rounding."""
    fixtures = os.path.join(root, "fixtures")
    stored = os.path.join(fixtures, "goldens")
    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, "goldens")
        for script, target in (("make_goldens.py", made), ("make_family_rows.py", folder)):
            made_by = subprocess.run([sys.executable, os.path.join(fixtures, script), target], capture_output=True, text=True)
            assert made_by.returncode == 0, made_by.stderr
        names = [sorted(os.path.relpath(os.path.join(at, file), top) for at, _, files in os.walk(top) for file in files)
                 for top in (stored, made)]
        assert names[0] == names[1], set(names[0]) ^ set(names[1])
        files = [name for name in names[0] if name.endswith(".safetensors")]
        worst = {"f32": 0.0, "f64": 0.0}
        for name in files:
            compare(name, load_file(os.path.join(stored, name)), load_file(os.path.join(made, name)), worst)
    print(f"ok - {len(files)} golden files made anew: parameters, x and gy bit for bit; {worst}")


def compare(name, old, new, worst):
    assert old.keys() == new.keys(), name
    for key, value in old.items():
        assert value.dtype == new[key].dtype and value.shape == new[key].shape, (name, key)
        computed = key.startswith(("f32/", "f64/")) or (name.endswith("mlp_io.safetensors") and value.is_floating_point())
        if not computed:
            assert torch.equal(value.view(torch.uint8) if value.numel() else value,
                               new[key].view(torch.uint8) if value.numel() else value), (name, key)
            continue
        kind, tolerance = ("f64", FLOAT64_TOLERANCE) if key.startswith("f64/") else ("f32", REGENERATED_FLOAT32_TOLERANCE)
        error = distance(new[key], value)
        assert error <= tolerance, (name, key, error)
        worst[kind] = max(worst[kind], error)


def main():
    root = sys.argv[1]
    torch.set_num_threads(1)
    core32 = Core(os.path.join(root, "src", "binding", "gated-mlp.wasm"))
    core64 = Core(os.path.join(root, "build", "gated-mlp-f64.wasm"))
    assert (core32.dtype, core64.dtype) == (torch.float32, torch.float64)
    judge(core32)
    spellings(core32, json.loads(sys.argv[2]))
    live(core32, core64)
    regenerate(root)


if __name__ == "__main__":
    main()
