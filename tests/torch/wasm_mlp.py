"""The wasm module in wasmtime, and its gated MLP as a torch.autograd.Function.

No JavaScript is involved: this is what an embedder of the C core does. Used by check.py.
"""
import ctypes
import struct

import torch
from torch import nn
from wasmtime import Engine, FuncType, Linker, Module, Store, ValType

LINEARS = ("gate_proj", "up_proj", "down_proj")


class Core:
    """One instance of the module. Addresses are numbers; nothing is kept between calls but what was allocated."""

    def __init__(self, path):
        engine = Engine()
        self.store = Store(engine)
        linker = Linker(engine)
        linker.define_func("env", "emscripten_notify_memory_growth", FuncType([ValType.i32()], []), lambda index: None)
        self.exports = linker.instantiate(self.store, Module.from_file(engine, path)).exports(self.store)
        if "_initialize" in self.exports:
            self.call("_initialize")
        self.dtype = torch.float64 if self.call("real_bytes") == 8 else torch.float32
        self.codes = {name: code for name, code in self._names("dtype_name")}
        self.activations = {name: code for name, code in self._names("activation_name")}
        self.calls = {"mlp_forward": 0, "mlp_backward": 0}

    def call(self, name, *arguments):
        if name in getattr(self, "calls", ()):
            self.calls[name] += 1
        return self.exports[name](self.store, *arguments)

    def done(self, name, *arguments):
        status = self.call(name, *arguments)
        assert status == 0, f"{name} was refused with status {status}"

    def allocate(self, size):
        address = self.call("memory_alloc", size) & 0xFFFFFFFF
        assert address != 0, f"no memory for {size} bytes"
        return address

    def free(self, *addresses):
        for address in addresses:
            self.call("memory_free", address)

    def _at(self, address):
        # Taken anew each time: memory moves when it grows.
        return ctypes.addressof(self.exports["memory"].data_ptr(self.store).contents) + address

    def put(self, tensor):
        """A copy of a tensor in the module's memory: its address."""
        tensor = tensor.detach().to(self.dtype).contiguous()
        address = self.allocate(max(8, tensor.nbytes))
        ctypes.memmove(self._at(address), tensor.data_ptr(), tensor.nbytes)
        return address

    def get(self, address, shape):
        tensor = torch.empty(shape, dtype=self.dtype)
        ctypes.memmove(tensor.data_ptr(), self._at(address), tensor.nbytes)
        return tensor

    def put_pointers(self, addresses):
        block = struct.pack(f"<{len(addresses)}I", *addresses)
        address = self.allocate(len(block))
        ctypes.memmove(self._at(address), block, len(block))
        return address

    def _names(self, table):
        code = 0
        while address := self.call(table, code) & 0xFFFFFFFF:
            yield ctypes.string_at(self._at(address)).decode(), code
            code += 1

    def create(self, act, weights, biases):
        """A gated MLP with these weights and biases (or None), in the order of LINEARS: its address."""
        d_ff, d = weights[0].shape
        code = self.codes["F64" if self.dtype == torch.float64 else "F32"]
        mlp = self.call("mlp_create", d, d_ff, self.activations[act], code, int(biases[0] is not None), 0) & 0xFFFFFFFF
        assert mlp != 0
        for which, (weight, bias) in enumerate(zip(weights, biases)):
            linear = self.call("mlp_linear", mlp, which) & 0xFFFFFFFF
            rows, columns = weight.shape
            source = self.put(weight)
            self.done("linear_set", linear, 0, rows, 0, columns, source, code, columns, 1)
            self.free(source)
            if bias is not None:
                source = self.put(bias)
                self.done("linear_set_bias", linear, 0, rows, source, code, 1)
                self.free(source)
        return mlp


class GatedMLPFunction(torch.autograd.Function):
    """y = down(act(gate(x)) * up(x)), both ways in wasm."""

    @staticmethod
    def forward(ctx, core, act, x, *parameters):
        weights, biases = parameters[0::2], parameters[1::2]
        ctx.core, ctx.act, ctx.has_bias = core, act, biases[0] is not None
        ctx.save_for_backward(x, *(p for p in parameters if p is not None))
        mlp, x_at = core.create(act, weights, biases), core.put(x)
        y_at = core.allocate(max(8, x.numel() * core.dtype.itemsize))
        d_ff, d = weights[0].shape
        core.done("mlp_forward", y_at, x_at, mlp, x.numel() // d, 0, d_ff, 1.0, 0, -1, 0, 0, 0)
        y = core.get(y_at, x.shape)
        core.free(mlp, x_at, y_at)
        return y

    @staticmethod
    def backward(ctx, d_y):
        core = ctx.core
        x, *rest = ctx.saved_tensors
        weights = rest[0::2] if ctx.has_bias else rest
        biases = rest[1::2] if ctx.has_bias else [None] * 3
        slots = [x] + [tensor for pair in zip(weights, biases) for tensor in pair]
        d_ff, d = weights[0].shape
        mlp, x_at, d_y_at = core.create(ctx.act, weights, biases), core.put(x), core.put(d_y)
        gradients = [0 if slot is None else core.put(torch.zeros(slot.shape)) for slot in slots]
        pointers = core.put_pointers(gradients)
        core.done("mlp_backward", pointers, d_y_at, x_at, mlp, x.numel() // d, 0, d_ff, 1.0, -1, 0, 0, 0)
        results = [None if slot is None else core.get(at, slot.shape) for at, slot in zip(gradients, slots)]
        core.free(mlp, x_at, d_y_at, pointers, *(at for at in gradients if at))
        return None, None, *results


class WasmMLP(nn.Module):
    """The parameters of three nn.Linear, or those of another gated MLP, computed in wasm."""

    def __init__(self, core, act, source):
        super().__init__()
        self.core, self.act = core, act
        for name in LINEARS:
            setattr(self, name, getattr(source, name))

    def forward(self, x):
        linears = [getattr(self, name) for name in LINEARS]
        parameters = [p for linear in linears for p in (linear.weight, linear.bias)]
        return GatedMLPFunction.apply(self.core, self.act, x, *parameters)
