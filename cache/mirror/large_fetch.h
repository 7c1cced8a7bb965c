// A large file: into a partial file that outlives a kill, over one connection or, where each is slow, over
// several.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cache/mirror/content_hash.h"
#include "cache/mirror/fetch.h"
#include "cache/mirror/file_answer.h"
#include "cache/mirror/part_stream.h"

namespace hf::cache {

class LargeFetch final : public Fetch, public StreamOwner {
 public:
  using Fetch::Fetch;
  ~LargeFetch() override;

  void begin(bool has_lock) override;
  std::size_t connections() const override { return std::max<std::size_t>(streams_.size(), 1); }
  void use_spare_connections() override { fill(); }

 private:
  using Clock = std::chrono::steady_clock;

  // StreamOwner
  void stream_started(PartStream& stream, const Response& head) override;
  void stream_wrote(PartStream& stream, std::uint64_t first, std::span<const std::byte> bytes) override;
  void stream_done(PartStream& stream, const Response& response, std::exception_ptr thrown) override;

  bool adopt();
  bool copy_of_huggingface_hub();
  void open_new();
  void watch();  // a hash follows the part
  void checked(const Ranges& right);
  void hashed(const ContentDigests& digests);

  void fill();
  bool start_stream();
  std::optional<ByteSpan> next_piece() const;
  std::optional<ByteSpan> take_from_slowest();
  std::uint64_t piece_bytes(std::uint64_t unclaimed) const;
  Request request_for(ByteSpan piece, bool& direct) const;
  void pause(std::chrono::milliseconds wait);
  void note_arrival(ByteSpan span);

  void judge(PartStream& stream, const Response& response);
  void again(const Response& response, const std::string& why, bool at_once);
  void wrong(const WrongAnswer& answer, bool is_content);
  void restart(const std::string& why);
  void end();  // of all that is under way; what has come is kept
  void measure_after(std::chrono::milliseconds settling);
  void look();  // at how fast it goes, for more connections

  std::unique_ptr<PartFile> part_;
  std::unique_ptr<ContentHash> hash_;
  unsigned generation_ = 0;  // of the two
  Ranges have_;
  std::vector<std::unique_ptr<PartStream>> streams_, ended_;

  std::string address_, address_etag_;  // where the bytes lie, of the last answer by way of the Hub
  bool ranges_work_ = true, expired_ = false;
  std::size_t wanted_ = 1;  // connections
  bool checking_ = false, copied_ = false, waiting_ = false, over_ = false, has_looked_ = false;

  std::uint64_t at_last_failure_ = 0, received_ = 0;
  int wrong_ = 0;

  Clock::time_point measured_since_;
  std::uint64_t received_before_ = 0;
  double rate_ = 0, rate_of_one_ = 0;  // bytes a second at the last look, of all and of each connection
};

}  // namespace hf::cache
