#include "base/json_guard.h"

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/escape.h"

namespace hf {

nlohmann::json parse_json(std::string_view text, std::string_view subject, DuplicateKeys duplicates) {
  using nlohmann::json;
  constexpr int kDeepest = 100;
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  const auto watch = [&](int depth, json::parse_event_t event, json& parsed) {
    const bool opens =
        event == json::parse_event_t::object_start || event == json::parse_event_t::array_start;
    if (opens && depth >= kDeepest)
      throw Error(ErrorKind::integrity, std::string(subject) + ": JSON is nested deeper than 100 levels");
    if (duplicates == DuplicateKeys::allowed) return true;
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event == json::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second)
      throw Error(ErrorKind::integrity, std::string(subject) + ": key " +
                                            in_quotes(parsed.get<std::string>()) +
                                            " stands twice in one object");
    return true;
  };
  // To the parser a zero byte is the end: what stands behind it would be passed over.
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos)
    throw Error(ErrorKind::integrity,
                std::string(subject) + ": not JSON, error at byte " + std::to_string(zero + 1));
  try {
    return json::parse(text, watch);
  } catch (const json::parse_error& error) {
    throw Error(ErrorKind::integrity,
                std::string(subject) + ": not JSON, error at byte " + std::to_string(error.byte));
  } catch (const json::out_of_range&) {
    throw Error(ErrorKind::integrity, std::string(subject) + ": a number is too large for a double");
  }
}

}  // namespace hf
