#include "cache/store/verify.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/thread_pool.h"
#include "cache/store/content_reader.h"
#include "cache/store/quiet_folder.h"
#include "cache/store/verify_survey.h"

namespace hf::cache {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kVerdicts[] = {"ok", "wrong", "missing", "unverifiable"};  // by Verdict

// One file on the disk, and all that is asked of it: several etags' links may lead to the same.
struct FileToRead {
  std::vector<ContentToRead> asked;
  std::uint64_t bytes = 0;
};

void judge(ContentToRead& content, const ContentHashes& hashes) {
  Checked& checked = *content.checked;
  const auto wrong = [&](std::string why) {
    checked.verdict = Verdict::wrong;
    checked.why = std::move(why);
  };
  const std::string& hash = checked.etag.size() == 64 ? hashes.sha256 : hashes.git_sha1;
  if (hashes.bytes != checked.bytes)
    wrong("changes while it is read");
  else if (hash != checked.etag)
    wrong("its bytes have the hash " + hash);
  else if (!content.sha256.empty() && hashes.sha256 != content.sha256)
    wrong("its bytes have the sha256 " + hashes.sha256 + ", another than when it was downloaded");
}

// A file that cannot be read: forbidden is no fault of the content, a bad sector is.
void judge(ContentToRead& content, const Error& failure) {
  const int code = access(content.path.c_str(), R_OK) == 0 ? 0 : errno;
  content.checked->verdict = code == ENOENT   ? Verdict::missing
                             : code == EACCES ? Verdict::unverifiable
                                              : Verdict::wrong;
  content.checked->why = failure.what();
}

// Reads files on several threads, each with a reader of its own.
class Reading {
 public:
  explicit Reading(Progress& progress) : progress_(progress) {}

  void run(std::vector<FileToRead>& files, std::size_t threads) {
    // The largest first, so that no thread begins one when the others are done.
    std::stable_sort(files.begin(), files.end(),
                     [](const FileToRead& a, const FileToRead& b) { return a.bytes > b.bytes; });
    if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
    ThreadPool pool(std::min(threads, std::max<std::size_t>(files.size(), 1)));
    pool.for_each(files.size(), [&](std::size_t i) { read(files[i]); });
  }

 private:
  void read(FileToRead& file) {
    check_interrupted();
    std::unique_ptr<ContentReader> reader = take_reader();
    try {
      WantedHashes wanted;
      for (const ContentToRead& content : file.asked) {
        wanted.sha256 |= content.checked->etag.size() == 64 || !content.sha256.empty();
        wanted.git_sha1 |= content.checked->etag.size() == 40;
      }
      const ContentHashes hashes = reader->hash(QuietFile(file.asked[0].path), wanted);
      for (ContentToRead& content : file.asked) judge(content, hashes);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::interrupted) throw;
      for (ContentToRead& content : file.asked) judge(content, error);
    }
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(reader));
  }

  std::unique_ptr<ContentReader> take_reader() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return std::make_unique<ContentReader>(progress_);
    std::unique_ptr<ContentReader> reader = std::move(idle_.back());
    idle_.pop_back();
    return reader;
  }

  Progress& progress_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<ContentReader>> idle_;
};

// What an earlier run read and found right, and nobody has touched since.
using Known = std::set<std::pair<std::string, FileIdentity>>;
Known known_of(const VerifyReport* before) {
  Known known;
  if (before == nullptr) return known;
  for (const CheckedRepo& repo : before->repos)
    for (const Checked& file : repo.files)
      if (file.verdict == Verdict::ok && !file.etag.empty()) known.emplace(file.etag, file.identity);
  return known;
}

std::vector<FileToRead> files_to_read(std::vector<RepoSurvey>& surveys, const Known& known) {
  std::map<std::pair<std::uint64_t, std::uint64_t>, FileToRead> by_inode;
  for (RepoSurvey& survey : surveys)
    for (ContentToRead& content : survey.to_read) {
      const Checked& checked = *content.checked;
      if (known.contains({checked.etag, checked.identity})) continue;
      FileToRead& file = by_inode[{checked.identity.device, checked.identity.inode}];
      file.bytes = checked.bytes;
      file.asked.push_back(std::move(content));
    }
  std::vector<FileToRead> files;
  for (auto& [inode, file] : by_inode) files.push_back(std::move(file));
  return files;
}

VerifyReport read_all(std::vector<RepoSurvey> surveys, const VerifyRequest& request, Progress& progress) {
  std::vector<FileToRead> files = files_to_read(surveys, known_of(request.before));
  VerifyReport report;
  for (const FileToRead& file : files) report.bytes_read += file.bytes;
  if (!files.empty()) {
    progress.begin("verify", report.bytes_read);
    struct End {
      Progress& progress;
      ~End() { progress.end(); }
    } const end{progress};
    Reading(progress).run(files, request.threads);
  }
  for (RepoSurvey& survey : surveys) {
    std::sort(survey.files.begin(), survey.files.end(),
              [](const Checked& a, const Checked& b) { return a.path < b.path; });
    report.repos.push_back(
        {std::move(survey.folder),
         std::move(survey.repo),
         {std::make_move_iterator(survey.files.begin()), std::make_move_iterator(survey.files.end())},
         std::move(survey.left_out)});
  }
  return report;
}

std::vector<Repo> repos_in(const Store& store) {
  std::vector<Repo> repos;
  for (const std::string& name : names_in(store.root()))
    if (Repo repo; parse_folder_name(name, repo)) repos.push_back(std::move(repo));
  return repos;
}

}  // namespace

std::string_view name_of(Verdict verdict) { return kVerdicts[static_cast<std::size_t>(verdict)]; }

std::uint64_t VerifyReport::count(Verdict verdict) const {
  std::uint64_t count = 0;
  for (const CheckedRepo& repo : repos)
    for (const Checked& file : repo.files) count += file.verdict == verdict ? 1 : 0;
  return count;
}

VerifyReport verify(const Store& store, const VerifyRequest& request, Progress& progress) {
  std::vector<RepoSurvey> surveys;
  for (const Repo& repo : request.repos.empty() ? repos_in(store) : request.repos)
    surveys.push_back(survey_repo(store, repo, request));
  if (request.repos.empty())
    if (RepoSurvey shared = survey_shared(store, surveys); !shared.files.empty())
      surveys.push_back(std::move(shared));
  std::sort(surveys.begin(), surveys.end(),
            [](const RepoSurvey& a, const RepoSurvey& b) { return a.folder < b.folder; });
  return read_all(std::move(surveys), request, progress);
}

VerifyReport verify_folder(const fs::path& folder, const VerifyRequest& request, Progress& progress) {
  std::vector<RepoSurvey> surveys;
  surveys.push_back(survey_folder(folder, request));
  return read_all(std::move(surveys), request, progress);
}

}  // namespace hf::cache
