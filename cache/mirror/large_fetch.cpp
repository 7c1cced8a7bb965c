#include "cache/mirror/large_fetch.h"

#include <sys/stat.h>

#include <utility>

#include "base/escape.h"
#include "cache/http/url.h"

namespace hf::cache {

using std::chrono::milliseconds;

namespace {

constexpr std::uint64_t kWorthDividing = 32u << 20;  // missing bytes from which on more connections may help
constexpr double kFastEnough = 300e6;                // bytes a second of one connection
constexpr double kHelped = 1.3;                      // growth of the sum that more connections must bring
constexpr std::size_t kMostConnections = 8;          // of one file
constexpr std::uint64_t kLeastPiece = 4u << 20, kMostPiece = 64u << 20;
constexpr double kPieceSeconds = 2;  // of one connection

bool is_gone(const Response& response) {
  return response.status() == 401 || response.status() == 403 || response.status() == 404 ||
         response.status() == 410;
}

}  // namespace

LargeFetch::~LargeFetch() { end(); }

void LargeFetch::begin(bool has_lock) {
  if (adopt()) return;
  open_new();
  if (has_lock && copy_of_huggingface_hub()) return;
  context_.events.file_started(file_, 0);
  fill();
}

// Goes on with the leftover of which most is there; the others of dead processes go.
bool LargeFetch::adopt() {
  const auto [first, last] = context_.leftovers.equal_range(file_.etag());
  std::vector<Leftover> candidates;
  for (auto at = first; at != last; ++at) candidates.push_back(at->second);
  std::sort(candidates.begin(), candidates.end(),
            [](const Leftover& a, const Leftover& b) { return a.bytes > b.bytes; });
  for (const Leftover& candidate : candidates) {
    Journal journal;
    auto part =
        part_ || candidate.bytes == 0 ? std::nullopt : PartFile::take_over(candidate.path, file_, journal);
    if (!part) {
      remove_dead_partial(candidate.path);
      continue;
    }
    part_ = std::make_unique<PartFile>(std::move(*part));
    watch();
    checking_ = true;
    hash_->check(std::move(journal));
  }
  return part_ != nullptr;
}

// Versions of it that resume a download, which end with 1.17, keep <etag>.incomplete. Nothing tells that its
// bytes are right but the hash of the whole file.
bool LargeFetch::copy_of_huggingface_hub() {
  const std::filesystem::path left = context_.parts / (file_.etag() + ".incomplete");
  struct stat info {};
  if (lstat(left.c_str(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0) return false;
  copied_ = checking_ = true;
  hash_->copy_from(left);
  return true;
}

void LargeFetch::open_new() {
  part_ = std::make_unique<PartFile>(PartFile::create(context_.parts, file_));
  watch();
}

void LargeFetch::watch() {
  const auto on_loop = [this, generation = ++generation_](std::function<void()> work) {
    context_.hub.client().post([this, alive = std::weak_ptr(alive_), generation, work = std::move(work)] {
      if (alive.lock() && generation == generation_ && !over_) work();
    });
  };
  ContentNews news;
  news.whole = [this, on_loop](ContentDigests digests) {
    on_loop([this, digests = std::move(digests)] { hashed(digests); });
  };
  news.checked = [this, on_loop](Ranges right) {
    on_loop([this, right = std::move(right)] { checked(right); });
  };
  news.failed = [this, on_loop](const Error& error) {
    on_loop([this, error] {
      end();
      finish_failed(error);
    });
  };
  hash_ = std::make_unique<ContentHash>(context_.pool, *part_, file_, context_.block_bytes, std::move(news));
}

void LargeFetch::checked(const Ranges& right) {
  checking_ = false;
  have_ = right;
  context_.report.bytes_resumed += have_.total();
  context_.events.file_started(file_, have_.total());
  hash_->extend(have_.prefix());
  fill();
}

void LargeFetch::hashed(const ContentDigests& digests) {
  if (digests.etag != file_.etag() && std::exchange(copied_, false)) {
    restart("what huggingface_hub left of the file is not right");
    return fill();
  }
  if (digests.etag != file_.etag())
    return wrong({"the content's hash is " + digests.etag + ", the revision's list says " + file_.etag()},
                 true);
  over_ = true;
  streams_.clear();
  hash_.reset();
  VerifiedFile verified{.job = job_};
  verified.part = part_->path();
  verified.sha256 = digests.sha256;
  verified.large = std::move(part_);
  finish_verified(std::move(verified));
}

void LargeFetch::fill() {
  if (over_ || checking_) return;
  // A process that was stopped for long may find that another one goes on with its file.
  if (!waiting_ && streams_.empty() && !part_->is_ours()) restart("another process took it for left behind");
  while (!waiting_ && streams_.size() < wanted_ && (streams_.empty() || context_.site.has_spare_connection()))
    if (!start_stream()) return;
}

bool LargeFetch::start_stream() {
  auto piece = next_piece();
  if (!piece && wanted_ > 1) piece = take_from_slowest();
  if (!piece) return false;
  bool direct = false;
  Request request = request_for(*piece, direct);
  if (const auto left = context_.pauses.left(request.url); left.count() > 0) {
    pause(left);
    return false;
  }
  const bool is_part = !streams_.empty() || direct;
  ++(is_part ? context_.report.range_parts : context_.report.resolves);
  if (std::exchange(expired_, false)) ++context_.report.re_resolves;
  streams_.push_back(
      std::make_unique<PartStream>(*this, context_.hub.client(), std::move(request), *piece, direct));
  return true;
}

// The first bytes that nobody brings, so that the hash can follow closely.
std::optional<ByteSpan> LargeFetch::next_piece() const {
  Ranges claimed = have_;
  for (const auto& stream : streams_) claimed.add(stream->rest());
  auto gap = claimed.gap(0, file_.size);
  if (gap && wanted_ > 1)
    gap->end = std::min(gap->end, gap->first + piece_bytes(file_.size - claimed.total()));
  return gap;
}

// About two seconds of one connection; less where the rest would not do for all.
std::uint64_t LargeFetch::piece_bytes(std::uint64_t unclaimed) const {
  const auto wanted = static_cast<std::uint64_t>(std::max(rate_of_one_, 0.0) * kPieceSeconds);
  const std::uint64_t share = std::max(unclaimed / wanted_, kLeastPiece);
  const std::uint64_t bytes = std::min(std::clamp(wanted, kLeastPiece, kMostPiece), share);
  return (bytes + context_.block_bytes - 1) / context_.block_bytes * context_.block_bytes;
}

// The second half of what would take longest.
std::optional<ByteSpan> LargeFetch::take_from_slowest() {
  PartStream* slowest = nullptr;
  double longest = 0;
  for (const auto& stream : streams_) {
    const double seconds = static_cast<double>(stream->rest().size()) / std::max(stream->rate(), 1.0);
    if (!stream->has_answered() || stream->rest().size() < kLeastPiece || seconds <= longest) continue;
    slowest = stream.get();
    longest = seconds;
  }
  if (slowest == nullptr || longest < 0.1) return std::nullopt;
  const ByteSpan rest = slowest->rest();
  const std::uint64_t middle = rest.first + rest.size() / 2;
  slowest->shorten(middle);
  return ByteSpan{middle, rest.end};
}

Request LargeFetch::request_for(ByteSpan piece, bool& direct) const {
  Request request = context_.hub.file_request(context_.repo, context_.commit, file_.path, std::nullopt);
  direct = ranges_work_ && !address_.empty() && address_ != request.url;
  const bool same_address = direct || address_ == request.url;
  if (direct) {
    if (origin_of(address_) != origin_of(request.url)) request.bearer.clear();
    request.url = address_;
  }
  if (!ranges_work_) return request;
  if (piece.first > 0 || piece.end < file_.size) {
    request.range = ByteRange{piece.first};
    if (piece.end < file_.size) request.range->last = piece.end - 1;
    if (same_address) request.if_range = address_etag_;
  }
  request.own_connection = wanted_ > 1;
  return request;
}

void LargeFetch::pause(milliseconds wait) {
  waiting_ = true;
  later(wait, [this] {
    waiting_ = false;
    fill();
  });
}

void LargeFetch::stream_started(PartStream& stream, const Response& head) {
  if (!stream.direct()) {
    check_identity(head, file_, context_.commit);
    address_ = head.last_url();
    address_etag_ = strong_etag(head);
  }
  const std::string etag = strong_etag(head);
  if (stream.direct() && !etag.empty() && !address_etag_.empty() && etag != address_etag_) {
    address_.clear();  // something else lies there now: the Hub knows where the file is
    expired_ = true;
    throw PieceComplete{};
  }
  const ByteSpan rest = stream.rest();
  const std::uint64_t skipped = bytes_before(head, file_, rest.first);
  if (head.status() != 206 && rest != ByteSpan{0, file_.size}) {  // ranges are not served here
    ranges_work_ = false;
    if (streams_.size() > 1) throw PieceComplete{};
    stream.take_whole(file_.size, skipped);
  }
  if (!std::exchange(has_looked_, true)) measure_after(context_.timings.settling);
}

void LargeFetch::stream_wrote(PartStream&, std::uint64_t first, std::span<const std::byte> bytes) {
  part_->write(first, bytes);
  received_ += bytes.size();
  context_.report.bytes_fetched += bytes.size();
  context_.events.advanced(file_, bytes.size());
  note_arrival({first, first + bytes.size()});
}

void LargeFetch::note_arrival(ByteSpan span) {
  const std::uint64_t prefix = have_.prefix(), block = context_.block_bytes;
  have_.add(span);
  if (have_.prefix() > prefix) return hash_->extend(have_.prefix());
  for (std::uint64_t at = span.first / block * block; at < span.end; at += block) {
    const ByteSpan whole{at, std::min(at + block, file_.size)};
    if (whole.end <= span.end && have_.contains(whole)) hash_->add_block(whole);
  }
}

void LargeFetch::stream_done(PartStream& stream, const Response& response, std::exception_ptr thrown) {
  const auto at =
      std::find_if(streams_.begin(), streams_.end(), [&](const auto& one) { return one.get() == &stream; });
  ended_.push_back(std::move(*at));  // this is its own call: deleted later
  streams_.erase(at);
  if (ended_.size() == 1) later(milliseconds(0), [this] { ended_.clear(); });
  note_answer(response);
  if (over_) return;
  try {
    if (thrown) std::rethrow_exception(thrown);
    judge(stream, response);
  } catch (const PieceComplete&) {
    if (!ranges_work_) wanted_ = 1;
    fill();
  } catch (const WrongAnswer& answer) {
    wrong(answer, false);
  } catch (const Error& error) {
    end();
    finish_failed(error);
  }
}

void LargeFetch::judge(PartStream& stream, const Response& response) {
  const ByteSpan rest = stream.rest();
  if (response.ok() && rest.size() == 0) return fill();  // however the answer ended
  if (!response.failure.empty()) {
    if (stream.direct() && !stream.has_answered()) address_.clear();  // another way may be open
    return again(response, response.failure, false);
  }
  if (response.status() == 416)
    throw WrongAnswer{"the server has no bytes after " + std::to_string(rest.first) +
                          ", the revision's list says " + std::to_string(file_.size),
                      true};
  if (!response.ok()) {
    const bool expired = stream.direct() ? is_gone(response) : is_expired(response);
    const Error refused = context_.hub.refusal_of(response, subject());
    if (!expired && !response.is_passing()) throw refused;
    expired_ = expired_ || expired;
    if (expired) address_.clear();
    return again(response, refused.what(), expired && received_ - at_last_failure_ >= kWorthANewTry);
  }
  if (rest.size() > 0)
    return again(response, "the answer ends " + std::to_string(rest.size()) + " bytes early", false);
  fill();
}

void LargeFetch::again(const Response& response, const std::string& why, bool at_once) {
  const bool progress = received_ - at_last_failure_ >= kWorthANewTry;
  at_last_failure_ = received_;
  wanted_ = std::max<std::size_t>(streams_.size(), 1);  // perhaps it was one connection too many
  has_looked_ = false;
  if (at_once) return fill();
  if (const auto wait = wait_after(response, why, progress))
    pause(*wait);
  else
    end();
}

void LargeFetch::wrong(const WrongAnswer& answer, bool is_content) {
  if (++wrong_ >= kMostWrongAnswers) {
    end();
    if (is_content) part_->discard();
    return finish_failed(Error(ErrorKind::integrity, subject() + ": " + answer.what));
  }
  if (is_content || answer.is_other_file) {
    restart(answer.what);
  } else {
    ranges_work_ = false;  // then all of it, once more
    wanted_ = 1;
    streams_.clear();
  }
  later(milliseconds(0), [this] { fill(); });
}

void LargeFetch::restart(const std::string& why) {
  ++generation_;
  streams_.clear();
  context_.events.file_restarted(file_, have_.total(), why);
  have_.clear();
  address_.clear();
  hash_.reset();
  part_->discard();
  wanted_ = 1;
  open_new();
}

void LargeFetch::end() {
  over_ = true;
  streams_.clear();
  if (!hash_) return;
  hash_->stop();
  hash_->note_rest();
  hash_.reset();
}

void LargeFetch::measure_after(milliseconds settling) {
  later(settling, [this] {
    measured_since_ = Clock::now();
    received_before_ = received_;
    later(context_.timings.measuring, [this] { look(); });
  });
}

// Twice as many connections as long as that brings clearly more in all: a server, or a network on the way,
// that limits each of them. A line that one of them fills is left to it.
void LargeFetch::look() {
  const bool limited = context_.hub.client().options().bytes_per_second > 0;
  if (over_ || streams_.empty() || !ranges_work_ || limited || wanted_ >= kMostConnections) return;
  const double seconds = std::chrono::duration<double>(Clock::now() - measured_since_).count();
  const double rate = static_cast<double>(received_ - received_before_) / seconds;
  if (rate >= kFastEnough || file_.size - have_.total() < kWorthDividing) return;
  if (wanted_ > 1 && rate < kHelped * rate_) {
    wanted_ /= 2;  // as before: pieces cost more than one stream
    return;
  }
  measure_after(context_.timings.settling + 2 * streams_.front()->first_byte_after());
  if (!context_.site.has_spare_connection()) return;
  rate_ = rate;
  rate_of_one_ = rate / static_cast<double>(streams_.size());
  wanted_ = std::min(wanted_ * 2, kMostConnections);
  for (const auto& stream : streams_) {
    const ByteSpan rest = stream->rest();  // the first one brings all of it so far
    if (rest.end == file_.size) stream->shorten(std::min(rest.end, rest.first + piece_bytes(rest.size())));
  }
  fill();
}

}  // namespace hf::cache
