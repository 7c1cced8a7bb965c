// The variables of the process, read as Hugging Face's own programs read them.
#pragma once
#include <filesystem>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace hf {

class Environment {
 public:
  using Values = std::map<std::string, std::string, std::less<>>;

  static Environment of_process();
  explicit Environment(Values values) : values_(std::move(values)) {}

  std::optional<std::string> get(std::string_view name) const;  // empty counts as not set
  std::optional<std::string> first_of(std::initializer_list<std::string_view> names) const;
  bool is_on(std::string_view name) const;  // 1, ON, YES or TRUE in any case
  // Whole seconds of at least 1; what is not a number is a usage error, since a typing error must not look
  // like a working setting.
  unsigned seconds(std::string_view name, unsigned otherwise) const;

  // `~` and `~user` at the front and $NAME or ${NAME} anywhere, as a shell does; what is not known stays as
  // it is.
  std::filesystem::path expand(std::string_view path) const;
  std::filesystem::path home() const;

 private:
  Values values_;
};

}  // namespace hf
