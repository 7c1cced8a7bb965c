#include "converters/onnx/stored_tensors.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <optional>
#include <set>
#include <system_error>

#include "base/error.h"
#include "base/escape.h"
#include "base/path_rules.h"
#include "base/safe_dir.h"

namespace hf::onnx {
namespace {

namespace fs = std::filesystem;
using ::onnx::TensorProto;

constexpr int kMostAxes = 32;

[[noreturn]] void malformed(const std::string& what) { throw Error(ErrorKind::integrity, what); }

TensorInfo info_of(const TensorProto& proto) {
  const auto dtype = from_onnx(proto.data_type());
  if (!dtype)
    throw Error(ErrorKind::unsupported,
                "element type " + std::to_string(proto.data_type()) + " is not supported");
  if (proto.dims_size() > kMostAxes) malformed("has " + std::to_string(proto.dims_size()) + " axes");
  TensorInfo info{*dtype, Sizes(proto.dims().begin(), proto.dims().end())};
  for (const std::int64_t size : info.shape)
    if (size < 0) malformed("has a negative size");
  return info;
}

std::uint64_t bytes_of(const TensorInfo& info) {
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(elements(info.shape)), size_of(info.dtype), &bytes))
    malformed("has more bytes than 64 bits count");
  return bytes;
}

void require_count(std::uint64_t got, std::uint64_t expected, const char* unit) {
  if (got != expected)
    malformed("has " + std::to_string(got) + " " + unit + ", its shape says " + std::to_string(expected));
}

// Anything but 0 and 1 would be an undefined bool to whoever reads it.
void check_booleans(const TensorView& view) {
  if (view.dtype != DType::boolean) return;
  for (const std::byte b : view.bytes)
    if (std::to_integer<int>(b) > 1) malformed("has a bool that is neither 0 nor 1");
}

template <class To, class From>
Tensor copied(const From& field, const TensorInfo& info) {
  require_count(static_cast<std::uint64_t>(field.size()), static_cast<std::uint64_t>(elements(info.shape)),
                "elements");
  Tensor out(info.dtype, info.shape);
  std::size_t i = 0;
  for (const auto value : field) out.as<To>()[i++] = static_cast<To>(value);
  return out;
}

// Numbers in the field that onnx.proto names for their type.
Tensor from_fields(const TensorProto& proto, const TensorInfo& info) {
  switch (info.dtype) {
    case DType::f32:
      return copied<float>(proto.float_data(), info);
    case DType::f64:
      return copied<double>(proto.double_data(), info);
    case DType::i64:
      return copied<std::int64_t>(proto.int64_data(), info);
    case DType::u64:
      return copied<std::uint64_t>(proto.uint64_data(), info);
    case DType::u32:
      return copied<std::uint32_t>(proto.uint64_data(), info);
    case DType::i32:
      return copied<std::int32_t>(proto.int32_data(), info);
    case DType::i16:
    case DType::u16:
    case DType::f16:
    case DType::bf16:  // the 16 bits as an integer
      return copied<std::uint16_t>(proto.int32_data(), info);
    case DType::i8:
    case DType::u8:
      return copied<std::uint8_t>(proto.int32_data(), info);
    case DType::boolean: {
      Tensor out = copied<std::uint8_t>(proto.int32_data(), info);
      for (std::uint8_t& b : out.as<std::uint8_t>()) b = b != 0 ? 1 : 0;
      return out;
    }
  }
  throw Error(ErrorKind::internal, "an element type without a field");
}

std::uint64_t parse_number(const std::string& text, const char* key) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || at != end || text.empty())
    malformed(std::string("external data: ") + key + " " + in_quotes(text) + " is not a number");
  return value;
}

struct External {
  std::string location;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;
};

External external_of(const TensorProto& proto) {
  External out;
  std::set<std::string> seen;
  for (const auto& pair : proto.external_data()) {
    if (!seen.insert(pair.key()).second)
      malformed("external data: " + in_quotes(pair.key()) + " stands twice");
    if (pair.key() == "location")
      out.location = pair.value();
    else if (pair.key() == "offset")
      out.offset = parse_number(pair.value(), "offset");
    else if (pair.key() == "length")
      out.length = parse_number(pair.value(), "length");
    else if (pair.key() != "checksum")  // of the whole file, by whoever wrote it
      malformed("external data: " + in_quotes(pair.key()) + " is not known");
  }
  if (out.location.empty()) malformed("external data: has no location");
  return out;
}

struct Descriptor {
  int fd;
  ~Descriptor() { close(fd); }
};

// In a Hugging Face cache <repo>/snapshots/<commit>/… links into <repo>/blobs, one name below it.
std::optional<fs::path> blob_of_cache(const fs::path& folder, const std::string& location) {
  std::error_code code;
  const fs::path target = fs::read_symlink(folder / location, code);
  if (code || target.is_absolute()) return std::nullopt;
  const fs::path link = (fs::absolute(folder, code) / location).lexically_normal();
  const fs::path blob = (link.parent_path() / target).lexically_normal();
  for (fs::path up = link.parent_path(); up.has_relative_path(); up = up.parent_path())
    if (up.filename() == "snapshots" && blob.parent_path() == up.parent_path() / "blobs") return blob;
  return std::nullopt;
}

std::shared_ptr<const MappedFile> open_beneath(const fs::path& folder, const std::string& location) {
  check_relative_path(location);
  const fs::path shown = folder / location;
  if (const auto blob = blob_of_cache(folder, location)) {
    const SafeDir blobs(blob->parent_path());
    const Descriptor file{blobs.open(blob->filename().string(), O_RDONLY | O_NONBLOCK)};
    return std::make_shared<const MappedFile>(file.fd, shown);
  }
  const SafeDir dir(folder);
  const Descriptor file{dir.open(location, O_RDONLY | O_NONBLOCK)};
  return std::make_shared<const MappedFile>(file.fd, shown);
}

}  // namespace

InsideTensor inside_tensor(const TensorProto& proto) {
  const TensorInfo info = info_of(proto);
  if (proto.has_segment()) throw Error(ErrorKind::unsupported, "tensors in segments are not supported");
  InsideTensor out;
  if (proto.has_raw_data()) {
    const std::string& raw = proto.raw_data();
    require_count(raw.size(), bytes_of(info), "bytes");
    out.view = {std::as_bytes(std::span(raw)), info.dtype, info.shape};
    check_booleans(out.view);
  } else {
    out.owned = from_fields(proto, info);
    out.view = out.owned.view();
  }
  return out;
}

StoredTensors::StoredTensors(std::shared_ptr<const ::onnx::ModelProto> model, const fs::path& file)
    : model_(std::move(model)),
      folder_(file.has_parent_path() ? file.parent_path() : fs::path(".")),
      subject_(shown(file)) {
  for (const TensorProto& proto : model_->graph().initializer()) {
    with_context("initializer " + in_quotes(proto.name()), [&] {
      const auto [at, fresh] = tensors_.try_emplace(proto.name());
      if (!fresh) malformed("stands twice");
      if (proto.data_location() == TensorProto::EXTERNAL)
        add_external(proto, at->second);
      else
        at->second.tensor = inside_tensor(proto);
    });
  }
}

void StoredTensors::add_external(const TensorProto& proto, Entry& entry) {
  const TensorInfo info = info_of(proto);
  const External external = external_of(proto);
  const std::uint64_t bytes = bytes_of(info);
  require_count(external.length.value_or(bytes), bytes, "bytes");
  std::shared_ptr<const MappedFile>& file = files_[external.location];
  if (!file) file = open_beneath(folder_, external.location);
  const std::uint64_t size = file->bytes().size();
  if (external.offset > size || bytes > size - external.offset)
    malformed("external data: bytes " + std::to_string(external.offset) + " to +" + std::to_string(bytes) +
              " are not in " + in_quotes(external.location) + ", which has " + std::to_string(size));
  entry.file = file;
  entry.offset = static_cast<std::size_t>(external.offset);
  entry.tensor.view = {file->bytes().subspan(entry.offset, static_cast<std::size_t>(bytes)), info.dtype,
                       info.shape};
  check_booleans(entry.tensor.view);
}

const StoredTensors::Entry& StoredTensors::entry(std::string_view name) const {
  const auto at = tensors_.find(name);
  if (at == tensors_.end())
    throw Error(ErrorKind::not_found, subject_ + ": initializer " + in_quotes(name) + " is not there");
  return at->second;
}

std::vector<std::string> StoredTensors::names() const {
  std::vector<std::string> out;
  for (const auto& [name, entry] : tensors_) out.push_back(name);
  return out;
}

TensorInfo StoredTensors::info(std::string_view name) const {
  const TensorView& v = entry(name).tensor.view;
  return {v.dtype, v.shape};
}

TensorView StoredTensors::view(std::string_view name) const { return entry(name).tensor.view; }

void StoredTensors::release(std::string_view name) const {
  const Entry& e = entry(name);
  if (e.file) e.file->drop(e.offset, e.tensor.view.bytes.size());
}

}  // namespace hf::onnx
