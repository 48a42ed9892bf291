# SPDX-License-Identifier: Apache-2.0
"""`RunConfig`: of its fields Peal reads `platform` and `distributed_config`; the others are accepted."""

from peal._unsupported import Named

from .compiled import require_config

ACCEPTED = set(
    "strategy backend_type dump_passes save_kernels save_kernels_dir codegen_only enable_chip_swimlane enable_dump_args enable_pmu "
    "enable_dep_gen enable_scope_stats compile_profiling diagnostic_phase disabled_diagnostics golden_data_dir aicpu_thread_num "
    "ring_task_window ring_heap ring_dep_pool analyze_auto_scopes_for_deps memory_planner dump_ptoas_passes".split()
)


def required(config):
    if config is not None and not isinstance(config, RunConfig):
        raise TypeError(f"config must be a RunConfig, found {type(config).__name__}")
    return config


class RunConfig(Named):
    def __init__(self, platform="a2a3sim", device_id=0, rtol=1e-5, atol=1e-5, distributed_config=None, **accepted):
        unknown = set(accepted) - ACCEPTED
        if unknown:
            raise TypeError(f"RunConfig() got an unexpected keyword argument '{sorted(unknown)[0]}'")
        require_config(distributed_config)
        self.platform, self.device_id, self.rtol, self.atol = platform, device_id, rtol, atol
        self.distributed_config = distributed_config
        for name in ACCEPTED:
            setattr(self, name, accepted.get(name))
