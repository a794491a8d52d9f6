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
        """The blocks of the page, one after the other as one program."""
        text = (ROOT / "docs" / "guide" / "python.md").read_text()
        blocks = re.findall(r"```python\n(.*?)```", text, re.S)
        self.assertGreater(len(blocks), 5)
        done = subprocess.run([sys.executable, "-c", "\n".join(blocks)], capture_output=True, text=True, timeout=120, cwd=ROOT)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
