"""Captures what one gated MLP of a transformers model reads (x) and writes (y) while the model reads a text, for the page:
"Load another model", then "Hidden states". Usage: python capture_hidden.py MODEL LAYER TEXT OUT.safetensors"""
import json
import sys

import torch
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM, AutoTokenizer


def capture(model, tokenizer, layer, text, path):
    mlp = model.get_decoder().layers[layer].mlp
    seen = {}
    hook = mlp.register_forward_hook(lambda module, inputs, output: seen.update(x=inputs[0], y=output))
    ids = tokenizer(text, return_tensors="pt").input_ids
    with torch.no_grad():
        model(ids)
    hook.remove()
    tensors = {name: value[0].float().contiguous() for name, value in seen.items()}
    tokens = [tokenizer.decode([token]) for token in ids[0].tolist()]
    save_file(tensors, path, metadata={"tokens": json.dumps(tokens), "layer": str(layer)})


if __name__ == "__main__":
    name, layer, text, path = sys.argv[1:]
    model = AutoModelForCausalLM.from_pretrained(name, dtype=torch.float32)
    capture(model, AutoTokenizer.from_pretrained(name), int(layer), text, path)
