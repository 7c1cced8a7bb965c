// What a model can be written as, and read back from.
#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arch/arch.h"
#include "base/progress.h"

namespace hf {

// One row a format: formats.cpp.
struct Format {
  std::string_view name, help;
  std::string_view version;  // of what is written, for the manifest
  // Writes the model's graphs and weights into a folder that exists; returns the names of the files, each
  // before those that it refers to.
  std::vector<std::string> (*write)(const Model& model, const std::filesystem::path& folder,
                                    Progress& progress);
  Model (*read)(const std::filesystem::path& path);
};

std::span<const Format> formats();
const Format& format_named(std::string_view name);  // throws Error{usage} listing the formats

}  // namespace hf
