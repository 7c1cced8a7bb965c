import sys
import unittest

from made_up_tree import MadeUpTree

import check_format


class FormatTest(MadeUpTree):
    def test_a_file_laid_out_otherwise_is_found_and_fixed(self):
        formatter = check_format.find_formatter()
        self.write(".clang-format", "BasedOnStyle: Google\n")
        self.write("src/a.cpp", "int   a;\n")
        self.write("src/b.cpp", "int b;\n")
        self.assertEqual(check_format.check(formatter, self.root), [str(self.root / "src/a.cpp")])
        self.assertEqual(check_format.check(formatter, self.root, fix=True), [])
        self.assertEqual((self.root / "src/a.cpp").read_text(), "int a;\n")


if __name__ == "__main__":
    if check_format.find_formatter() is None:
        print("test skipped: clang-format is not installed")
        sys.exit(77)
    unittest.main()
