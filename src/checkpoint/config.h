// config.json: typed look-ups by Hugging Face's own field names; errors name the file and the field.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hf {

// A field that is null counts as absent. Each look-up with a fallback takes it where the field is absent, and
// throws Error{integrity} where it has another type; without one, absence is Error{integrity} too.
class Config {
 public:
  static Config load(
      const std::filesystem::path& folder);  // folder/config.json; Error{not_found} where there is none
  static Config parse(std::string_view json, std::string subject);

  bool has(std::string_view field) const;
  bool is_null(std::string_view field) const;  // said to be nothing, where absence would mean the default
  // Says something: neither absent nor null, false, 0, "", [] or {}; what Python takes for true.
  bool holds(std::string_view field) const;
  std::int64_t integer(std::string_view field) const;
  std::int64_t integer(std::string_view field, std::int64_t fallback) const;
  // A size: also refuses what is below 1 or above `most`. Above the default no model has one; below it
  // products of three cannot overflow unnoticed.
  std::int64_t positive(std::string_view field, std::int64_t fallback,
                        std::int64_t most = std::int64_t{1} << 31) const;
  double number(std::string_view field, double fallback) const;
  bool flag(std::string_view field, bool fallback) const;
  std::string text(std::string_view field, std::string_view fallback) const;
  std::vector<std::string> texts(std::string_view field) const;  // empty where absent
  // The length of id2label, else num_labels, else 2, as transformers' PretrainedConfig counts.
  std::int64_t num_labels() const;
  const std::string& subject() const { return subject_; }

  struct Json;

 private:
  std::shared_ptr<const Json> json_;
  std::string subject_;
};

}  // namespace hf
