#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/escape.h"
#include "base/json_guard.h"
#include "checkpoint/safetensors/dtypes.h"
#include "checkpoint/safetensors/safetensors.h"

namespace hf::safetensors {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMaxHeader = 100'000'000;  // as the reference library
constexpr std::size_t kMaxRank = 64, kMaxTensors = 1'000'000;

struct Reader {
  std::string_view subject;
  std::uint64_t data_size;

  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ErrorKind::integrity, std::string(subject) + ": " + what);
  }

  std::uint64_t natural(const json& value, const std::string& what) const {
    if (!value.is_number_unsigned()) refuse(what + " is not a whole number of at least 0");
    return value.get<std::uint64_t>();
  }

  const json& field(const json& entry, std::string_view name, bool good_type,
                    const std::string& tensor) const {
    if (!good_type) refuse(tensor + " has no proper " + in_quotes(name));
    return entry.at(name);
  }

  Sizes shape(const json& list, const std::string& tensor) const {
    Sizes out;
    if (list.size() > kMaxRank)
      refuse(tensor + " has " + std::to_string(list.size()) + " axes, at most 64 are read");
    for (const json& size : list) {
      const std::uint64_t value = natural(size, tensor + ": a size of its shape");
      if (value >> 63 != 0) refuse(tensor + " has a size of " + std::to_string(value));
      out.push_back(static_cast<std::int64_t>(value));
    }
    return out;
  }

  Entry entry(const std::string& name, const json& value) const {
    const std::string tensor = "tensor " + in_quotes(name);
    const auto has = [&](const char* key, json::value_t type) {
      const auto at = value.is_object() ? value.find(key) : value.end();
      return value.is_object() && at != value.end() && at->type() == type;
    };
    Entry out;
    const std::string dtype =
        field(value, "dtype", has("dtype", json::value_t::string), tensor).get<std::string>();
    out.info.shape = shape(field(value, "shape", has("shape", json::value_t::array), tensor), tensor);
    const json& offsets = field(value, "data_offsets", has("data_offsets", json::value_t::array), tensor);
    if (offsets.size() != 2)
      refuse(tensor + " has " + std::to_string(offsets.size()) + " data_offsets, 2 are expected");
    out.begin = natural(offsets[0], tensor + ": data_offsets");
    out.end = natural(offsets[1], tensor + ": data_offsets");
    if (out.begin > out.end)
      refuse(tensor + " ends at " + std::to_string(out.end) + " before it begins at " +
             std::to_string(out.begin));
    if (out.end > data_size)
      refuse(tensor + " ends at " + std::to_string(out.end) + ", data has " + std::to_string(data_size) +
             " bytes");
    const DTypeRow* row = find_dtype(dtype);
    if (row == nullptr)
      throw Error(ErrorKind::unsupported, std::string(subject) + ": " + tensor + " has dtype " +
                                              in_quotes(dtype) + ", which is not read");
    out.info.dtype = row->dtype;
    check_size(out, tensor);
    return out;
  }

  void check_size(const Entry& e, const std::string& tensor) const {
    std::int64_t count = 0, bytes = 0;
    try {
      count = elements(e.info.shape);
    } catch (const Error& error) {
      refuse(tensor + ": " + error.what());
    }
    if (__builtin_mul_overflow(count, static_cast<std::int64_t>(size_of(e.info.dtype)), &bytes) ||
        static_cast<std::uint64_t>(bytes) != e.end - e.begin)
      refuse(tensor + " of " + std::string(name_of(e.info.dtype)) + " " + to_string(e.info.shape) + " has " +
             std::to_string(e.end - e.begin) + " bytes of data, its shape needs another number");
  }

  void metadata(const json& value, Header& header) const {
    if (value.is_null()) return;
    if (!value.is_object()) refuse("\"__metadata__\" is not an object");
    for (const auto& [key, text] : value.items()) {
      if (!text.is_string()) refuse("\"__metadata__\" key " + in_quotes(key) + " is not a text");
      header.metadata[key] = text.get<std::string>();
    }
  }

  // The tensors' bytes cover the data exactly: no holes, no overlap, nothing behind.
  void check_cover(const Header& header) const {
    std::vector<const std::pair<const std::string, Entry>*> sorted;
    for (const auto& tensor : header.tensors) sorted.push_back(&tensor);
    std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) {
      return std::pair(a->second.begin, a->second.end) < std::pair(b->second.begin, b->second.end);
    });
    std::uint64_t at = 0;
    for (const auto* tensor : sorted) {
      if (tensor->second.begin != at)
        refuse("tensor " + in_quotes(tensor->first) + " begins at " + std::to_string(tensor->second.begin) +
               ", " + std::to_string(at) + " is expected (no holes, no overlap)");
      at = tensor->second.end;
    }
    if (at != data_size)
      refuse("tensors end at " + std::to_string(at) + ", data has " + std::to_string(data_size) + " bytes");
  }
};

class File : public Checkpoint {
 public:
  explicit File(const std::filesystem::path& path)
      : file_(path),
        subject_(shown(path)),
        header_(parse_header(file_.bytes(), file_.bytes().size(), subject_)) {}

  std::vector<std::string> names() const override {
    std::vector<std::string> out;
    for (const auto& [name, entry] : header_.tensors) out.push_back(name);
    return out;
  }
  bool has(std::string_view name) const override {
    return header_.tensors.find(name) != header_.tensors.end();
  }
  TensorInfo info(std::string_view name) const override { return entry(name).info; }
  TensorView view(std::string_view name) const override {
    const Entry& e = entry(name);
    return {file_.bytes().subspan(header_.data_offset + e.begin, e.end - e.begin), e.info.dtype,
            e.info.shape};
  }
  void release(std::string_view name) const override {
    const Entry& e = entry(name);
    file_.drop(header_.data_offset + e.begin, e.end - e.begin);
  }
  std::string subject() const override { return subject_; }
  const Header& header() const { return header_; }

 private:
  const Entry& entry(std::string_view name) const {
    const auto at = header_.tensors.find(name);
    if (at == header_.tensors.end())
      throw Error(ErrorKind::not_found, subject_ + ": tensor " + in_quotes(name) + " is not there");
    return at->second;
  }

  MappedFile file_;
  std::string subject_;
  Header header_;
};

}  // namespace

Header parse_header(std::span<const std::byte> bytes, std::uint64_t file_size, std::string_view subject) {
  Reader reader{subject, 0};
  if (bytes.size() < 8)
    reader.refuse("has " + std::to_string(bytes.size()) + " bytes, a header of at least 8 is expected");
  std::uint64_t length = 0;
  static_assert(std::endian::native == std::endian::little, "safetensors is read in place");
  std::memcpy(&length, bytes.data(), 8);
  if (length > kMaxHeader)
    reader.refuse("header of " + std::to_string(length) + " bytes, at most 100000000 are read");
  if (length > file_size - 8 || length > bytes.size() - 8)
    reader.refuse("header of " + std::to_string(length) + " bytes, the file has " +
                  std::to_string(file_size));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + 8, length);
  if (text.empty() || text.front() != '{') reader.refuse("header does not begin with \"{\"");
  const json root = parse_json(text, std::string(subject) + ": header", DuplicateKeys::refused);
  if (root.size() > kMaxTensors)
    reader.refuse("header has " + std::to_string(root.size()) + " tensors, at most 1000000 are read");
  Header header;
  header.data_offset = 8 + length;
  reader.data_size = file_size - header.data_offset;
  for (const auto& [name, value] : root.items()) {
    if (name == "__metadata__")
      reader.metadata(value, header);
    else
      header.tensors.emplace(name, reader.entry(name, value));
  }
  reader.check_cover(header);
  return header;
}

std::shared_ptr<const Checkpoint> open(const std::filesystem::path& file) {
  return std::make_shared<File>(file);
}

std::map<std::string, std::string> read_metadata(const std::filesystem::path& file) {
  return File(file).header().metadata;
}

}  // namespace hf::safetensors
