// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tinyxml2.h>

#include "foreign/msccl.hpp"
#include "foreign/trouble.hpp"
#include "language/names.hpp"
#include "peal/limits.hpp"

namespace peal::foreign {
namespace {

constexpr std::int64_t kMostChunks = 1 << 20;
constexpr std::int64_t kMostBlocks = 1 << 12;  // of a GPU

using Names = std::vector<std::string_view>;

// An element of the file.
class Node {
public:
    Node(const tinyxml2::XMLElement& element, const Source& source)
        : element_(element), source_(source) {}

    std::uint32_t line() const { return static_cast<std::uint32_t>(element_.GetLineNum()); }
    [[noreturn]] void refuse(const std::string& message, const std::string& hint = {}) const {
        foreign::refuse(source_, line(), message, hint);
    }

    void expect_name(std::string_view wanted) const {
        if (element_.Name() != wanted) {
            refuse(fmt::format("expected <{}>, found <{}>", wanted, element_.Name()));
        }
    }
    void expect_only(const Names& known) const {
        for (const auto* each = element_.FirstAttribute(); each; each = each->Next()) {
            if (std::find(known.begin(), known.end(), each->Name()) != known.end()) continue;
            const std::string nearest = language::did_you_mean(each->Name(), known);
            refuse(fmt::format("<{}> has no attribute '{}'", element_.Name(), each->Name()),
                   nearest.empty() ? fmt::format("it has {}", fmt::join(known, ", ")) : nearest);
        }
    }

    std::optional<std::string_view> find(const char* name) const {
        const char* text = element_.Attribute(name);
        return text ? std::optional<std::string_view>(text) : std::nullopt;
    }
    std::string text(const char* name) const {
        const auto found = find(name);
        if (!found) refuse(fmt::format("<{}> needs {}=\"...\"", element_.Name(), name));
        return std::string(*found);
    }
    std::int64_t number(const char* name, std::int64_t least, std::int64_t most,
                        std::optional<std::int64_t> otherwise = std::nullopt) const {
        if (!find(name) && otherwise) return *otherwise;
        const std::string found = text(name);
        std::int64_t value = 0;
        const char* end = found.data() + found.size();
        const auto [last, error] = std::from_chars(found.data(), end, value);
        if (error == std::errc{} && last == end && value >= least && value <= most) return value;
        refuse(fmt::format("{}: expected {}..{}, found '{}'", name, least, most, found));
    }

    // Everything below it is elements of this name.
    template <class Each>
    void for_each(std::string_view name, Each&& each) const {
        for (const auto* child = element_.FirstChild(); child; child = child->NextSibling()) {
            if (child->ToComment()) continue;
            const auto line_of_child = static_cast<std::uint32_t>(child->GetLineNum());
            if (!child->ToElement()) {
                foreign::refuse(source_, line_of_child,
                                fmt::format("expected <{}>, found text", name));
            }
            const Node node(*child->ToElement(), source_);
            node.expect_name(name);
            each(node);
        }
    }

private:
    const tinyxml2::XMLElement& element_;
    const Source& source_;
};

const std::map<std::string, MscclType, std::less<>> kTypes = {
    {"nop", MscclType::nop},  {"s", MscclType::send},    {"r", MscclType::receive},
    {"cpy", MscclType::copy}, {"re", MscclType::reduce}, {"rcs", MscclType::rcs},
    {"rrs", MscclType::rrs},  {"rrc", MscclType::rrc},   {"rrcs", MscclType::rrcs}};

MscclPlace place_of(const Node& node, const char* buffer, const char* offset) {
    const std::string name = node.text(buffer);
    MscclPlace place;
    place.offset = node.number(offset, 0, kMostChunks);
    if (name == "i") {
        place.buffer = MscclBuffer::input;
    } else if (name == "o") {
        place.buffer = MscclBuffer::output;
    } else if (name == "s") {
        place.buffer = MscclBuffer::scratch;
    } else {
        node.refuse(fmt::format("{}: expected i, o or s (input, output, scratch), found '{}'",
                                buffer, name));
    }
    return place;
}

MscclStep step_of(const Node& node, std::size_t number) {
    node.expect_only(
        {"s", "type", "srcbuf", "srcoff", "dstbuf", "dstoff", "cnt", "depid", "deps", "hasdep"});
    const auto wanted = static_cast<std::int64_t>(number);
    if (node.number("s", 0, kMostChunks) != wanted) {
        node.refuse(fmt::format("s: expected {}, since steps are numbered from 0, found '{}'",
                                wanted, node.text("s")));
    }
    MscclStep step;
    step.line = node.line();
    const auto type = kTypes.find(node.text("type"));
    if (type == kTypes.end()) {
        Names names;
        for (const auto& [name, value] : kTypes) names.push_back(name);
        node.refuse(fmt::format("type: expected one of {}, found '{}'", fmt::join(names, ", "),
                                node.text("type")));
    }
    step.type = type->second;
    if (step.reads()) step.src = place_of(node, "srcbuf", "srcoff");
    if (step.writes()) step.dst = place_of(node, "dstbuf", "dstoff");
    if (step.type != MscclType::nop) step.chunks = node.number("cnt", 1, kMostChunks);
    step.needs_block = node.number("depid", -1, kMostBlocks, -1);
    step.needs_step = node.number("deps", -1, kMostChunks, -1);
    step.is_announced = node.number("hasdep", 0, 1, 0) == 1;
    if ((step.needs_block < 0) != (step.needs_step < 0)) {
        node.refuse("depid and deps: expected both, or -1 for both");
    }
    return step;
}

// Thread blocks and GPUs may be listed in any order; each number is there once.
template <class Numbered>
void put_in_order(std::vector<Numbered>& all, const Source& source, std::string_view what) {
    std::sort(all.begin(), all.end(),
              [](const Numbered& a, const Numbered& b) { return a.id < b.id; });
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].id == static_cast<std::int64_t>(i)) continue;
        refuse(source, all[i].line,
               fmt::format("id: expected {} 0..{}, each once, found {}", what, all.size() - 1,
                           all[i].id));
    }
}

MscclBlock block_of(const Node& node, std::int64_t nranks) {
    node.expect_only({"id", "send", "recv", "chan"});
    MscclBlock block;
    block.line = node.line();
    block.id = node.number("id", 0, kMostBlocks);
    block.send = node.number("send", -1, nranks - 1);
    block.receive = node.number("recv", -1, nranks - 1);
    block.channel = node.number("chan", 0, kMostChunks, 0);
    node.for_each("step", [&](const Node& each) {
        block.steps.push_back(step_of(each, block.steps.size()));
        const MscclStep& step = block.steps.back();
        if (step.sends() && block.send < 0) each.refuse("it sends, but its <tb> has send=\"-1\"");
        if (step.receives() && block.receive < 0) {
            each.refuse("it receives, but its <tb> has recv=\"-1\"");
        }
    });
    return block;
}

MscclGpu gpu_of(const Node& node, const Source& source, std::int64_t nranks) {
    node.expect_only({"id", "i_chunks", "o_chunks", "s_chunks"});
    MscclGpu gpu;
    gpu.line = node.line();
    gpu.id = node.number("id", 0, kMaxRanks);
    gpu.input = node.number("i_chunks", 0, kMostChunks);
    gpu.output = node.number("o_chunks", 0, kMostChunks);
    gpu.scratch = node.number("s_chunks", 0, kMostChunks);
    node.for_each("tb", [&](const Node& each) { gpu.blocks.push_back(block_of(each, nranks)); });
    put_in_order(gpu.blocks, source, "thread blocks");
    return gpu;
}

// What a step waits for is there; who is to announce it is for the checker to see.
void check_needs(const MscclAlgorithm& algorithm) {
    for (const MscclGpu& gpu : algorithm.gpus) {
        for (const MscclBlock& block : gpu.blocks) {
            for (const MscclStep& step : block.steps) {
                if (step.needs_block < 0) continue;
                const auto needed = static_cast<std::size_t>(step.needs_block);
                if (needed >= gpu.blocks.size()) {
                    refuse(*algorithm.source, step.line,
                           fmt::format("depid: expected a thread block of this GPU, 0..{}, found "
                                       "{}",
                                       gpu.blocks.size() - 1, needed));
                }
                const std::size_t steps = gpu.blocks[needed].steps.size();
                if (static_cast<std::size_t>(step.needs_step) >= steps) {
                    refuse(*algorithm.source, step.line,
                           fmt::format("deps: thread block {} has {} steps, found {}", needed,
                                       steps, step.needs_step));
                }
            }
        }
    }
}

// Which of them is no matter here: all keep the order of messages.
void expect_protocol(const Node& algo) {
    constexpr std::array<std::string_view, 3> kProtocols = {"Simple", "LL", "LL128"};
    const std::string_view found = algo.find("proto").value_or(kProtocols.front());
    if (std::find(kProtocols.begin(), kProtocols.end(), found) != kProtocols.end()) return;
    algo.refuse(fmt::format("proto: expected {}, found '{}'", fmt::join(kProtocols, ", "), found));
}

}  // namespace

MscclAlgorithm read_msccl(const SourcePtr& source) {
    tinyxml2::XMLDocument document;
    if (document.Parse(source->text().data(), source->text().size()) != tinyxml2::XML_SUCCESS) {
        const auto line = static_cast<std::uint32_t>(std::max(1, document.ErrorLineNum()));
        std::string why = document.ErrorName();
        std::transform(why.begin(), why.end(), why.begin(),
                       [](char c) { return c == '_' ? ' ' : static_cast<char>(std::tolower(c)); });
        refuse(*source, line, fmt::format("this is no XML: {}", why));
    }
    const tinyxml2::XMLElement* root = document.RootElement();
    if (!root) refuse(*source, 1, "expected <algo>, found nothing");
    // Attributes that say when a runtime takes the algorithm are passed over.
    const Node algo(*root, *source);
    algo.expect_name("algo");
    MscclAlgorithm algorithm;
    algorithm.source = source;
    algorithm.line = algo.line();
    algorithm.name = algo.text("name");
    algorithm.collective = algo.find("coll").value_or("custom");
    algorithm.chunks = algo.number("nchunksperloop", 1, kMostChunks);
    algo.number("nchannels", 1, kMostChunks, 1);  // a hint: thread blocks name their channels
    expect_protocol(algo);
    algorithm.in_place = algo.number("inplace", 0, 1, 0) == 1;
    algorithm.out_of_place = algo.number("outofplace", 0, 1, algorithm.in_place ? 0 : 1) == 1;
    if (!algorithm.in_place && !algorithm.out_of_place) {
        algo.refuse("inplace and outofplace: expected 1 for at least one of them");
    }
    std::int64_t nranks = 0;
    algo.for_each("gpu", [&](const Node&) { ++nranks; });
    if (nranks < 1 || nranks > kMaxRanks || algo.number("ngpus", 1, kMaxRanks, nranks) != nranks) {
        algo.refuse(fmt::format("expected as many <gpu> as ngpus says, 1..{}, found {}", kMaxRanks,
                                nranks));
    }
    algo.for_each(
        "gpu", [&](const Node& each) { algorithm.gpus.push_back(gpu_of(each, *source, nranks)); });
    put_in_order(algorithm.gpus, *source, "GPUs");
    check_needs(algorithm);
    return algorithm;
}

}  // namespace peal::foreign
