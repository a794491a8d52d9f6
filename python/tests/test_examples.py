"""Every example ends with its own check, and every program of the guide runs."""
from __future__ import annotations

import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Examples(unittest.TestCase):
    def test_examples(self) -> None:
        programs = sorted((ROOT / "examples").glob("*.py"))
        self.assertGreaterEqual(len(programs), 4)
        for path in programs:
            with self.subTest(path.name):
                done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=120)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_programs_of_the_guide(self) -> None:
        """The blocks of a page, one after the other as one program."""
        for page, least in (("docs/guide/python.md", 6), ("README.md", 1)):
            blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.S)
            self.assertGreaterEqual(len(blocks), least)
            self.run_program("\n".join(blocks))

    def run_program(self, program: str) -> None:
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, cwd=ROOT)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
