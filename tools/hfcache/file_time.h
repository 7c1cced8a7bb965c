// Times of files as people and programs read them.
#pragma once
#include <string>

#include "cache/store/folder.h"

namespace hf::cache {

std::string utc_time(FileTime time);                // "2026-11-30T12:00:00Z"
std::string time_ago(FileTime time, FileTime now);  // "3 days ago"; "now" for what is not yet a minute old

}  // namespace hf::cache
