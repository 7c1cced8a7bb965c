import unittest

from made_up_tree import MadeUpTree

import check_conditions


class ConditionsTest(MadeUpTree):
    def test_each_way_to_ask_for_an_option(self):
        for line in ("#if HF_CUDA", "#ifdef HF_WITH_CUDA", "#ifndef __CUDACC__", "#elif USE_CUDA",
                     "  # if defined(A) || \\\n defined(__NVCC__)"):
            with self.subTest(line):
                self.write("src/base/a.h", "\n" + line + "\n#endif\n")
                problems = check_conditions.check(self.root)
                self.assertEqual(len(problems), 1, problems)
                self.assertIn("src/base/a.h:2: #if on ", problems[0])

    def test_other_conditions_and_comments(self):
        self.write("src/base/a.h", "#ifdef __linux__\n#endif\n// #if HF_CUDA\n#define HF_X 1\n")
        self.assertEqual(check_conditions.check(self.root), [])

    def test_the_home_of_cuda(self):
        self.write("runtime/cuda/a.cuh", "#ifdef __CUDACC__\n#endif\n")
        self.write("tests/emulator/cuda_runtime.h", "#ifdef __CUDACC__\n#endif\n")
        self.assertEqual(check_conditions.check(self.root), [])


if __name__ == "__main__":
    unittest.main()
