// SPDX-License-Identifier: Apache-2.0
#include "cli/foreign_target.hpp"

#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "base/file.hpp"
#include "cli/command_line.hpp"
#include "cli/pto_target.hpp"

namespace peal::cli {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;

foreign::ReadOptions read_options(const TargetOptions& options, const std::string& expect) {
    refuse_pto_options(options);
    if (!options.settings.empty()) {
        bad_usage("--set is for .peal kernels; a plan has its values already");
    }
    if (options.placement == Placement::window) {
        bad_usage("--window is for collectives; a plan says itself where its data is");
    }
    // The one place where these words are read.
    const Collective words = collective_for(CollectiveKind::allreduce, options, 1);
    foreign::ReadOptions read;
    if (options.count_given) read.count = options.count;
    read.element = words.element;
    read.op = words.op;
    read.root = options.root;
    read.slots = options.slots;
    read.in_place = options.placement == Placement::in_place;
    if (expect.empty()) return read;
    read.kind = foreign::collective_called(expect);
    if (!read.kind) {
        bad_usage(
            fmt::format("--expect: expected allreduce, allgather, reduce_scatter, all_to_all "
                        "or broadcast for a plan of another project, found '{}'",
                        expect));
    }
    return read;
}

}  // namespace

bool is_foreign_file(const std::string& target) {
    const std::string extension = std::filesystem::path(target).extension();
    if (extension == ".xml") return true;
    return extension == ".json" && foreign::is_foreign(target, base::read_text(target, kMostBytes));
}

void add_foreign_options(Command& command, TargetOptions& options) {
    command
        .add_option("--slots", options.slots,
                    "messages that a connection of MSCCL holds (default 2, as protocol Simple has)")
        ->group("Plans of other projects");
}

Target read_foreign(const TargetOptions& options, const std::string& expect) {
    const auto source =
        std::make_shared<const Source>(options.target, base::read_text(options.target, kMostBytes));
    Target target;
    target.foreign = foreign::read_plans(source, read_options(options, expect));
    target.kernel = target.foreign->plans.front().kernel;
    target.nranks = static_cast<int>(target.foreign->plans.size());
    if (options.ranks && *options.ranks != target.nranks) {
        bad_usage(
            fmt::format("-n {}: {} is for {} GPUs", *options.ranks, options.target, target.nranks));
    }
    return target;
}

}  // namespace peal::cli
