"""Make torch_encoder.npz: what torch.nn.TransformerEncoder computes, which test_torch_encoder.py compares.

    pip install torch==2.13.0
    python code/tests/pretrained/reference/make_torch_encoder.py

Each case holds its state dict, an input, the lengths of the sequences (0: no padding mask) and the output.
"""

import pathlib

import numpy as np
import torch

CASES = [  # d_model, n_heads, d_ff, norm, activation, padding, final norm, bias, eps of RMSNorm
    (8, 2, 12, "post", "relu", False, False, True, None),
    (8, 2, 12, "post", "gelu", True, False, True, None),
    (8, 4, 12, "pre", "relu", True, True, True, None),
    (8, 1, 12, "pre", "gelu", False, False, True, None),
    (6, 3, 10, "post", "relu", True, True, True, None),
    (6, 2, 10, "pre", "gelu", True, True, False, None),
    (2, 1, 3, "post", "gelu", True, False, True, None),
    (2, 2, 3, "pre", "relu", False, True, True, None),
    (8, 2, 12, "post", "relu", True, False, True, 1e-3),
    (6, 2, 10, "pre", "gelu", True, True, True, 1e-6),
]
LENGTHS = torch.tensor([5, 3])


def main() -> None:
    """Run every case and write one file."""
    torch.manual_seed(20240601)
    torch.set_default_dtype(torch.float64)
    arrays: dict[str, np.ndarray] = {}
    for number, (d_model, n_heads, d_ff, norm, activation, padding, final, bias, rms) in enumerate(CASES):
        layer = torch.nn.TransformerEncoderLayer(
            d_model,
            n_heads,
            d_ff,
            dropout=0.0,
            activation=activation,
            batch_first=True,
            norm_first=norm == "pre",
            bias=bias,
        )
        last = torch.nn.LayerNorm(d_model, bias=bias) if final else None
        if rms is not None:
            layer.norm1, layer.norm2 = (torch.nn.RMSNorm(d_model, eps=rms) for _ in range(2))
            last = torch.nn.RMSNorm(d_model, eps=rms) if final else None
        encoder = torch.nn.TransformerEncoder(layer, 2, norm=last, enable_nested_tensor=False).train()
        with torch.no_grad():
            for parameter in encoder.parameters():
                parameter.normal_(std=0.7)
        x = torch.randn(2, 5, d_model)
        hidden = torch.arange(5) >= LENGTHS[:, None] if padding else None
        with torch.no_grad():
            y = encoder(x, src_key_padding_mask=hidden)
        case = {"x": x, "y": y, "lengths": LENGTHS if padding else torch.zeros(2, dtype=torch.long)}
        case |= {f"state/{name}": value for name, value in encoder.state_dict().items()}
        arrays |= {f"{number}/{name}": value.numpy() for name, value in case.items()}
        arrays[f"{number}/config"] = np.array(
            [str(n_heads), norm, activation, "rms" if rms else "layer", str(rms or 1e-5)]
        )
    arrays["torch_version"] = np.array(torch.__version__)
    np.savez_compressed(pathlib.Path(__file__).with_name("torch_encoder.npz"), **arrays)


if __name__ == "__main__":
    main()
