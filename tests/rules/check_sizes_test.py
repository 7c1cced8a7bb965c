import unittest

from made_up_tree import MadeUpTree

import check_sizes


def body(lines):
    return "".join(f"  call({i});\n" for i in range(lines))


class FunctionsTest(unittest.TestCase):
    def assert_functions(self, text, *expected):
        self.assertEqual([(name, lines) for name, _, lines in check_sizes.cpp_functions(text)], list(expected))

    def test_plain_functions(self):
        self.assert_functions("int f() {\n  return 1;\n}\n\nvoid g(int a,\n       int b) {}\n", ("f", 3), ("g", 2))

    def test_the_line_of_a_function(self):
        self.assertEqual(check_sizes.cpp_functions('#include "a"\n\n// x {\nint f() { return 1; }\n'), [("f", 4, 1)])

    def test_namespaces_and_classes_are_looked_into(self):
        self.assert_functions('namespace a::b {\nnamespace {\nextern "C" {\nclass C final : public D {\n'
                              " public:\n  void f() const {\n  }\n"
                              "  enum class E { a, b };\n  int x{3};\n};\n}\n}\n}\n", ("f", 2))

    def test_templates_operators_and_trailing_words(self):
        self.assert_functions("template <class T = int, class F>\nauto f(F&& g) noexcept -> int {\n}\n", ("f", 3))
        self.assert_functions("bool operator==(const A& a, const A& b) {\n  return a.x == b.x;\n}\n", ("operator==", 3))
        self.assert_functions("template <class T> struct S {\n  T f() override { return {}; }\n};\n", ("f", 1))
        self.assert_functions("struct stat info() {\n}\n", ("info", 2))

    def test_constructors_with_initializers_in_braces(self):
        self.assert_functions("C::C(int a)\n    : x_(a), y_{1,\n 2}, z_{3} {\n  f();\n}\nvoid g() {}\n",
                              ("C::C", 5), ("g", 1))

    def test_a_lambda_with_a_name(self):
        self.assert_functions("const auto f = [](int a) {\n  return a;\n};\n", ("f", 3))

    def test_tables_are_no_functions(self):
        self.assert_functions("constexpr Row kRows[] = {\n  {f(1), 2},\n  {g(1), 2},\n};\nint x{f(3)};\n")

    def test_brackets_in_literals_comments_and_directives(self):
        self.assert_functions("#define X {\\\n  {\nint f() {\n  // }\n"
                              "  /* } */ g(\"}\", '}', R\"x(}\")\")x\", 1'000'000);\n}\n", ("f", 4))


class SizesTest(MadeUpTree):
    def problems(self):
        return check_sizes.check(self.root)[1]

    def test_sixty_lines_are_the_longest_function(self):
        self.write("a.cpp", "void f() {\n" + body(58) + "}\n")
        self.assertEqual(self.problems(), [])
        self.write("a.cpp", "\nvoid f() {\n" + body(59) + "}\n")
        self.assertEqual(self.problems(), ["a.cpp:2: f has 61 lines, at most 60 are allowed"])

    def test_device_code_and_scripts_count_too(self):
        self.write("a.cu", "__global__ void f(int* a) {\n" + body(59) + "}\n")
        self.write("b.py", "def f():\n" + "    call()\n" * 60)
        self.assertEqual(len(self.problems()), 2)

    def test_a_file_of_600_lines_is_listed_a_longer_one_fails(self):
        self.write("a.cpp", "int a;\n" * 400)
        self.write("b.cpp", "int a;\n" * 401)
        self.write("c.sh", "true\n" * 600)
        listed, problems = check_sizes.check(self.root)
        self.assertEqual([line.split(":")[0] for line in listed], ["b.cpp", "c.sh"])
        self.assertEqual(problems, [])
        self.write("c.sh", "true\n" * 601)
        self.assertEqual(self.problems(), ["c.sh: 601 lines, at most 600 are allowed"])

    def test_build_folders_and_data_are_left_out(self):
        for folder in ("build/dev", "tests/data", ".cache"):
            self.write(f"{folder}/a.cpp", "int a;\n" * 700)
        self.assertEqual(self.problems(), [])


if __name__ == "__main__":
    unittest.main()
