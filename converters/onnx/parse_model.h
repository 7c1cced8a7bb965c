// A stranger's model.onnx as a message, with bounds.
#pragma once
#include <filesystem>
#include <memory>

#include "converters/onnx/proto.h"

namespace hf::onnx {

// Maps and parses the file. Before the parser sees it, its fields are walked and counted: 2 bytes of a file
// may become 200 of memory, so one of more than a few million fields, or nested deeper than ONNX needs, is
// refused. Throws Error{integrity}, or Error{unsupported} above protobuf's 2 GiB.
std::shared_ptr<const ::onnx::ModelProto> parse_model(const std::filesystem::path& file);

// The walk alone. Error{integrity}.
void check_wire(std::span<const std::byte> bytes);

}  // namespace hf::onnx
