"""The playground: a Transformer that trains in the page, with its parts switched off.

- `web`: the page's side, in JavaScript. `encoder` is the encoder a second time, on `matrix` and
  `activations`; `tasks`, `state` and `trainer` train one state of the controls; `worker` does so while `page`
  draws, with `controls`, `picture`, `sentence` and `texts`; `measure` counts which starts succeed.
- `script`: one script of those modules, which also opens from a file.
- `generator`, `moons`: the same random numbers, points and training with NumPy.
- `measured`: what was measured, for the page's tables and sentences.
- `figures`: the figure itself; `drawn`: the pictures that show where no script runs.
"""
