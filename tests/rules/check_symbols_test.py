import shutil
import subprocess
import unittest

from made_up_tree import MadeUpTree

import check_symbols

LIBRARY = """
in member good.o:

good.o:
                 U memcpy
                 U std::runtime_error::~runtime_error()@GLIBCXX_3.4
                 U hf::printf_like(int)
                 U snprintf
"""


class SymbolsTest(MadeUpTree):
    def test_a_library_that_keeps_the_rule(self):
        self.assertEqual(check_symbols.problems_in(LIBRARY, "a.a", debug=False), [])

    def test_each_way_to_print_exit_or_abort(self):
        for symbol in ("printf", "__printf_chk", "fprintf", "__vfprintf_chk", "puts", "putchar", "perror", "stderr",
                       "stdout@GLIBC_2.2.5", "abort", "exit", "_exit", "_Exit", "quick_exit", "std::cout", "std::cerr",
                       "std::clog", "__assert_fail"):
            with self.subTest(symbol):
                problems = check_symbols.problems_in(f"{LIBRARY}\nbad.o:\n                 U {symbol}\n", "a.a", False)
                self.assertEqual(problems, [f"a.a(bad.o): refers to {symbol.split('@')[0]}"])

    def test_assertions_of_a_debug_build(self):
        self.assertEqual(check_symbols.problems_in("b.o:\n  U __assert_fail\n", "a.a", debug=True), [])

    def test_a_real_library(self):
        compiler, nm, ar = (shutil.which(n) for n in ("c++", "nm", "ar"))
        if not (compiler and nm and ar):
            self.skipTest("no compiler")
        self.write("a.cpp", '#include <cstdio>\nvoid f(int x) { std::printf("%d", x); }\n')
        subprocess.run([compiler, "-O1", "-c", "a.cpp"], cwd=self.root, check=True)
        subprocess.run([ar, "rc", "a.a", "a.o"], cwd=self.root, check=True)
        self.assertTrue(check_symbols.main([nm, str(self.root / "a.a")]))

    def test_no_library_at_all_is_a_failure(self):
        self.assertTrue(check_symbols.main(["nm"]))


if __name__ == "__main__":
    unittest.main()
