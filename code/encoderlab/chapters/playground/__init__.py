"""The playground: a Transformer that trains in the page, with its parts switched off.

- `web`: the page's side, in JavaScript: the encoder a second time, the tasks, the trainer, the figure.
- `script`: one script of its modules, which also opens from a file.
"""
