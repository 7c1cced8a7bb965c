#include "tools/program/command_line.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/escape.h"
#include "tools/program/completion.h"
#include "tools/program/help.h"
#include "tools/program/man_page.h"
#include "tools/program/program.h"

namespace hf {
namespace {

// How many letters must change to make one word of the other.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t corner = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, corner + (a[i - 1] == b[j - 1] ? 0 : 1)});
      corner = above;
    }
  }
  return row.back();
}

// ", did you mean X?" where a word that exists is near.
std::string nearest(std::string_view word, const std::vector<std::string>& all) {
  std::string best;
  std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : all)
    if (const std::size_t d = distance(word.substr(0, 64), candidate); d < least) least = d, best = candidate;
  return best.empty() ? "" : ", did you mean " + best + "?";
}

class Parser {
 public:
  Parser(const Command& program, std::span<const std::string> words)
      : program_(program), command_(&program), path_(program.name), words_(words) {}

  std::function<int()> parse() {
    while (next_ < words_.size() && command_->find(words_[next_]) != nullptr) {
      command_ = command_->find(words_[next_++]);
      path_ += ' ' + command_->name;
    }
    bool only_positionals = false;
    while (next_ < words_.size()) {
      const std::string& word = words_[next_++];
      if (only_positionals || word.size() < 2 || word[0] != '-') {
        positionals_.push_back(word);
      } else if (word == "--") {
        only_positionals = true;
      } else {
        if (word == "--help" || word == "-h") return print(help_text(program_, *command_, path_));
        if (word == "--version" && command_ == &program_)
          return print(program_.name + " " + std::string(program_version()) + "\n");
        word[1] == '-' ? long_option(word) : short_options(word);
      }
    }
    if (!command_->run) no_command();
    give_positionals();
    check_required();
    return command_->run;
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw Error(ErrorKind::usage, message + "\nSee `" + path_ + " --help`.");
  }

  static std::function<int()> print(std::string text) {
    return [text = std::move(text)] {
      print_out(text);
      return 0;
    };
  }

  [[noreturn]] void no_command() const {
    std::vector<std::string> names;
    std::string listed;
    for (const Command& command : command_->commands) {
      names.push_back(command.name);
      listed += (listed.empty() ? "" : ", ") + command.name;
    }
    if (positionals_.empty()) fail("a command is expected: " + listed);
    fail(in_quotes(positionals_[0]) + ": is no command of " + path_ + nearest(positionals_[0], names));
  }

  [[noreturn]] void unknown(const std::string& option) const {
    std::vector<std::string> names = {"--help"};
    for (const Argument& argument : command_->arguments)
      if (!argument.is_positional() && !argument.hidden) names.push_back(argument.name);
    fail(escaped(option) + ": is no option of " + path_ + nearest(option, names));
  }

  void give(const Argument& argument, const std::string& value) {
    const bool chosen =
        argument.choices.empty() ||
        std::find(argument.choices.begin(), argument.choices.end(), value) != argument.choices.end();
    if (given_[&argument]++ > 0 && !argument.repeated && !argument.is_flag())
      fail(argument.name + ": is given twice");
    if (!chosen || !argument.take(value))
      fail(argument.name + ": is " + in_quotes(value) + ", " + argument.expected + " is expected");
  }

  void give_next(const Argument& argument, const std::string& written) {
    if (next_ == words_.size()) fail(written + ": a value is expected (" + argument.value + ")");
    const std::string& value = words_[next_++];
    const std::string_view name = std::string_view(value).substr(0, value.find('='));
    if (command_->find_option(name) != nullptr || value == "--help")
      fail(written + ": a value is expected (" + argument.value + "), " + escaped(value) + " is an option; " +
           argument.name + "=" + escaped(value) + " would take it as a value");
    give(argument, value);
  }

  void long_option(const std::string& word) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const Argument* argument = command_->find_option(name);
    if (argument == nullptr) unknown(name);
    if (argument->is_flag()) {
      if (equals != std::string::npos) fail(name + ": takes no value");
      give(*argument, "");
    } else if (equals != std::string::npos) {
      give(*argument, word.substr(equals + 1));
    } else {
      give_next(*argument, name);
    }
  }

  void short_options(const std::string& word) {
    for (std::size_t i = 1; i < word.size(); ++i) {
      const std::string name = {'-', word[i]};
      const Argument* argument = command_->find_option(name);
      if (argument == nullptr) unknown(word.size() == 2 ? name : word);
      if (argument->is_flag()) {
        give(*argument, "");
        continue;
      }
      if (i + 1 == word.size())
        give_next(*argument, name);
      else
        give(*argument, word.substr(i + 1));
      return;
    }
  }

  void give_positionals() {
    auto value = positionals_.begin();
    for (const Argument& argument : command_->arguments) {
      if (!argument.is_positional()) continue;
      while (value != positionals_.end()) {
        give(argument, *value++);
        if (!argument.repeated) break;
      }
    }
    if (value != positionals_.end()) fail(in_quotes(*value) + ": is one argument too many for " + path_);
  }

  void check_required() const {
    for (const Argument& argument : command_->arguments)
      if (argument.required && !given_.contains(&argument)) fail(argument.name + ": is missing");
  }

  const Command& program_;
  const Command* command_;
  std::string path_;  // "hfcache token login"
  std::span<const std::string> words_;
  std::size_t next_ = 0;
  std::vector<std::string> positionals_;
  std::map<const Argument*, int> given_;
};

}  // namespace

std::function<int()> parse_command_line(const Command& program, std::span<const std::string> words) {
  return Parser(program, words).parse();
}

int run_command_line(Command program, int argc, char** argv) {
  return run_program(program.name, [&] {
    program.commands.push_back(completion_command(program));
    program.commands.push_back(man_command(program));
    const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
    return parse_command_line(program, words)();
  });
}

}  // namespace hf
