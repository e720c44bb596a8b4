"""A tiny Llama with random weights, and hidden states captured from it by web/capture_hidden.py, as a reader would do it.

Usage: python make_capture.py FOLDER    (tests/browser/capture holds what it made; capture.js makes them anew and compares)
"""
import sys
from pathlib import Path

import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "web"))
from capture_hidden import capture  # noqa: E402

WORDS = ["<unk>", "which", "gates", "are", "closed", "here", "and", "how", "far"]
TEXT = "which gates are closed here and how far"
LAYER = 1


def main(folder):
    torch.manual_seed(7)
    config = LlamaConfig(vocab_size=len(WORDS), hidden_size=16, intermediate_size=48, num_hidden_layers=2,
                         num_attention_heads=2, num_key_value_heads=1, hidden_act="silu")
    model = LlamaForCausalLM(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 2:
                parameter.mul_(20)
    words = Tokenizer(WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="<unk>"))
    words.pre_tokenizer = Whitespace()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, unk_token="<unk>")
    model.save_pretrained(folder)
    capture(model, tokenizer, LAYER, TEXT, f"{folder}/hidden.safetensors")


if __name__ == "__main__":
    main(sys.argv[1])
