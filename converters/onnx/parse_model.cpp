// Protobuf's wire format: a field is a varint key (number << 3 | type) and a value: type 0 a varint, 1 eight
// bytes, 2 a varint length and that many bytes (a message, a string or packed numbers), 5 four bytes. 3 and 4
// are groups, which ONNX has none of.
#include "converters/onnx/parse_model.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/stubs/logging.h>

#include <limits>

#include "base/error.h"
#include "base/escape.h"
#include "base/file.h"

namespace hf::onnx {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

constexpr std::uint64_t kMostFields = 4'000'000;  // a graph of 100,000 nodes has a million
constexpr int kDeepest = 32;  // a tensor in an attribute of a node of a subgraph's subgraph stands at 9

[[noreturn]] void malformed(const char* what) { throw Error(ErrorKind::integrity, what); }

class Walk {
 public:
  explicit Walk(std::span<const std::byte> bytes) : bytes_(bytes) {}

  void message(const Descriptor* type, std::size_t end, int depth) {
    if (depth > kDeepest) malformed("messages are nested too deep");
    while (at_ < end) field(type, end, depth);
    if (at_ != end) malformed("a field ends behind its message");
  }

 private:
  std::uint64_t varint(std::size_t end) {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at_ >= end) malformed("the file is cut off, or a length is wrong");
      const auto byte = std::to_integer<std::uint64_t>(bytes_[at_++]);
      value |= (byte & 0x7F) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    malformed("a number is longer than 64 bits");
  }

  void skip(std::uint64_t length, std::size_t end) {
    if (length > end - at_) malformed("the file is cut off, or a length is wrong");
    at_ += static_cast<std::size_t>(length);
  }

  void field(const Descriptor* type, std::size_t end, int depth) {
    if (++fields_ > kMostFields) malformed("there are too many fields");
    const std::uint64_t key = varint(end);
    if (key > std::numeric_limits<std::uint32_t>::max() || key >> 3 == 0) malformed("a field has no number");
    switch (key & 7) {
      case 0:
        varint(end);
        return;
      case 1:
        return skip(8, end);
      case 5:
        return skip(4, end);
      case 2:
        break;
      default:
        malformed("a field is of a kind that ONNX has none of");
    }
    const std::uint64_t length = varint(end);
    const std::size_t begin = at_;
    skip(length, end);
    const FieldDescriptor* known =
        type == nullptr ? nullptr : type->FindFieldByNumber(static_cast<int>(key >> 3));
    if (known == nullptr || known->type() != FieldDescriptor::TYPE_MESSAGE) return;
    at_ = begin;
    message(known->message_type(), begin + static_cast<std::size_t>(length), depth + 1);
  }

  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  std::uint64_t fields_ = 0;
};

}  // namespace

void check_wire(std::span<const std::byte> bytes) {
  Walk(bytes).message(::onnx::ModelProto::descriptor(), bytes.size(), 1);
}

std::shared_ptr<const ::onnx::ModelProto> parse_model(const std::filesystem::path& path) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw Error(ErrorKind::unsupported, "has more than 2 GiB, weights in a file beside it are expected");
  if (bytes.empty()) malformed("the file is empty");
  check_wire(bytes);
  auto model = std::make_shared<::onnx::ModelProto>();
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                                static_cast<int>(bytes.size()));
  stream.SetTotalBytesLimit(static_cast<int>(bytes.size()));
  stream.SetRecursionLimit(2 * kDeepest);
  const google::protobuf::LogSilencer silence;  // what is wrong is said by the exception
  if (!model->ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage())
    malformed("is not an ONNX model");
  return model;
}

}  // namespace hf::onnx
