// The names that programs give to what is not finished, as the places of a repository's folder hold them.
#pragma once
#include <optional>
#include <string_view>

#include "cache/store/scan.h"

namespace hf::cache {

std::optional<Remnant::Kind> remnant_of_blobs(std::string_view name);  // in blobs/; nothing: none of them
std::optional<Remnant::Kind> remnant_of_repo(std::string_view name);   // beside blobs/

bool is_temporary_ref(std::string_view name);   // in refs/: "main.0123abcd.tmp"
bool is_temporary_link(std::string_view name);  // in a snapshot: ".hf-<process>-<etag>", of hfcache 0.1
bool is_temporary_file(std::string_view name);  // in trees/ and elsewhere

// Snapshots that are being deleted stand in the repository's folder under names that begin so: nobody reads
// them.
constexpr std::string_view kRemovedPrefix = ".hf-removed-";
constexpr std::string_view kTakenRefPrefix = ".taken-ref-";  // and refs that are being removed under these

}  // namespace hf::cache
