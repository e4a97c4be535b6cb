"""`python -m mindtorch_npu` is the command `mindtorch-npu`."""

import sys

from mindtorch_npu.diagnostics import main

if __name__ == "__main__":
    sys.exit(main())
