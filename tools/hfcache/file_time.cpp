#include "tools/hfcache/file_time.h"

#include <array>
#include <ctime>

namespace hf::cache {

std::string utc_time(FileTime time) {
  const std::time_t seconds = std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
  std::tm parts{};
  std::array<char, 64> text{};
  gmtime_r(&seconds, &parts);
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

std::string time_ago(FileTime time, FileTime now) {
  struct Unit {
    std::int64_t seconds;
    const char* name;
  };
  constexpr Unit kUnits[] = {{365 * 86400, "year"}, {30 * 86400, "month"}, {7 * 86400, "week"},
                             {86400, "day"},        {3600, "hour"},        {60, "minute"}};
  const std::int64_t seconds = std::chrono::floor<std::chrono::seconds>(now - time).count();
  for (const Unit& unit : kUnits) {
    const std::int64_t count = seconds / unit.seconds;
    if (count >= 2 || (count == 1 && unit.seconds <= 86400))
      return std::to_string(count) + " " + unit.name + (count == 1 ? " ago" : "s ago");
  }
  return "now";
}

}  // namespace hf::cache
