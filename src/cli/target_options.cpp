// SPDX-License-Identifier: Apache-2.0
#include "cli/target_options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>

#include <fmt/format.h>

#include "cli/foreign_target.hpp"
#include "cli/pto_target.hpp"
#include "peal/error.hpp"
#include "peal/limits.hpp"
#include "worker/devices.hpp"

namespace peal::cli {
namespace {

constexpr std::array kHeld = {Held::What::input, Held::What::zeros, Held::What::fresh};

template <class T>
std::optional<T> parse_number(std::string_view text) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

std::vector<std::int64_t> parse_table(const std::string& name, const std::string& text) {
    std::vector<std::int64_t> table;
    std::stringstream entries(text);
    for (std::string entry; std::getline(entries, entry, ',');) {
        table.push_back(integer_setting(name, entry));
    }
    return table;
}

void bind_setting(const ir::Kernel& kernel, const std::string& name, const std::string& text,
                  Bindings& bindings) {
    const ir::Param* param = kernel.find(name);
    const ir::Type type = param ? param->var->type : ir::index_type();
    if (type.kind == ir::Type::Kind::table) {
        bindings.tables[name] = parse_table(name, text);
    } else if (type.kind == ir::Type::Kind::scalar && is_float(type.element)) {
        const auto value = parse_number<double>(text);
        if (!value) bad_usage(fmt::format("--set {}: '{}' is not a number", name, text));
        bindings.numbers[name] = *value;
    } else {
        bindings.integers[name] = integer_setting(name, text);
    }
}

void check_rank_count(int ranks, const TargetOptions& options) {
    const bool on_devices = options.platform != "host";
    const int least = on_devices ? worker::kMinDriverDevices : 1;
    const int most = on_devices                      ? worker::kMaxDriverDevices
                     : is_pto_kernel(options.target) ? kMaxPtoRanks
                                                     : kMaxRanks;
    if (ranks >= least && ranks <= most) return;
    const std::string where = on_devices                      ? " on " + options.platform
                              : is_pto_kernel(options.target) ? " for a PTO kernel"
                                                              : "";
    bad_usage(fmt::format("-n: expected {}..{} ranks{}, found {}", least, most, where, ranks));
}

// Pieces of every size around `count`, empty ones among them.
std::vector<std::int64_t> uneven_counts(CollectiveKind kind, std::uint64_t count, int nranks) {
    std::vector<std::int64_t> counts(table_entries(kind, nranks));
    const auto ranks = static_cast<std::uint64_t>(nranks);
    for (std::uint64_t i = 0; i < counts.size(); ++i) {
        const std::uint64_t piece = (i / ranks * 7 + i % ranks * 3 + count) % (count + 1);
        counts[i] = static_cast<std::int64_t>(piece);
    }
    return counts;
}

}  // namespace

std::string title_of(const TargetOptions& options) {
    if (options.program)
        return options.program->source ? options.program->source->name() : "program";
    return options.plans ? "plans" : options.target;
}

void bad_usage(const std::string& message) { throw Error(Fault::usage, message); }

std::pair<std::string, std::string> split_setting(const std::string& setting) {
    const auto equals = setting.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == setting.size()) {
        bad_usage(fmt::format("--set '{}': expected name=value", setting));
    }
    return {setting.substr(0, equals), setting.substr(equals + 1)};
}

std::int64_t integer_setting(const std::string& name, const std::string& text) {
    const auto value = parse_number<std::int64_t>(text);
    if (!value) bad_usage(fmt::format("--set {}: '{}' is not an integer", name, text));
    return *value;
}

Bindings bindings_for(const ir::Kernel& kernel, const TargetOptions& options) {
    Bindings bindings;
    for (const std::string& setting : options.settings) {
        const auto [name, value] = split_setting(setting);
        bind_setting(kernel, name, value, bindings);
    }
    // --count, --root and --hosts speak of the names that kernels use by custom.
    const auto symbols = ir::symbols_of(kernel);
    const bool has_n = std::any_of(symbols.begin(), symbols.end(),
                                   [](const ir::VarPtr& symbol) { return symbol->name == "n"; });
    if (has_n) bindings.integers.try_emplace("n", static_cast<std::int64_t>(options.count));
    const ir::Param* root = kernel.find("root");
    if (root && root->var->type.is_integer()) bindings.integers.try_emplace("root", options.root);
    if (options.hosts.empty()) return bindings;
    const ir::Param* hosts = kernel.find("hosts");
    if (!hosts || hosts->var->type.kind != ir::Type::Kind::table) {
        bad_usage(fmt::format("--hosts: kernel '{}' has no table 'hosts'", kernel.name));
    }
    bindings.tables.try_emplace("hosts", hosts_of(options));
    return bindings;
}

Option* add_target_options(Command& command, TargetOptions& options) {
    Option* target =
        command.add_option("target", options.target,
                           "a collective, file.peal[:kernel], a PTO kernel.cpp, or a plan of "
                           "MSCCL (.xml) or MSCCL++ (.json)");
    command.add_option("--recipe,--algo", options.recipe, "recipe of a collective (default auto)");
    command.add_option("--hosts", options.hosts,
                       "where ranks are, for recipes that know hosts: 3+5 for three on one host "
                       "and five on another, or the host of each rank, 0,1,0,1; the table hosts "
                       "of a .peal kernel");
    auto* count =
        command.add_option("--count", options.count,
                           "elements per rank; the symbol n of a .peal kernel (default 256; "
                           "check tries P+1, 4P+3, 1, P-1 and 0 for P ranks; 64 for a PTO "
                           "kernel that is no allreduce)");
    count->when_given([&options] { options.count_given = true; });
    command.add_option("--dtype", options.element,
                       "f16 bf16 f32 f64 i8 i16 i32 i64 u8 u16 u32 u64 (default f32)");
    command.add_option("--op", options.op, "sum prod max min (default sum)");
    command.add_option("--root", options.root, "root rank (default 0)")->when_given([&options] {
        options.root_given = true;
    });
    command.add_option("--lanes", options.lanes,
                       "things that each rank does at once, of a .peal kernel (default 1) or a "
                       "recipe with lanes (default 2)");
    command.add_option("--set", options.settings,
                       "symbol, scalar or table: name=value, name=1,2,3,4");
    command.add_option("-p,--platform", options.platform, "host a2a3sim a5sim (default host)");
    command.add_option("--device", options.device,
                       "whose rules a check applies: host a2a3 a5 (default: the platform's; a2a3 "
                       "for a PTO kernel)");
    command.add_flag(
        "--outstanding-loads", options.outstanding_loads,
        "a2a3: no warning when a load is issued before the last one's flag is awaited");
    command.add_flag("--strict-loads", options.strict_loads,
                     "a2a3: an error when a load is issued before the last one's flag is awaited");
    command.add_option("-d,--devices", options.devices, "2..16 devices: 0-3 or 0,2,4");
    command.add_flag_callback(
        "--in-place", [&options] { options.placement = Placement::in_place; },
        "input and result are in one private buffer");
    command.add_flag_callback(
        "--window", [&options] { options.placement = Placement::window; },
        "input and result are in the window itself");
    command
        .add_option("--holds", options.holds,
                    "a window of a kernel that holds input when a call begins: a host or an "
                    "earlier task put it there; NAME=zeros: it was cleared; NAME=fresh: it holds "
                    "the zeros that it was made with")
        ->one_value_each();
    command.add_option("--result", options.result,
                       "the window or argument that a kernel leaves its result in (default: the "
                       "first argument that it writes, or where its input is)");
    add_pto_options(command, options);
    add_foreign_options(command, options);
    return target;
}

void add_ranks_option(Command& command, TargetOptions& options) {
    command.add_option("-n,--ranks", options.ranks, "ranks (default 4, or one per device)");
}

std::vector<std::int64_t> hosts_of(const TargetOptions& options) {
    const std::string& text = options.hosts;
    if (text.empty()) return {};
    const bool of_each = text.find(',') != std::string::npos;
    std::vector<std::int64_t> hosts;
    std::stringstream entries(text);
    std::int64_t host = 0;
    for (std::string entry; std::getline(entries, entry, of_each ? ',' : '+'); ++host) {
        const auto number = parse_number<std::int64_t>(entry);
        const std::int64_t least = of_each ? 0 : 1;
        if (!number || *number < least || *number > kMaxRanks) {
            bad_usage(
                fmt::format("--hosts '{}': expected ranks on each host, as in 3+5, or the "
                            "host of each rank, as in 0,1,0,1",
                            text));
        }
        if (of_each) {
            hosts.push_back(*number);
        } else {
            hosts.insert(hosts.end(), static_cast<std::size_t>(*number), host);
        }
    }
    return hosts;
}

int rank_count(const TargetOptions& options) {
    worker::check_platform(options.platform);
    const auto hosts = static_cast<int>(hosts_of(options).size());
    if (!options.devices) {
        const int ranks = options.ranks.value_or(hosts > 0 ? hosts : kDefaultRanks);
        if (hosts > 0 && ranks != hosts) {
            bad_usage(fmt::format("-n {} and --hosts {} ({} ranks) disagree", ranks, options.hosts,
                                  hosts));
        }
        check_rank_count(ranks, options);
        return ranks;
    }
    const auto devices = static_cast<int>(worker::parse_devices(*options.devices).size());
    if (options.ranks && *options.ranks != devices) {
        bad_usage(fmt::format("-n {} and -d {} ({} devices) disagree", *options.ranks,
                              *options.devices, devices));
    }
    return devices;
}

Collective collective_for(CollectiveKind kind, const TargetOptions& options, int nranks) {
    Collective collective;
    collective.kind = kind;
    collective.recipe = options.recipe;
    const auto element = element_from(options.element);
    if (!element)
        bad_usage(
            fmt::format("--dtype: there is no element type '{}'; choose one of f16, bf16, f32, "
                        "f64, i8, i16, i32, i64, u8, u16, u32, u64",
                        options.element));
    const auto op = reduce_op_from(options.op.empty() ? "sum" : options.op);
    if (!op)
        bad_usage(fmt::format("--op: there is no reduction '{}'; choose one of sum, prod, max, min",
                              options.op));
    collective.element = *element;
    collective.op = *op;
    collective.count = facts_of(kind).has_data() ? options.count : 0;
    collective.root = options.root;
    collective.placement = options.placement;
    collective.hosts = hosts_of(options);
    if (collective.hosts.empty() && knows_hosts(kind, options.recipe)) {
        bad_usage(fmt::format("{}: recipe {} asks where ranks are, as in --hosts {}+{}", name(kind),
                              options.recipe, nranks - nranks / 2, std::max(nranks / 2, 1)));
    }
    if (facts_of(kind).is_counted()) {
        collective.counts = uneven_counts(kind, options.count, nranks);
        for (const std::string& setting : options.settings) {
            const auto [name, value] = split_setting(setting);
            if (name == "counts") collective.counts = parse_table(name, value);
        }
    }
    return collective;
}

std::vector<Held> held_windows(const std::vector<std::string>& texts) {
    using enum Held::What;
    std::vector<Held> holds;
    for (const std::string& text : texts) {
        const std::size_t equals = text.find('=');
        Held held{text.substr(0, equals), input};
        if (equals != std::string::npos) {
            const std::string what = text.substr(equals + 1);
            const auto found = std::find_if(kHeld.begin(), kHeld.end(),
                                            [&](Held::What each) { return name(each) == what; });
            if (found == kHeld.end()) {
                bad_usage(fmt::format("--holds {}: expected input, zeros or fresh, found '{}'",
                                      text, what));
            }
            held.what = *found;
        }
        holds.push_back(std::move(held));
    }
    return holds;
}

}  // namespace peal::cli
