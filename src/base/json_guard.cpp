#include "base/json_guard.h"

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/escape.h"

namespace hf {
namespace {

using nlohmann::json;

constexpr std::size_t kDeepest = 100;

// Goes through the text before a value is made of it: nlohmann's own hook for that, the callback of parse(),
// looks at all members of an object again for each object in it, which takes minutes for a list of files.
class Guard : public nlohmann::json_sax<json> {
 public:
  Guard(std::string_view subject, DuplicateKeys duplicates) : subject_(subject), duplicates_(duplicates) {}

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(json::number_integer_t) override { return true; }
  bool number_unsigned(json::number_unsigned_t) override { return true; }
  bool number_float(json::number_float_t, const json::string_t&) override { return true; }
  bool string(json::string_t&) override { return true; }
  bool binary(json::binary_t&) override { return true; }
  bool start_array(std::size_t) override { return open(); }
  bool end_array() override { return close(); }
  bool start_object(std::size_t) override { return open(); }
  bool end_object() override { return close(); }

  bool key(json::string_t& key) override {
    if (duplicates_ == DuplicateKeys::refused && !keys_.back().insert(key).second)
      refuse("key " + in_quotes(key) + " stands twice in one object");
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    if (dynamic_cast<const json::out_of_range*>(&error) != nullptr)
      refuse("a number is too large for a double");
    refuse("not JSON, error at byte " + std::to_string(position));
  }

 private:
  bool open() {
    if (keys_.size() >= kDeepest) refuse("JSON is nested deeper than 100 levels");
    keys_.emplace_back();
    return true;
  }
  bool close() {
    keys_.pop_back();
    return true;
  }
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ErrorKind::integrity, std::string(subject_) + ": " + what);
  }

  const std::string_view subject_;
  const DuplicateKeys duplicates_;
  std::vector<std::set<std::string>> keys_;  // of the objects and arrays that are open
};

}  // namespace

json parse_json(std::string_view text, std::string_view subject, DuplicateKeys duplicates) {
  // To the parser a zero byte is the end: what stands behind it would be passed over.
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos)
    throw Error(ErrorKind::integrity,
                std::string(subject) + ": not JSON, error at byte " + std::to_string(zero + 1));
  Guard guard(subject, duplicates);
  json::sax_parse(text, &guard);
  return json::parse(text);
}

}  // namespace hf
