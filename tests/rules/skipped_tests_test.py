import unittest

import made_up_tree  # noqa: finds tools/dev

import skipped_tests

LOG = """Start testing: Nov 30 16:00 UTC
----------------------------------------------------------
1/2 Testing: base/a
1/2 Test: base/a
Output:
----------------------------------------------------------
a passed
<end of output>
Test Passed.
----------------------------------------------------------

2/2 Testing: runtime/on a GPU
2/2 Test: runtime/on a GPU
Output:
----------------------------------------------------------
test skipped: no GPU
<end of output>
Test Pass Reason:
Skip regular expression found in output. Regex=[test skipped: ]
"""


class SkippedTest(unittest.TestCase):
    def test_names_and_reasons(self):
        self.assertEqual(list(skipped_tests.skipped(LOG)), [("runtime/on a GPU", "no GPU")])


if __name__ == "__main__":
    unittest.main()
