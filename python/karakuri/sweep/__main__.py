"""`karakuri sweep` and `karakuri optimize --on`: python -m karakuri.sweep sweep STUDY …"""
from __future__ import annotations

import sys

from .command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
