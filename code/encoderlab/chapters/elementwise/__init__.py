"""Chapter 1, elementwise functions: what one bend between two linear maps buys.

In reading order:

- `affine`: stacks of affine maps, and the one map that each equals.
- `perceptron`: the multilayer perceptron, and how it learns.
- `piecewise`: where a ReLU network from one number to one bends.
- `regions`: the linear regions of a ReLU network on the plane.
- `rings`: two classes that no line tells apart, and networks trained on them (`rings.npz`).
- `propagation`: the size of a signal, and of its gradient, through depth.
- `gates`: elementwise products in which one factor opens or closes the other.
- `figures`, `claims`, `exercises`.
"""
