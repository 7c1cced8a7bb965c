import unittest

from made_up_tree import MadeUpTree

import check_rooms

SRC = """
hf_room(base DIR base SOURCES base/a.cpp LINKS OpenSSL::Crypto)
hf_room(tensor DIR tensor DEPENDS base SOURCES tensor/b.cpp)  # hf_room(comment DIR x)
"""


class RoomsTest(MadeUpTree):
    def setUp(self):
        super().setUp()
        self.write("src/CMakeLists.txt", SRC)
        self.write("runtime/CMakeLists.txt", "hf_room(runtime DIR . DEPENDS base SOURCES device.cpp)")
        self.write("src/base/error.h", "#include <string>\n")
        self.write("src/tensor/dim.h", '#include "base/error.h"\n#include "tensor/shape.h"\n')
        self.write("src/tensor/shape.h", "")
        self.write("runtime/device.h", '#include "base/error.h"\n')

    def problems(self):
        return check_rooms.check(self.root)[1]

    def assert_problem(self, *parts):
        problems = self.problems()
        self.assertEqual(len(problems), 1, problems)
        for part in parts:
            self.assertIn(part, problems[0])

    def test_a_tree_that_keeps_the_rules(self):
        self.write("tools/hfx/main.cpp", '#include <CLI/CLI.hpp>\n#include "runtime/device.h"\n#include "verb.h"\n')
        self.write("tools/hfx/verb.h", "")
        self.write("tests/tensor/dim_test.cpp", '#include <doctest/doctest.h>\n#include "support/near.h"\n')
        self.write("tests/support/near.h", "")
        self.assertEqual(self.problems(), [])
        self.assertEqual({r: d for r, (_, d) in check_rooms.check(self.root)[0].items()},
                         {"base": set(), "tensor": {"base"}, "runtime": {"base"}})

    def test_an_include_that_the_list_does_not_have(self):
        self.write("runtime/cpu/add.cpp", '#include "tensor/dim.h"\n')
        self.assert_problem("runtime/cpu/add.cpp", "runtime may not include tensor/dim.h of tensor")

    def test_an_include_upwards_by_a_relative_path(self):
        self.write("src/base/a.cpp", '#  include "../tensor/dim.h"\n')
        self.assert_problem("base may not include ../tensor/dim.h of tensor")

    def test_an_include_of_the_tests(self):
        self.write("tests/support/near.h", "")
        self.write("src/base/a.cpp", '#include "tests/support/near.h"\n')
        self.assert_problem("which lies in no room")

    def test_an_include_in_a_comment_is_none(self):
        self.write("src/base/a.cpp", '// \n/*\n#include "tensor/dim.h"\n*/\n')
        self.assertEqual(self.problems(), [])

    def test_a_cycle(self):
        self.write("src/CMakeLists.txt", SRC.replace("DIR base ", "DIR base DEPENDS tensor "))
        self.assert_problem("rooms in a cycle: base, runtime, tensor")

    def test_a_room_that_does_not_exist(self):
        self.write("src/CMakeLists.txt", SRC.replace("DEPENDS base", "DEPENDS base basement"))
        self.assert_problem("tensor depends on basement")

    def test_a_file_in_no_room(self):
        self.write("src/attic/a.cpp", "")
        self.assert_problem("src/attic/a.cpp: lies in no room")

    def test_a_header_that_is_not_there(self):
        self.write("src/base/a.cpp", '#include "base/none.h"\n')
        self.assert_problem('"base/none.h" is not found')

    def test_a_tree_without_rooms(self):
        self.write("src/CMakeLists.txt", "")
        self.write("runtime/CMakeLists.txt", "")
        self.assertIn("no hf_room() call was found", self.problems())

    def test_each_third_party_stays_at_home(self):
        for header in ("curl/curl.h", "onnx/onnx_pb.h", "google/protobuf/message.h", "oneapi/dnnl/dnnl.hpp", "dnnl.h",
                       "cuda_runtime.h", "cublasLt.h", "nccl.h", "mpi.h", "CLI/CLI.hpp", "doctest/doctest.h",
                       "iostream", "cassert"):
            with self.subTest(header):
                self.write("src/tensor/b.cpp", f"#include <{header}>\n")
                self.assert_problem(f"src/tensor/b.cpp: <{header}> belongs to")
        self.write("src/tensor/b.cpp", "#include <openssl/evp.h>\n")
        self.assert_problem("belongs to src/base/*")

    def test_each_third_party_at_home(self):
        self.write("cache/CMakeLists.txt", "hf_room(cache DIR . DEPENDS base SOURCES http/x.cpp)")
        self.write("cache/http/x.cpp", "#include <curl/curl.h>\n")
        self.write("src/base/a.cpp", "#include <openssl/evp.h>\n#include <nlohmann/json.hpp>\n")
        self.write("runtime/cuda/add.cu", "#include <cuda_runtime.h>\n")
        self.write("runtime/cpu/matmul.cpp", "#include <oneapi/dnnl/dnnl.hpp>\n")
        self.assertEqual(self.problems(), [])

    def test_the_json_type_in_a_header(self):
        self.write("src/tensor/json.h", "#include <nlohmann/json.hpp>\n")
        self.assert_problem("<nlohmann/json.hpp> belongs to *.cpp")

    def test_the_command_line_outside_of_main(self):
        self.write("tools/hfx/verb.cpp", "#include <CLI/CLI.hpp>\n")
        self.assert_problem("<CLI/CLI.hpp> belongs to tools/*/main.cpp")


if __name__ == "__main__":
    unittest.main()
