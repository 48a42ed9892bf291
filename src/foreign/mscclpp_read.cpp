// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "foreign/json_lines.hpp"
#include "foreign/mscclpp.hpp"
#include "foreign/trouble.hpp"
#include "language/names.hpp"
#include "peal/limits.hpp"

namespace peal::foreign {
namespace {

constexpr std::int64_t kMost = 1 << 20;  // chunks, and anything else that is counted
constexpr std::int64_t kMostBytes = std::int64_t{1} << 32;
constexpr std::int64_t kMostParts = 1 << 12;  // of a chunk, and bytes that it is aligned to

using Names = std::vector<std::string_view>;

// Why what is known is not read.
constexpr const char* kSwitch =
    "switch channels are not read: what a multicast reads and writes on the way is not modelled";
constexpr const char* kRelaxed =
    "relaxed signals are not read: they order what is done and not what is seen, and that is not "
    "modelled";
constexpr const char* kOld =
    "this is the older form of these files: write it again with a newer mscclpp";

struct Name {
    PlusType type = PlusType::nop;
    const char* refusal = nullptr;
    bool then_signals = false, then_flushes = false;
};
const std::map<std::string, Name, std::less<>> kOperations = {
    {"nop", {PlusType::nop}},
    {"put", {PlusType::put}},
    {"get", {PlusType::get}},
    {"copy", {PlusType::copy}},
    {"re", {PlusType::reduce}},
    {"res", {PlusType::reduce}},
    {"rre", {PlusType::reduce}},
    {"rres", {PlusType::reduce}},
    {"ppkt", {PlusType::put_packets}},
    {"cpkt", {PlusType::put_packets}},
    {"rppkt", {PlusType::read_put_packets}},
    {"repkt", {PlusType::reduce_packets}},
    {"respkt", {PlusType::reduce_packets}},
    {"recpkt", {PlusType::reduce_packets}},
    {"recspkt", {PlusType::reduce_packets}},
    {"upkt", {PlusType::unpack_packets}},
    {"signal", {PlusType::signal}},
    {"wait", {PlusType::wait}},
    {"barrier", {PlusType::barrier}},
    {"sem_acquire", {PlusType::acquire}},
    {"sem_release", {PlusType::release}},
    {"pipeline", {PlusType::pipeline}},
    {"pws", {PlusType::put, nullptr, true}},
    {"pwsf", {PlusType::put, nullptr, true, true}},
    {"flush", {PlusType::flush}},
    {"glres", {PlusType::nop, kSwitch}},
    {"gstore", {PlusType::nop, kSwitch}},
    {"rlxsignal", {PlusType::signal, kRelaxed}},
    {"rlxwait", {PlusType::wait, kRelaxed}},
};

// A value of the file, and what is expected of it.
class Value {
public:
    Value(const JsonNode& node, const Source& source) : node_(node), source_(source) {}

    std::uint32_t line() const { return node_.line; }
    [[noreturn]] void refuse(const std::string& message, const std::string& hint = {}) const {
        foreign::refuse(source_, node_.line, message, hint);
    }

    void expect_only(const Names& known) const {
        expect(JsonNode::Kind::object, "an object");
        for (const auto& [key, value] : node_.fields) {
            if (std::find(known.begin(), known.end(), key) != known.end()) continue;
            const bool is_old = key == "inputChunks" || key == "i_cids" || key == "o_cids" ||
                                key == "connectedTo" || key == "cids";
            const std::string nearest = language::did_you_mean(key, known);
            foreign::refuse(source_, value.line, fmt::format("there is no field '{}' here", key),
                            is_old            ? kOld
                            : nearest.empty() ? fmt::format("expected {}", fmt::join(known, ", "))
                                              : nearest);
        }
    }
    bool has(std::string_view name) const { return node_.find(name) != nullptr; }
    Value at(std::string_view name) const {
        expect(JsonNode::Kind::object, "an object");
        const JsonNode* found = node_.find(name);
        if (!found) refuse(fmt::format("expected a field '{}' here", name));
        return {*found, source_};
    }
    std::string text() const {
        expect(JsonNode::Kind::text, "text");
        return node_.text;
    }
    bool truth() const {
        expect(JsonNode::Kind::truth, "true or false");
        return node_.truth;
    }
    std::int64_t integer(std::int64_t least, std::int64_t most) const {
        expect(JsonNode::Kind::integer, "an integer");
        if (node_.integer < least || node_.integer > most) {
            refuse(fmt::format("expected {}..{}, found {}", least, most, node_.integer));
        }
        return node_.integer;
    }
    template <class Each>
    void for_each(Each&& each) const {
        expect(JsonNode::Kind::list, "a list");
        for (const auto& [key, item] : node_.fields) each(Value(item, source_));
    }

private:
    void expect(JsonNode::Kind kind, const char* what) const {
        if (node_.kind == kind) return;
        refuse(fmt::format("expected {}, found {}", what, node_.kind_name()));
    }

    const JsonNode& node_;
    const Source& source_;
};

PlusBuffer buffer_of(const Value& value) {
    const std::string name = value.text();
    if (name == "i") return PlusBuffer::input;
    if (name == "o") return PlusBuffer::output;
    if (name == "s") return PlusBuffer::scratch;
    value.refuse(fmt::format("expected i, o or s (input, output, scratch), found '{}'", name));
}

// Whether it is a port channel.
bool is_port(const Value& value) {
    const std::string name = value.text();
    if (name == "switch") value.refuse(kSwitch);
    if (name != "memory" && name != "port" && name != "none") {
        value.refuse(fmt::format("expected memory, port, switch or none, found '{}'", name));
    }
    return name == "port";
}

struct RemoteBuffer {
    int rank = 0;
    PlusBuffer buffer = PlusBuffer::input;
};

// What the thread blocks of a GPU refer to by number.
struct References {
    int rank = 0;
    std::array<std::vector<PlusChannel>, 2> channels;  // memory, port
    std::vector<RemoteBuffer> buffers;
    std::size_t semaphores = 0;
};

class GpuReader {
public:
    GpuReader(int rank, int nranks) : nranks_(nranks) { known_.rank = rank; }

    PlusGpu read(const Value& value) {
        value.expect_only({"id", "input_chunks", "output_chunks", "scratch_chunks", "threadblocks",
                           "channels", "remote_buffers", "semaphores"});
        if (value.at("id").integer(0, kMost) != known_.rank) {
            value.at("id").refuse(
                fmt::format("expected {}, since GPUs are numbered from 0", known_.rank));
        }
        PlusGpu gpu;
        gpu.line = value.line();
        gpu.input = value.at("input_chunks").integer(0, kMost);
        gpu.output = value.at("output_chunks").integer(0, kMost);
        gpu.scratch = value.at("scratch_chunks").integer(0, kMost);
        if (value.has("channels")) read_channels(value.at("channels"));
        if (value.has("remote_buffers")) read_buffers(value.at("remote_buffers"));
        if (value.has("semaphores")) {
            value.at("semaphores").for_each([&](const Value& each) {
                each.expect_only({"init_value"});
                gpu.semaphores.push_back(each.at("init_value").integer(0, kMost));
            });
        }
        known_.semaphores = gpu.semaphores.size();
        value.at("threadblocks").for_each([&](const Value& each) {
            gpu.blocks.push_back(block_of(each, gpu.blocks.size()));
        });
        return gpu;
    }

private:
    int peer_of(const Value& value) const {
        const auto peer = static_cast<int>(value.integer(0, nranks_ - 1));
        if (peer == known_.rank) value.refuse("expected another GPU, found this one");
        return peer;
    }

    void read_channels(const Value& list) {
        std::map<std::pair<bool, int>, std::int64_t> numbers;  // by type and peer
        list.for_each([&](const Value& each) {
            each.expect_only({"channel_type", "connected_to", "buffer_type", "rank_groups"});
            const bool port = is_port(each.at("channel_type"));
            each.at("connected_to").for_each([&](const Value& one) {
                const int peer = peer_of(one);
                known_.channels[port].push_back({peer, numbers[{port, peer}]++, port});
            });
        });
    }

    void read_buffers(const Value& list) {
        list.for_each([&](const Value& each) {
            each.expect_only({"rank", "type", "access_channel_types"});
            each.at("access_channel_types").for_each([](const Value& type) { is_port(type); });
            known_.buffers.push_back({peer_of(each.at("rank")), buffer_of(each.at("type"))});
        });
    }

    PlusBlock block_of(const Value& value, std::size_t number) {
        value.expect_only({"id", "ops", "channels", "remote_buffer_refs"});
        if (value.at("id").integer(0, kMost) != static_cast<std::int64_t>(number)) {
            value.at("id").refuse(
                fmt::format("expected {}, since thread blocks are numbered from 0", number));
        }
        block_channels_ = {};
        block_buffers_ = {};
        if (value.has("channels")) {
            value.at("channels").for_each([&](const Value& each) {
                each.expect_only({"channel_type", "channel_ids", "buff"});
                const bool port = is_port(each.at("channel_type"));
                pick(each.at("channel_ids"), known_.channels[port], "channels",
                     block_channels_[port]);
            });
        }
        if (value.has("remote_buffer_refs")) {
            value.at("remote_buffer_refs").for_each([&](const Value& each) {
                each.expect_only({"access_channel_type", "remote_buffer_ids"});
                const bool port = is_port(each.at("access_channel_type"));
                pick(each.at("remote_buffer_ids"), known_.buffers, "remote buffers",
                     block_buffers_[port]);
            });
        }
        PlusBlock block;
        block.line = value.line();
        value.at("ops").for_each(
            [&](const Value& each) { block.operations.push_back(operation_of(each, true)); });
        return block;
    }

    // The entries of a table that a list of numbers names.
    template <class Entry>
    static void pick(const Value& ids, const std::vector<Entry>& table, std::string_view what,
                     std::vector<Entry>& picked) {
        ids.for_each([&](const Value& id) {
            const auto number = static_cast<std::size_t>(id.integer(0, kMost));
            if (number >= table.size()) {
                id.refuse(
                    fmt::format("there are {} {}, found number {}", table.size(), what, number));
            }
            picked.push_back(table[number]);
        });
    }

    PlusPlace place_of(const Value& value, bool port) const {
        value.expect_only({"type", "buffer_id", "index", "size", "switch_channel_id"});
        if (value.has("switch_channel_id")) value.at("switch_channel_id").refuse(kSwitch);
        PlusPlace place;
        place.rank = known_.rank;
        place.index = value.at("index").integer(0, kMost);
        place.chunks = value.at("size").integer(1, kMost);
        if (!value.has("buffer_id")) {
            place.buffer = buffer_of(value.at("type"));
            return place;
        }
        const Value id = value.at("buffer_id");
        const auto number = static_cast<std::size_t>(id.integer(0, kMost));
        const std::vector<RemoteBuffer>& buffers = block_buffers_[port];
        if (number >= buffers.size()) {
            id.refuse(fmt::format("the thread block refers to {} remote buffers, found number {}",
                                  buffers.size(), number));
        }
        place.rank = buffers[number].rank;
        place.buffer = buffers[number].buffer;
        return place;
    }

    PlusOperation operation_of(const Value& value, bool may_loop) {
        value.expect_only({"name", "src_buff", "dst_buff", "channel_ids", "channel_type",
                           "reduce_op", "tbg_info", "barrier_id", "num_threadblocks",
                           "semaphore_ids", "iter_context", "ops"});
        const std::string name = value.at("name").text();
        const auto known = kOperations.find(name);
        if (known == kOperations.end()) {
            Names names;
            for (const auto& [each, type] : kOperations) names.push_back(each);
            const std::string nearest = language::did_you_mean(name, names);
            value.at("name").refuse(
                fmt::format("there is no operation '{}'", name),
                nearest.empty() ? fmt::format("expected {}", fmt::join(names, ", ")) : nearest);
        }
        if (known->second.refusal) value.at("name").refuse(known->second.refusal);
        const bool port = value.has("channel_type") && is_port(value.at("channel_type"));
        PlusOperation operation;
        operation.line = value.at("name").line();
        operation.type = known->second.type;
        operation.then_signals = known->second.then_signals;
        operation.then_flushes = known->second.then_flushes;
        read_places(value, "src_buff", port, operation.src);
        read_places(value, "dst_buff", port, operation.dst);
        expect_places(value, operation);
        read_channels_of(value, port, operation);
        if (value.has("tbg_info")) {
            const Value info = value.at("tbg_info");
            info.expect_only({"tb_id", "tbg_size"});
            operation.slices = info.at("tbg_size").integer(1, kMostParts);
            operation.slice = info.at("tb_id").integer(0, operation.slices - 1);
        }
        if (operation.type == PlusType::barrier) {
            operation.barrier = value.at("barrier_id").integer(0, kMost);
            operation.blocks = value.at("num_threadblocks").integer(1, kMost);
        }
        if (operation.type == PlusType::acquire || operation.type == PlusType::release) {
            const auto most = static_cast<std::int64_t>(known_.semaphores) - 1;
            value.at("semaphore_ids").for_each([&](const Value& id) {
                operation.semaphores.push_back(id.integer(0, most));
            });
        }
        if (operation.type == PlusType::pipeline) read_loop(value, may_loop, operation);
        return operation;
    }

    void read_places(const Value& value, const char* name, bool port,
                     std::vector<PlusPlace>& places) const {
        if (!value.has(name)) return;
        value.at(name).for_each([&](const Value& each) { places.push_back(place_of(each, port)); });
    }

    void read_channels_of(const Value& value, bool port, PlusOperation& operation) const {
        const PlusType type = operation.type;
        const bool is_sync =
            type == PlusType::signal || type == PlusType::wait || type == PlusType::flush;
        const bool is_port_only = type == PlusType::flush || operation.then_signals;
        if (is_port_only && !port) {
            value.refuse(fmt::format("{} is for port channels: expected \"channel_type\": \"port\"",
                                     value.at("name").text()));
        }
        const bool is_put = type == PlusType::put || type == PlusType::put_packets ||
                            type == PlusType::read_put_packets;
        if (port && !is_sync && !is_put) {
            value.refuse(
                fmt::format("{} on port channels is not read: expected put, ppkt, rppkt, signal, "
                            "wait or flush there",
                            value.at("name").text()));
        }
        if (!is_sync && !port) return;
        pick(value.at("channel_ids"), block_channels_[port], "channels of the thread block",
             operation.channels);
        if (is_put && operation.channels.size() != operation.dst.size()) {
            value.refuse(fmt::format("expected a channel for each of {} destinations, found {}",
                                     operation.dst.size(), operation.channels.size()));
        }
    }

    void read_loop(const Value& value, bool may_loop, PlusOperation& operation) {
        if (!may_loop) value.refuse("a pipeline is not part of a pipeline");
        const Value loop = value.at("iter_context");
        loop.expect_only({"unit_size", "num_chunks"});
        operation.unit_bytes = loop.at("unit_size").integer(1, kMostBytes);
        operation.unit_chunks = loop.at("num_chunks").integer(1, kMost);
        value.at("ops").for_each(
            [&](const Value& each) { operation.operations.push_back(operation_of(each, false)); });
    }

    // How many places it takes, and where they are.
    static void expect_places(const Value& value, const PlusOperation& operation) {
        const std::size_t sources = operation.src.size(), destinations = operation.dst.size();
        const auto expect = [&](bool is_right, std::string_view what) {
            if (!is_right) {
                value.refuse(fmt::format("{}: expected {}, found {} sources and {} destinations",
                                         value.at("name").text(), what, sources, destinations));
            }
        };
        switch (operation.type) {
            case PlusType::put:
            case PlusType::get:
            case PlusType::put_packets:
                expect(sources > 0 && sources == destinations, "as many sources as destinations");
                break;
            case PlusType::copy:
            case PlusType::unpack_packets:
                expect(sources == 1 && destinations == 1, "one source and one destination");
                break;
            case PlusType::read_put_packets:
                expect(sources == 1 && destinations > 0, "one source and some destinations");
                break;
            case PlusType::reduce:
            case PlusType::reduce_packets:
                expect(sources > 0 && destinations > 0, "some sources and some destinations");
                break;
            default: expect(sources == 0 && destinations == 0, "no memory");
        }
        const auto& first = sources > 0 ? operation.src.front() : PlusPlace{};
        for (const auto* places : {&operation.src, &operation.dst}) {
            for (const PlusPlace& place : *places) {
                if (sources > 0 && place.chunks != first.chunks &&
                    operation.type != PlusType::put && operation.type != PlusType::get &&
                    operation.type != PlusType::put_packets) {
                    value.refuse(fmt::format("expected places of one size, found {} and {} chunks",
                                             first.chunks, place.chunks));
                }
            }
        }
        for (std::size_t i = 0; i < std::min(sources, destinations); ++i) {
            if (operation.src[i].chunks == operation.dst[i].chunks) continue;
            value.refuse(fmt::format("expected a destination of {} chunks, found {}",
                                     operation.src[i].chunks, operation.dst[i].chunks));
        }
    }

    int nranks_;
    References known_;
    std::array<std::vector<PlusChannel>, 2> block_channels_;  // memory, port
    std::array<std::vector<RemoteBuffer>, 2> block_buffers_;
};

// Any name may be that of a collective of one's own; a slip in a known one is none.
std::string collective_of(const Value& value) {
    const std::string name = value.text();
    const Names known = {"allreduce", "allgather", "reducescatter", "alltoall", "broadcast"};
    const std::string nearest =
        collective_called(name) ? std::string() : language::did_you_mean(name, known);
    if (!nearest.empty()) {
        value.refuse(fmt::format("there is no collective '{}'", name), nearest);
    }
    return name;
}

}  // namespace

PlusPlan read_mscclpp(const SourcePtr& source) {
    const JsonNode root = json_with_lines(*source);
    const Value value(root, *source);
    PlusPlan plan;
    plan.source = source;
    plan.line = value.line();
    plan.name = value.at("name").text();
    if (value.has("colletive")) value.at("colletive").refuse(kOld);
    value.expect_only({"name", "collective", "protocol", "inplace", "reuse_resources", "gpus",
                       "num_threads_per_block", "use_double_scratch_buffer", "buffer_alignment",
                       "min_message_size", "max_message_size"});
    plan.collective = collective_of(value.at("collective"));
    plan.in_place = value.at("inplace").truth();
    const auto flag = [&](const char* name) { return value.has(name) && value.at(name).truth(); };
    plan.alternates = flag("use_double_scratch_buffer");
    if (value.has("buffer_alignment")) {
        plan.alignment = value.at("buffer_alignment").integer(1, kMostParts);
    }
    int nranks = 0;
    value.at("gpus").for_each([&](const Value&) { ++nranks; });
    if (nranks < 1 || nranks > kMaxRanks) {
        value.at("gpus").refuse(fmt::format("expected 1..{} GPUs, found {}", kMaxRanks, nranks));
    }
    value.at("gpus").for_each([&](const Value& each) {
        plan.gpus.push_back(GpuReader(static_cast<int>(plan.gpus.size()), nranks).read(each));
    });
    return plan;
}

}  // namespace peal::foreign
