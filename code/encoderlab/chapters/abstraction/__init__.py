"""Chapter 5, abstraction: what the layers of a published sentence encoder hold.

In reading order:

- `sentences`, `prose`, `grammar`, `minimal_pairs`, `homonyms`: the texts that are read (`sentences.txt`,
  `stories.txt`, `homonyms.txt`).
- `reading`: attention by layer and head; `contributions`: what it brings.
- `relations`, `copies`, `related`: what single heads follow.
- `likeness`: how alike tokens and sentences are.
- `probes`, `probe_tasks`: what a linear map reads off each layer.
- `surgery`, `corpus_means`, `width`: parts taken out, in several forms; `erasure`: a fact taken out.
- `cost`: what a layer costs.
- `make_data`, with all files that end in `_data`: all measurements (`abstraction.npz`).
- `data`, `measurements`: the stored measurements, as figures and claims ask for them.
- `figures`, `claims`, `exercises`.
"""
