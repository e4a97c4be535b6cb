"""Write the variables that a launcher sets; then end as the argument says. Arguments: folder, how to end."""

import json
import os
import signal
import sys
import time

folder, ending = sys.argv[1], sys.argv[2]
rank, attempt = os.environ["RANK"], os.environ["TORCHELASTIC_RESTART_COUNT"]
names = {"RANK", "WORLD_SIZE", "ROLE_RANK", "ROLE_NAME", "ROLE_WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"}
names |= {"GROUP_RANK", "GROUP_WORLD_SIZE", "MASTER_ADDR", "OMP_NUM_THREADS", "TORCHELASTIC_MAX_RESTARTS"}
names |= {"TORCHELASTIC_USE_AGENT_STORE", "TORCH_NCCL_ASYNC_ERROR_HANDLING", "TORCHELASTIC_SIGNALS_TO_HANDLE"}
with open(os.path.join(folder, f"{attempt}-{rank}.json"), "w") as stream:
    json.dump({name: os.environ.get(name) for name in sorted(names)}, stream)
print(f"hello of {rank}", flush=True)
if rank == "1" and ending == "exit":
    sys.exit(3)
if rank == "1" and ending == "kill":
    os.kill(os.getpid(), signal.SIGKILL)
if ending != "well" and not (ending == "once" and attempt == "1"):
    if rank == "1":
        sys.exit(4)
    time.sleep(60)
