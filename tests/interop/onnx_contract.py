"""What optimum names and orders in an ONNX file: the inputs and outputs that its ORTModel classes and others
expect.

An interface is {"inputs": [...], "outputs": [...]}, each entry a (name, shape) whose shape holds an axis's
name where it is dynamic and its size where it is fixed.
"""

import inspect

import onnx
import optimum.exporters.onnx.model_configs  # noqa: F401  registers the descriptions that the manager knows
from optimum.exporters.tasks import TasksManager


def interface(path):
    """The interface of an ONNX file."""

    def shape(value):
        return [axis.dim_param or axis.dim_value for axis in value.type.tensor_type.shape.dim]

    graph = onnx.load(path, load_external_data=False).graph
    return {
        "inputs": [(value.name, shape(value)) for value in graph.input],
        "outputs": [(value.name, shape(value)) for value in graph.output],
    }


def optimum_config(model, task):
    """optimum's description of an export, or None where it has no such export."""
    try:
        constructor = TasksManager.get_exporter_config_constructor(
            "onnx", model_type=model.config.model_type, task=task, library_name="transformers"
        )
    except (KeyError, ValueError):
        return None
    return constructor(model.config)


def expected(model, task, inputs, outputs):
    """The interface that a file of this task must have. `inputs` and `outputs` are transformers' own tensors,
    which give the sizes of fixed axes and, for heads that optimum lacks, the names."""
    config = optimum_config(model, task)
    if config is None:
        tokens = {0: "batch_size", 1: "sequence_length"}
        length = inputs["input_ids"].shape[1]
        config_inputs = {
            name: tokens for name in inspect.signature(model.forward).parameters if name in inputs
        }
        config_outputs = {
            name: tokens if value.shape[1:2] == (length,) else {0: "batch_size"}
            for name, value in outputs.items()
        }
    else:
        config_inputs, config_outputs = config.ordered_inputs(model), config.outputs
    rank = inputs["input_ids"].dim()
    return {
        "inputs": [(name, [axes[axis] for axis in range(rank)]) for name, axes in config_inputs.items()],
        "outputs": [
            (name, [axes.get(axis, size) for axis, size in enumerate(outputs[name].shape)])
            for name, axes in config_outputs.items()
        ],
    }


def differences(found, wanted):
    """Sentences on how one interface departs from another."""
    for kind in ("inputs", "outputs"):
        names = [[name for name, _ in side[kind]] for side in (found, wanted)]
        if names[0] != names[1]:
            yield f"{kind} {names[0]}, expected {names[1]}"
            continue
        for (name, shape), (_, wanted_shape) in zip(found[kind], wanted[kind], strict=True):
            if shape != wanted_shape:
                yield f"{name} has axes {shape}, expected {wanted_shape}"
