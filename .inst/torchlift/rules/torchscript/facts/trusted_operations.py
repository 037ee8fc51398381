"""Layers, functions and methods that mean the same when traced and when exported, and what is known of each."""

from __future__ import annotations

# Layers that `tests/rules/torchscript/test_captured_module.py` captures both ways and compares on a second batch size.
STATELESS_LAYERS = frozenset(
    """Linear Identity Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d LayerNorm GroupNorm
    ReLU ReLU6 LeakyReLU PReLU ELU SELU CELU GELU SiLU Mish Sigmoid Tanh LogSigmoid Softmax LogSoftmax Hardswish
    Hardsigmoid Hardtanh Softplus Softsign MaxPool2d MaxPool3d AvgPool1d AvgPool2d AvgPool3d AdaptiveAvgPool1d
    AdaptiveAvgPool2d AdaptiveMaxPool2d Flatten Embedding ZeroPad2d ReflectionPad2d PixelShuffle""".split()
)
STATEFUL_LAYERS = frozenset("BatchNorm1d BatchNorm2d BatchNorm3d Dropout Dropout1d Dropout2d Dropout3d".split())
CONTAINERS = frozenset({"Sequential", "ModuleList"})
FAST_PATH_LAYERS = frozenset({"TransformerEncoder", "TransformerEncoderLayer", "MultiheadAttention", "Transformer"})
SEQUENCE_LAYERS = frozenset({"RNN", "LSTM", "GRU", "RNNCell", "LSTMCell", "GRUCell"})

# Functions and tensor methods that mean the same when traced and when exported, for any batch size; same test.
PURE_FUNCTIONS = frozenset(
    """torch.relu torch.sigmoid torch.tanh torch.softmax torch.log_softmax torch.exp torch.log torch.sqrt torch.abs
    torch.cat torch.stack torch.flatten torch.mean torch.sum torch.matmul torch.bmm torch.add torch.mul torch.sub
    torch.div torch.clamp torch.transpose torch.permute torch.unsqueeze torch.squeeze torch.reshape torch.sin torch.cos
    torch.square torch.outer torch.ger torch.where torch.amax torch.amin torch.norm
    torch.nn.functional.relu torch.nn.functional.relu6 torch.nn.functional.leaky_relu torch.nn.functional.elu
    torch.nn.functional.gelu torch.nn.functional.silu torch.nn.functional.softmax torch.nn.functional.log_softmax
    torch.nn.functional.sigmoid torch.nn.functional.tanh torch.nn.functional.softplus torch.nn.functional.normalize
    torch.nn.functional.max_pool2d torch.nn.functional.avg_pool2d torch.nn.functional.adaptive_avg_pool2d
    torch.nn.functional.linear torch.nn.functional.conv2d torch.nn.functional.pad torch.nn.functional.layer_norm""".split()
)
PURE_METHODS = frozenset(
    """view reshape flatten mean sum relu sigmoid tanh softmax log_softmax exp log sqrt abs transpose permute unsqueeze
    squeeze contiguous matmul mm bmm add mul sub div clamp t pow square amax amin size dim""".split()
)
# Layers and functions whose result is always a new tensor, so that changing it in place concerns nobody else.
FRESH_LAYERS = frozenset(
    """Linear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d LayerNorm GroupNorm BatchNorm1d
    BatchNorm2d BatchNorm3d""".split()
)
# Methods of a module that neither change its mode nor put anything into it.
HARMLESS_METHODS = frozenset(
    """eval load_state_dict state_dict parameters named_parameters buffers named_buffers to cpu cuda float half double
    forward zero_grad requires_grad_""".split()
)
# Methods of nn.Module that a class may override and so change what the calls in the file mean.
MODULE_METHODS = frozenset(
    """eval train apply to cpu cuda float half double parameters named_parameters modules named_modules children
    named_children state_dict load_state_dict requires_grad_ add_module register_module register_buffer
    register_parameter register_forward_hook register_forward_pre_hook""".split()
)
SELF_RETURNING = frozenset({"eval", "train", "to", "cuda", "cpu", "float", "half", "double", "requires_grad_"})
