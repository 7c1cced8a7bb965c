// hfcache: the command line. Flags are bound to the options of commands.h and nothing else happens here.
#include <CLI/CLI.hpp>
#include <functional>

#include "base/error.h"
#include "tools/hfcache/commands.h"
#include "tools/program/program.h"

namespace {

using namespace hf::cache;

constexpr const char* kAbout =
    "Carries models, data sets and spaces from a Hugging Face Hub into the cache that huggingface_hub and "
    "transformers\n"
    "read. Every byte is checked against the Hub's hashes before it gets its name.";

constexpr const char* kExitCodes =
    "Exit codes: 0 ok, 2 usage, 3 not found, 4 not allowed, 5 network, 6 wrong content, 8 local input or "
    "output,\n"
    "130 and 143 interrupted. Variables: HF_ENDPOINT, HF_TOKEN, HF_HOME, HF_HUB_CACHE, HF_HUB_OFFLINE and "
    "the others of\n"
    "huggingface_hub; `hfcache env` shows what they come to.";

constexpr const char* kProgramExamples =
    "Examples:\n"
    "  hfcache download sentence-transformers/all-MiniLM-L6-v2\n"
    "  hfcache path sentence-transformers/all-MiniLM-L6-v2 config.json\n"
    "  hfcache ls\n\n";

constexpr const char* kDownloadExamples =
    "Prints the path of the snapshot. A download that was broken off goes on where it stopped.\n\n"
    "Examples:\n"
    "  hfcache download openai-community/gpt2 --revision main\n"
    "  hfcache download openai-community/gpt2 config.json tokenizer.json\n"
    "  hfcache download openai-community/gpt2 --include '*.safetensors' --include '*.json' --dry-run\n"
    "  hfcache download stanfordnlp/imdb --repo-type dataset --json";

constexpr const char* kLsExamples =
    "One line a revision; what is wrong with a repository is told on stderr.\n\n"
    "Examples:\n"
    "  hfcache ls\n"
    "  hfcache ls --cache-dir /mnt/models --json";

constexpr const char* kPathExamples =
    "Looks into the cache only, never at the network.\n\n"
    "Examples:\n"
    "  hfcache path openai-community/gpt2\n"
    "  hfcache path openai-community/gpt2 config.json --revision main";

constexpr const char* kVerifyExamples =
    "Reads every content once and compares it with the hash that it is named by, and the snapshots with the "
    "lists of\n"
    "their revisions; needs no network. Each is ok, wrong, missing or unverifiable (nothing tells its "
    "hash).\n"
    "Exit code 1 when something is wrong or missing.\n\n"
    "Examples:\n"
    "  hfcache verify\n"
    "  hfcache verify openai-community/gpt2 --revision main --json\n"
    "  hfcache verify --repair\n"
    "  hfcache verify --local-dir ./gpt2";

constexpr const char* kAdoptExamples =
    "PATH is a clone or any other folder of files, a folder that was downloaded into, another cache or a "
    "repository's\n"
    "folder of one, or the flat cache of transformers before 4.22. Every file is hashed, and what is not "
    "what "
    "its\n"
    "revision's list, its notes or its name say is refused with its revision: exit code 6.\n\n"
    "Examples:\n"
    "  hfcache adopt /media/courier/hub\n"
    "  hfcache adopt ./gpt2 --repo-id openai-community/gpt2 --dry-run\n"
    "  hfcache adopt ./gpt2 --repo-id openai-community/gpt2 --revision "
    "607a30d783dfa663caf39e06633721c8d4cfcd7e "
    "--link\n"
    "  hfcache adopt ./my-model --repo-id acme/my-model --synthetic-commit --move";

constexpr const char* kEnvExamples =
    "Tokens and passwords are not shown.\n\n"
    "Examples:\n"
    "  hfcache env\n"
    "  HF_HOME=/mnt/hf hfcache env --json";

class CommandLine {
 public:
  CommandLine() {
    app_.set_version_flag("--version", "hfcache " + std::string(hf::program_version()));
    app_.footer(std::string(kProgramExamples) + kExitCodes);
    app_.require_subcommand(1);
    add_download();
    add_ls();
    add_path();
    add_verify();
    add_adopt();
    add_env();
  }

  int run(int argc, char** argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      return app_.exit(error) == 0 ? 0 : hf::exit_code(hf::ErrorKind::usage);
    }
    return command_();
  }

 private:
  CLI::App& add_command(const char* name, const char* about, const char* examples, CommonOptions& options) {
    CLI::App& command = *app_.add_subcommand(name, about);
    command.footer(examples);
    command.add_option("--cache-dir", options.cache_dir, "The cache, instead of HF_HUB_CACHE or HF_HOME/hub")
        ->type_name("DIR");
    command.add_flag("--json", options.json, "Print JSON");
    command.add_flag("-q,--quiet", options.quiet, "No progress and no notes on stderr");
    return command;
  }

  template <class Options>
  static void add_repo(CLI::App& command, Options& options) {
    command.add_option("REPO_ID", options.repo_id, "organisation/name")->required()->type_name("");
    command.add_option("--repo-type", options.repo_type, "model, dataset or space")
        ->capture_default_str()
        ->type_name("TYPE");
    command.add_option("--revision", options.revision, "Branch, tag or commit")
        ->capture_default_str()
        ->type_name("R");
  }

  void add_download() {
    DownloadOptions& o = download_;
    CLI::App& command = add_command("download", "Bring a revision into the cache", kDownloadExamples, o);
    add_repo(command, o);
    command.add_option("FILE", o.files, "Only these files; \"folder/\" for all in it")->type_name("");
    command.add_option("--include", o.include, "Only files that match; may be repeated; * also matches /")
        ->type_name("GLOB")
        ->allow_extra_args(false);
    command.add_option("--exclude", o.exclude, "No files that match; may be repeated")
        ->type_name("GLOB")
        ->allow_extra_args(false);
    command.add_flag("--force-download", o.force, "Fetch also what is in the cache");
    command.add_flag("--dry-run", o.dry_run, "Only show what would be done");
    command.add_option("--max-workers", o.max_workers, "Files at a time")
        ->capture_default_str()
        ->check(CLI::Range(1, 256))
        ->type_name("N");
    command
        .add_option("--checkpoint-bytes", o.checkpoint_bytes,
                    "Of a large file at most so much is fetched again after a crash")
        ->capture_default_str()
        ->check(CLI::Range(1u << 12, 1u << 30))
        ->type_name("N");
    command
        .add_option("--token-file", o.token_file,
                    "File with the token, instead of HF_TOKEN and HF_TOKEN_PATH")
        ->type_name("F");
    command.callback([this] { command_ = [this] { return run_download(download_); }; });
  }

  void add_ls() {
    add_command("ls", "List what is in the cache", kLsExamples, ls_).callback([this] {
      command_ = [this] { return run_ls(ls_); };
    });
  }

  void add_path() {
    CLI::App& command =
        add_command("path", "Print where a revision or a file of it lies", kPathExamples, path_);
    add_repo(command, path_);
    command.add_option("FILE", path_.file, "A file of the revision")->type_name("");
    command.callback([this] { command_ = [this] { return run_path(path_); }; });
  }

  void add_verify() {
    VerifyOptions& o = verify_;
    CLI::App& command = add_command("verify", "Check all that is in the cache", kVerifyExamples, o);
    command.add_option("REPO_ID", o.repo_ids, "Only these repositories")->type_name("");
    command.add_option("--repo-type", o.repo_type, "model, dataset or space")
        ->capture_default_str()
        ->type_name("TYPE");
    command.add_option("--revision", o.revision, "Only what this branch, tag or commit needs")
        ->type_name("R");
    command.add_option("--local-dir", o.local_dir, "A folder that was downloaded into, instead of the cache")
        ->type_name("DIR");
    command.add_flag("--complete", o.complete, "Files of a revision that were never downloaded are missing");
    command.add_flag("--repair", o.repair, "Fetch from the Hub what is wrong or missing");
    command.add_flag("--strict", o.strict, "Exit code 1 also when something is unverifiable");
    command.add_option("-j,--jobs", o.jobs, "Files read at a time; one a core by default")
        ->check(CLI::Range(1, 256))
        ->type_name("N");
    command
        .add_option("--token-file", o.token_file,
                    "File with the token, instead of HF_TOKEN and HF_TOKEN_PATH")
        ->type_name("F");
    command.callback([this] { command_ = [this] { return run_verify(verify_); }; });
  }

  void add_adopt() {
    AdoptOptions& o = adopt_;
    CLI::App& command = add_command("adopt", "Take over what lies somewhere else", kAdoptExamples, o);
    command.add_option("PATH", o.paths, "Folders to take over")->required()->type_name("");
    command.add_option("--repo-id", o.repo_id, "Whose files they are: needed for a folder of files")
        ->type_name("REPO_ID");
    command.add_option("--repo-type", o.repo_type, "model, dataset or space")
        ->capture_default_str()
        ->type_name("TYPE");
    command.add_option("--revision", o.revision, "The commit that they are of, 40 hex digits")
        ->type_name("C");
    command.add_option("--ref", o.ref, "The branch or tag to write, instead of what PATH tells or main")
        ->type_name("NAME");
    command.add_flag("--synthetic-commit", o.synthetic,
                     "Make up a commit where nothing tells it; ls marks it");
    command.add_flag("--move", o.move, "Remove the files from PATH when all is in the cache");
    command.add_flag("--link", o.link, "Hard links instead of copies");
    command.add_flag("--dry-run", o.dry_run, "Only show what would be done");
    command.add_option("-j,--jobs", o.jobs, "Files hashed at a time; one a core by default")
        ->check(CLI::Range(1, 256))
        ->type_name("N");
    command
        .add_option("--token-file", o.token_file,
                    "File with the token, instead of HF_TOKEN and HF_TOKEN_PATH")
        ->type_name("F");
    command.callback([this] { command_ = [this] { return run_adopt(adopt_); }; });
  }

  void add_env() {
    add_command("env", "Show what the environment variables come to", kEnvExamples, env_).callback([this] {
      command_ = [this] { return run_env(env_); };
    });
  }

  CLI::App app_{kAbout, "hfcache"};
  DownloadOptions download_;
  LsOptions ls_;
  PathOptions path_;
  VerifyOptions verify_;
  AdoptOptions adopt_;
  EnvOptions env_;
  std::function<int()> command_;
};

}  // namespace

int main(int argc, char** argv) {
  return hf::run_program("hfcache", [&] { return CommandLine().run(argc, argv); });
}
