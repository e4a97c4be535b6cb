"""Functions that an older pyACL lacks: asked for, they say which versions have them."""

from __future__ import annotations

from types import ModuleType

KNOWN = "8.1.RC1"
"""The version whose functions are known one by one."""
HAD = frozenset(
    "init finalize get_version get_cann_version get_soc_name get_recent_err_msg get_device_capability get_cann_attribute "
    "rt.get_device_count rt.set_device rt.get_device rt.reset_device rt.reset_device_force rt.get_run_mode "
    "rt.query_device_status rt.get_device_utilization_rate rt.device_task_abort rt.get_device_sat_mode "
    "rt.set_device_sat_mode rt.create_context rt.destroy_context rt.set_context rt.get_context rt.ctx_set_sys_param_opt "
    "rt.ctx_get_sys_param_opt rt.create_stream rt.create_stream_with_config rt.destroy_stream rt.destroy_stream_force "
    "rt.synchronize_stream rt.synchronize_stream_with_timeout rt.stream_query rt.stream_abort rt.stream_wait_event "
    "rt.set_stream_failure_mode rt.synchronize_device rt.synchronize_device_with_timeout rt.create_event "
    "rt.create_event_with_flag rt.create_event_ex_with_flag rt.destroy_event rt.record_event rt.reset_event "
    "rt.synchronize_event rt.synchronize_event_with_timeout rt.query_event_status rt.query_event_wait_status "
    "rt.event_elapsed_time rt.malloc rt.malloc_align32 rt.malloc_cached rt.malloc_with_cfg rt.free rt.malloc_host "
    "rt.free_host rt.memset rt.memset_async rt.memcpy rt.memcpy_async rt.memcpy2d rt.memcpy2d_async rt.get_mem_info "
    "rt.device_can_access_peer rt.device_enable_peer_access rt.device_disable_peer_access rt.reserve_mem_address "
    "rt.release_mem_address rt.malloc_physical rt.free_physical rt.map_mem rt.unmap_mem "
    "rt.mem_get_allocation_granularity rt.get_mem_uce_info rt.mem_uce_repair rt.set_op_wait_timeout "
    "rt.set_op_execute_timeout rt.set_exception_info_callback rt.peek_at_last_error rt.get_last_error".split()
)
"""The functions that it has."""
CAME_LATER = frozenset(
    "finalize_reference get_version_str rt.get_device_info rt.device_get_stream_priority_range rt.device_get_uuid "
    "rt.get_devices_topo rt.get_device_res_limit rt.set_device_res_limit rt.reset_device_res_limit "
    "rt.get_logic_dev_id_by_phy_dev_id rt.get_user_dev_id_by_logic_dev_id rt.get_primary_ctx_state "
    "rt.ctx_get_current_default_stream rt.get_stream_available_num rt.get_event_avail_num "
    "rt.device_peer_access_status rt.set_op_execute_timeout_v2".split()
)
"""Those that came after it."""


class MissingFunctionError(AttributeError, NotImplementedError):
    """The installed pyACL lacks a function; the text names it and the versions that have it."""


def guard(acl: ModuleType) -> ModuleType:
    """Let pyACL's modules say which versions have a function that they lack; returns pyACL.

    What asks whether there is one, `hasattr`, is answered as before: the error is an AttributeError.
    """
    for part, prefix in ((acl, ""), (getattr(acl, "rt", None), "rt.")):
        if isinstance(part, ModuleType) and "__getattr__" not in vars(part):
            vars(part)["__getattr__"] = _Missing(part, prefix)
    return acl


class _Missing:
    """A module's `__getattr__`, which is called for what the module has not."""

    def __init__(self, module: ModuleType, prefix: str) -> None:
        self._module = module
        self._prefix = prefix

    def __call__(self, name: str) -> object:
        full = self._prefix + name
        if full not in HAD and full not in CAME_LATER:
            raise AttributeError(f"module '{self._module.__name__}' has no attribute '{name}'")
        since = f"CANN {KNOWN} and later have" if full in HAD else f"versions of CANN after {KNOWN} have"
        raise MissingFunctionError(
            f"acl.{full} is not in the pyACL of this host: {since} it. Update the CANN toolkit, or do without what needs it.",
            name=name,
            obj=self._module,
        )


__all__ = ["CAME_LATER", "HAD", "MissingFunctionError", "guard"]
