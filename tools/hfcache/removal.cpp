#include "tools/hfcache/removal.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "tools/program/program.h"

namespace hf::cache {
namespace {

using Json = nlohmann::ordered_json;

bool is_unfinished(const Remnant& remnant) {
  return remnant.kind == Remnant::Kind::partial || remnant.kind == Remnant::Kind::incomplete;
}

Json described(const RepoRemoval& removal) {
  const CachedRepo& repo = *removal.repo;
  Json revisions = Json::array(), blobs = Json::array(), unfinished = Json::array(),
       leftovers = Json::array();
  for (const std::size_t at : removal.revisions)
    revisions.push_back({{"commit", repo.revisions[at].commit}, {"refs", repo.revisions[at].refs}});
  for (const std::size_t at : removal.blobs)
    blobs.push_back(repo.contents[at].path.substr(std::string_view("blobs/").size()));
  for (const std::size_t at : removal.remnants)
    (is_unfinished(repo.remnants[at]) ? unfinished : leftovers).push_back(repo.remnants[at].path);
  return {{"repo_id", repo.repo.id},           {"repo_type", name_of(repo.repo.type)},
          {"revisions", std::move(revisions)}, {"refs", removal.refs},
          {"blobs", std::move(blobs)},         {"unfinished", std::move(unfinished)},
          {"leftovers", std::move(leftovers)}};
}

Json described(const RemovalPlan& plan) {
  Json repos = Json::array(), shared = Json::array();
  for (const RepoRemoval& removal : plan.repos) repos.push_back(described(removal));
  for (const SharedBlob& blob : plan.shared) shared.push_back(blob.name);
  return {{"repos", std::move(repos)}, {"shared", std::move(shared)}};
}

using Rows = std::vector<std::vector<std::string>>;

std::string counted(std::size_t count, const std::string& thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

std::string comma_list(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

void add_rows(const RepoRemoval& removal, Rows& rows) {
  const CachedRepo& repo = *removal.repo;
  const auto add = [&](const std::string& what, const std::string& size) {
    rows.push_back({repo.repo.id, std::string(name_of(repo.repo.type)), what, size});
  };
  for (const std::size_t at : removal.revisions) {
    const CachedRevision& revision = repo.revisions[at];
    add("revision " + revision.commit.substr(0, 12) +
            (revision.refs.empty() ? "" : " (" + comma_list(revision.refs) + ")"),
        "");
  }
  for (const std::string& ref : removal.refs) add("ref " + ref, "");
  std::uint64_t blob_bytes = 0, unfinished_bytes = 0;
  for (const std::size_t at : removal.blobs) blob_bytes += repo.contents[at].info.bytes;
  std::size_t unfinished = 0;
  for (const std::size_t at : removal.remnants)
    if (is_unfinished(repo.remnants[at])) {
      ++unfinished;
      unfinished_bytes += repo.remnants[at].info.bytes;
    }
  if (!removal.blobs.empty()) add(counted(removal.blobs.size(), "blob"), human_size(blob_bytes));
  if (unfinished > 0) add(counted(unfinished, "unfinished file"), human_size(unfinished_bytes));
  if (removal.remnants.size() > unfinished)
    add(counted(removal.remnants.size() - unfinished, "leftover"), "");
}

void print_plan(const RemovalPlan& plan) {
  if (plan.is_empty()) return;
  Rows rows;
  for (const RepoRemoval& removal : plan.repos) add_rows(removal, rows);
  for (const SharedBlob& blob : plan.shared)
    rows.push_back({"", "", "shared blob " + blob.name.substr(0, 12), human_size(blob.info.bytes)});
  print_out(format_table({{"REPO_ID"}, {"TYPE"}, {"WHAT"}, {"SIZE", Column::Align::right}}, rows));
}

void note(const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); }

}  // namespace

std::vector<Argument> removal_rows(RemovalOptions& options) {
  return joined({{flag("--dry-run", options.dry_run, "Only show what would go"),
                  flag("-y,--yes", options.yes, "Do not ask; without a terminal nothing is asked anyway")},
                 common_rows(options)});
}

bool is_confirmed(const RemovalOptions& options, const RemovalPlan& plan) {
  if (options.dry_run || options.yes || options.json || plan.is_empty() || isatty(STDIN_FILENO) == 0 ||
      isatty(STDERR_FILENO) == 0)
    return true;
  print_plan(plan);
  std::fflush(stdout);
  std::fprintf(stderr, "Remove this and free %s? [y/N] ", human_size(plan.bytes).c_str());
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

RemovalReport carry_out(const RemovalOptions& options, const Store& store, const RemovalPlan& plan,
                        FileTime newest) {
  RemovalReport report;
  if (!options.dry_run) report = remove(store, plan, newest);
  if (options.json) {
    Json out = {{"dry_run", options.dry_run}, {"bytes", options.dry_run ? plan.bytes : report.bytes}};
    out.update(described(plan));
    out["kept"] = report.kept;
    out["failures"] = report.failures;
    print_json(out);
  } else {
    print_plan(plan);
    print_out(options.dry_run ? "would free " + human_size(plan.bytes) + "\n"
                              : "freed " + human_size(report.bytes) + "\n");
  }
  if (!options.quiet)
    for (const std::string& kept : report.kept) note(kept);
  if (!report.failures.empty()) {
    for (std::size_t i = 1; i < report.failures.size(); ++i) note(report.failures[i]);
    throw Error(ErrorKind::io, report.failures[0]);
  }
  return report;
}

}  // namespace hf::cache
