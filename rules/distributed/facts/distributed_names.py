"""Table of names in `torch.distributed` that moved or are deprecated, with the releases in which each may be renamed.

Every row was read in the Python sources of the wheels 1.12.0, 1.13.0, 2.0.0, 2.3.1, 2.4.0, 2.5.0, 2.12.1, 2.13.0, 2.14.1 and
2.15.0 on 2026-11-21: that both names exist where the row says so, take the same arguments, and that the old one forwards to
the new one or is it. `tests/rules/distributed/test_distributed_names.py` compares them again on the installed torch.
"""

from __future__ import annotations

from collections.abc import Iterator

from torchlift.rules.renaming import MovedName
from torchlift.versions import TorchVersion

_C10D = "torch/distributed/distributed_c10d.py"
_OPERATIONS = ("SUM", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR", "AVG", "PREMUL_SUM")


def _tensors() -> Iterator[MovedName]:
    triggers = ("distributed._tensor", "distributed import _tensor")
    shim = 'torch/distributed/_tensor/__init__.py: "DTensor has moved to torch.distributed.tensor"'
    note = "The old module is kept for now, without a warning, and is to be removed."
    since = TorchVersion(2, 5)

    def row(old: str, new: str, first: TorchVersion) -> MovedName:
        return MovedName(f"torch.distributed._tensor.{old}", new, first, shim, triggers=triggers, note=note)

    placements = ("Shard", "Replicate", "Partial", "Placement")
    functions = ("DTensor", "distribute_tensor", "distribute_module", "empty", "full", "ones", "zeros", "rand", "randn")
    for name in (*functions, *placements):
        yield row(name, f"torch.distributed.tensor.{name}", since)
    for name in functions:
        yield row(f"api.{name}", f"torch.distributed.tensor.{name}", since)
    for name in placements:
        yield row(f"placement_types.{name}", f"torch.distributed.tensor.{name}", since)
    for name in ("DTensorSpec", "TensorMeta"):
        yield row(f"placement_types.{name}", f"torch.distributed.tensor._dtensor_spec.{name}", since)
    for name in ("DeviceMesh", "init_device_mesh"):
        for module in ("", "device_mesh."):
            yield row(f"{module}{name}", f"torch.distributed.device_mesh.{name}", TorchVersion(2, 2))
    for name in ("implicit_replication", "local_map", "register_sharding"):
        yield row(f"experimental.{name}", f"torch.distributed.tensor.experimental.{name}", since)


def _sharded_data_parallel() -> Iterator[MovedName]:
    # `fully_shard` is left out: there it is the name of a submodule and of the function in it.
    for name in (
        "FSDPModule",
        "MixedPrecisionPolicy",
        "CPUOffloadPolicy",
        "OffloadPolicy",
        "register_fsdp_forward_method",
    ):
        yield MovedName(
            f"torch.distributed._composable.fsdp.{name}",
            f"torch.distributed.fsdp.{name}",
            TorchVersion(2, 6),
            'torch/distributed/_composable/fsdp/__init__.py:1-3, "For backward compatibility"',
            triggers=("_composable.fsdp", "_composable import"),
            note="The old module is kept for backward compatibility only.",
        )


DISTRIBUTED_NAMES: tuple[MovedName, ...] = (
    MovedName(
        "torch.distributed.reduce_op",
        "torch.distributed.ReduceOp",
        TorchVersion(1, 12),
        f"{_C10D}:536-560: its attributes are those of `ReduceOp.RedOpType`; reading one is a FutureWarning",
        # The old value is an object that warns, the new one a class: only the operations are the same.
        "[f.SUM, f.PRODUCT, f.MIN, f.MAX, f.BAND, f.BOR, f.BXOR, f.AVG]",
        triggers=("reduce_op & distributed",),
        members=_OPERATIONS,
        note="Every use of it warns.",
    ),
    MovedName(
        "torch.distributed._get_global_rank",
        "torch.distributed.get_global_rank",
        TorchVersion(1, 13),
        f"{_C10D}:1172, FutureWarning, returns `get_global_rank(group, rank)`",
        "f(dist.new_group(list(range(dist.get_world_size()))), dist.get_world_size() - 1)",
        deprecated=TorchVersion(1, 13),
        keywords=(("rank", "group_rank"),),
        note="Every call of it warns.",
    ),
    MovedName(
        "torch.distributed._all_gather_base",
        "torch.distributed.all_gather_into_tensor",
        TorchVersion(1, 13),
        f"{_C10D}:4422, FutureWarning, forwards its four arguments in order: to `all_gather_into_tensor` in 1.13-2.12, to "
        "`all_gather_single` since 2.13, where `all_gather_into_tensor` does the same",
        "gathered(f)",
        deprecated=TorchVersion(1, 13),
        newer=("torch.distributed.all_gather_single", TorchVersion(2, 13)),
        note="Every call of it warns.",
        older="`all_gather_into_tensor` itself warns in torch 2.13 and 2.14 only.",
    ),
    MovedName(
        "torch.distributed._reduce_scatter_base",
        "torch.distributed.reduce_scatter_tensor",
        TorchVersion(1, 13),
        f"{_C10D}:4970, FutureWarning, forwards its five arguments in order: to `reduce_scatter_tensor` in 1.13-2.12, to "
        "`reduce_scatter_single` since 2.13, where `reduce_scatter_tensor` does the same",
        "scattered(f)",
        deprecated=TorchVersion(1, 13),
        newer=("torch.distributed.reduce_scatter_single", TorchVersion(2, 13)),
        note="Every call of it warns.",
        older="`reduce_scatter_tensor` itself warns in torch 2.13 and 2.14 only.",
    ),
    MovedName(
        "torch.distributed._set_pg_timeout",
        "torch.distributed.set_timeout",
        TorchVersion(2, 14),
        f"{_C10D} of 2.14.1:2283 and 2.15.0:2448, FutureWarning, calls `set_timeout(timeout, group)`; 2.13.0 has no "
        "`set_timeout`",
        deprecated=TorchVersion(2, 14),
        note="Every call of it warns since torch 2.14.",
    ),
    *_tensors(),
    *_sharded_data_parallel(),
    *(
        MovedName(
            f"torch.distributed.{old}",
            f"torch.distributed._shard.{old.removeprefix('_')}",
            TorchVersion(1, 12),
            f'torch/distributed/{old}/__init__.py: "`torch.distributed.{old}` will be deprecated", puts the new module in '
            "`sys.modules` under the old name",
            triggers=(old,),
            module=True,
            note="Importing it is a DeprecationWarning.",
        )
        for old in ("_sharded_tensor", "_sharding_spec")
    ),
    MovedName(
        "torch.distributed.config.compile_on_one_rank",
        "torch.compiler.config.compile_on_one_rank",
        TorchVersion(2, 14),
        'torch/distributed/config.py of 2.14.1:18 and 2.15.0:22: `Config(alias="torch.compiler.config.compile_on_one_rank", '
        "deprecated=True)`; reads and writes forward",
        deprecated=TorchVersion(2, 14),
        stores=True,
        note="It warns since torch 2.14.",
    ),
    MovedName(
        "torch.distributed.config.pipeline_per_direction_p2p",
        "torch.distributed.config.pipeline_per_edge_p2p",
        TorchVersion(2, 15),
        "torch/distributed/config.py of 2.14.1:43 and 2.15.0:48; a setting that does not exist raises AttributeError "
        "(torch/utils/_config_module.py)",
        removed=TorchVersion(2, 15),
        stores=True,
        review=(
            "torch 2.15 makes a communicator for every pair of neighbouring ranks and direction, where 2.14 made two for all. "
            "Schedules that needed the old flag are served as well, and the additional communicators take GPU memory."
        ),
        note="Setting the old name raises AttributeError.",
    ),
)
