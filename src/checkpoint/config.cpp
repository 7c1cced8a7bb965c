#include "checkpoint/config.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/json_guard.h"

namespace hf {

struct Config::Json {
  nlohmann::json root;
};

namespace {

using nlohmann::json;

const json* find(const json& root, std::string_view field) {
  const auto at = root.find(field);
  return at == root.end() || at->is_null() ? nullptr : &*at;
}

[[noreturn]] void wrong_type(const std::string& subject, std::string_view field, const json& got,
                             std::string_view wanted) {
  throw Error(ErrorKind::integrity,
              subject + ": " + in_quotes(field) + " is " +
                  escaped(got.is_structured() ? std::string(got.type_name()) : got.dump(), 60) + ", " +
                  std::string(wanted) + " is expected");
}

}  // namespace

Config Config::load(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "config.json";
  return parse(read_text(file, 16u << 20), shown(file));
}

Config Config::parse(std::string_view text, std::string subject) {
  Config config;
  auto root = std::make_shared<Json>(Json{parse_json(text, subject)});
  if (!root->root.is_object()) throw Error(ErrorKind::integrity, subject + ": is not a JSON object");
  config.json_ = std::move(root);
  config.subject_ = std::move(subject);
  return config;
}

bool Config::has(std::string_view field) const { return find(json_->root, field) != nullptr; }

bool Config::is_null(std::string_view field) const {
  const auto at = json_->root.find(field);
  return at != json_->root.end() && at->is_null();
}

bool Config::holds(std::string_view field) const {
  const json* value = find(json_->root, field);
  if (value == nullptr) return false;
  if (value->is_boolean()) return value->get<bool>();
  if (value->is_number()) return value->get<double>() != 0;
  return value->is_string() ? !value->get_ref<const std::string&>().empty() : !value->empty();
}

std::int64_t Config::integer(std::string_view field) const {
  if (!has(field)) throw Error(ErrorKind::integrity, subject_ + ": has no field " + in_quotes(field));
  return integer(field, 0);
}

std::int64_t Config::integer(std::string_view field, std::int64_t fallback) const {
  const json* value = find(json_->root, field);
  if (value == nullptr) return fallback;
  const bool fits =
      value->is_number_integer() && !(value->is_number_unsigned() && value->get<std::uint64_t>() >> 63 != 0);
  if (!fits) wrong_type(subject_, field, *value, "a whole number");
  return value->get<std::int64_t>();
}

std::int64_t Config::positive(std::string_view field, std::int64_t fallback, std::int64_t most) const {
  const std::int64_t value = integer(field, fallback);
  if (value < 1 || value > most)
    throw Error(ErrorKind::integrity, subject_ + ": " + in_quotes(field) + " is " + std::to_string(value) +
                                          ", a number from 1 to " + std::to_string(most) + " is expected");
  return value;
}

double Config::number(std::string_view field, double fallback) const {
  const json* value = find(json_->root, field);
  if (value == nullptr) return fallback;
  if (!value->is_number()) wrong_type(subject_, field, *value, "a number");
  const double number = value->get<double>();
  if (!std::isfinite(number)) wrong_type(subject_, field, *value, "a finite number");
  return number;
}

bool Config::flag(std::string_view field, bool fallback) const {
  const json* value = find(json_->root, field);
  if (value == nullptr) return fallback;
  if (!value->is_boolean()) wrong_type(subject_, field, *value, "true or false");
  return value->get<bool>();
}

std::string Config::text(std::string_view field, std::string_view fallback) const {
  const json* value = find(json_->root, field);
  if (value == nullptr) return std::string(fallback);
  if (!value->is_string()) wrong_type(subject_, field, *value, "a text");
  return value->get<std::string>();
}

std::vector<std::string> Config::texts(std::string_view field) const {
  std::vector<std::string> out;
  const json* value = find(json_->root, field);
  if (value == nullptr) return out;
  if (!value->is_array()) wrong_type(subject_, field, *value, "a list of texts");
  for (const json& item : *value) {
    if (!item.is_string()) wrong_type(subject_, field, item, "a list of texts");
    out.push_back(item.get<std::string>());
  }
  return out;
}

std::int64_t Config::num_labels() const {
  const json* labels = find(json_->root, "id2label");
  if (labels == nullptr) return positive("num_labels", 2);
  if (!labels->is_object() || labels->empty())
    wrong_type(subject_, "id2label", *labels, "an object with an entry for each label");
  return static_cast<std::int64_t>(labels->size());
}

}  // namespace hf
