"""Chapter 5, abstraction: what the layers of a published sentence encoder hold.

In reading order:

- `sentences`, `grammar`: the texts that are read (`sentences.txt`).
- `reading`: attention by layer and head; `relations`, `copies`: what single heads follow.
- `likeness`: how alike tokens and sentences are.
- `probes`, `probe_tasks`: what a linear map reads off each layer.
- `surgery`, `corpus_means`, `width`: parts taken out, in several forms.
- `cost`: what a layer costs.
- `make_data`, with `attention_data`, `probe_data`, `surgery_data`: all measurements (`abstraction.npz`).
- `data`, `measurements`: the stored measurements, as figures and claims ask for them.
- `figures`, `claims`, `exercises`.
"""
