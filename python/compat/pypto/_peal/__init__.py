# SPDX-License-Identifier: Apache-2.0
"""What the compatibility layer is made of. Programs import from `pypto`, not from here.

    source text --parser--> nodes --stages--> dispatches --lowering--> Peal IR --> plans, proof, worker
"""
