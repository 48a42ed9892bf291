// SPDX-License-Identifier: Apache-2.0
#include "comm/profile.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/cache_directory.hpp"
#include "base/file.hpp"
#include "peal/error.hpp"

namespace peal::comm {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void reject(const std::string& origin, const std::string& why) {
    throw Error(Fault::usage, fmt::format("profile {}: {}; write a new one with `peal tune`, or "
                                          "remove it to use the built-in table",
                                          origin, why));
}

Json json_of(const Rule& rule) {
    Json json = {{"collective", name(rule.kind)}};
    if (rule.where == Where::window) json["on_window"] = true;
    if (rule.where == Where::hosts) json["between_hosts"] = true;
    if (rule.max_hosts != kMaxRanks) json["max_hosts"] = rule.max_hosts;
    if (rule.max_per_host != kMaxRanks) json["max_per_host"] = rule.max_per_host;
    if (rule.max_ranks != kMaxRanks) json["max_ranks"] = rule.max_ranks;
    if (rule.max_bytes != Rule::kAny) json["max_bytes"] = rule.max_bytes;
    json["recipe"] = rule.recipe;
    if (rule.stage_bytes != 0) json["stage_bytes"] = rule.stage_bytes;
    if (rule.reach) json["reach"] = true;
    return json;
}

// Null if there is none.
const Recipe* recipe_of(const Rule& rule) {
    const auto& list = recipes(rule.kind);
    const auto found = std::find_if(
        list.begin(), list.end(), [&](const Recipe& recipe) { return recipe.name == rule.recipe; });
    return found == list.end() ? nullptr : &*found;
}

bool is_offered(const Rule& rule) {
    if (rule.reach) return may_reach(rule.kind, rule.recipe);
    const Placement asked = rule.where == Where::window ? Placement::window : Placement::separate;
    return offers(rule.kind, rule.recipe, collectives::carried_placement(rule, asked));
}

// What older profiles call a recipe.
constexpr const char* kOldRecipe = "mode";

class RuleReader {
public:
    RuleReader(const std::string& origin, const Json& json, std::size_t index)
        : origin_(origin), json_(json), index_(index) {}

    Rule read() const {
        if (!json_.is_object()) fail("expected an object");
        for (const auto& [key, value] : json_.items()) {
            if (key != "collective" && key != "on_window" && key != "max_ranks" &&
                key != "max_bytes" && key != "recipe" && key != kOldRecipe &&
                key != "stage_bytes" && key != "reach" && key != "between_hosts" &&
                key != "max_hosts" && key != "max_per_host") {
                fail(fmt::format("unknown word '{}'", key));
            }
        }
        Rule rule;
        const auto collective = text("collective");
        const auto kind = collective_from(collective);
        if (!kind) fail(fmt::format("there is no collective '{}'", collective));
        rule.kind = *kind;
        const bool on_window = flag("on_window");
        const bool between_hosts = flag("between_hosts");
        if (on_window && between_hosts) {
            fail("'between_hosts' is for data anywhere, leave out 'on_window'");
        }
        rule.where = between_hosts ? Where::hosts : where_of(on_window);
        rule.max_hosts = of_hosts("max_hosts", between_hosts);
        rule.max_per_host = of_hosts("max_per_host", between_hosts);
        rule.max_ranks = static_cast<int>(number("max_ranks", kMaxRanks, kMaxRanks));
        rule.max_bytes = number("max_bytes", Rule::kAny, Rule::kAny);
        rule.recipe = text(json_.contains(kOldRecipe) ? kOldRecipe : "recipe");
        rule.reach = flag("reach");
        if (rule.reach && on_window) fail("'reach' is for private buffers");
        if (rule.reach && between_hosts) fail("'reach' is for ranks of one host");
        const Recipe* recipe = recipe_of(rule);
        if (recipe && recipe->has_lanes) {
            fail(
                fmt::format("recipe '{}' of {} is for ranks with several lanes; a rank of a "
                            "communicator has one",
                            rule.recipe, collective));
        }
        const bool is_known =
            recipe != nullptr || (between_hosts && knows_hosts(rule.kind, rule.recipe));
        if (!is_known || !is_offered(rule)) {
            fail(fmt::format("{} has no recipe '{}'{}", collective, rule.recipe,
                             on_window    ? " on a window"
                             : rule.reach ? " that reaches private buffers"
                                          : ""));
        }
        rule.stage_bytes = number("stage_bytes", 0, kMaxStageBytes);
        return rule;
    }

private:
    [[noreturn]] void fail(const std::string& why) const {
        reject(origin_, fmt::format("rule {}: {}", index_, why));
    }
    std::string text(const char* key) const {
        if (!json_.contains(key) || !json_[key].is_string()) {
            fail(fmt::format("expected a text '{}'", key));
        }
        return json_[key].get<std::string>();
    }
    bool flag(const char* key) const {
        if (!json_.contains(key)) return false;
        if (!json_[key].is_boolean()) fail(fmt::format("expected '{}' to be true or false", key));
        return json_[key].get<bool>();
    }
    std::uint64_t number(const char* key, std::uint64_t otherwise, std::uint64_t most) const {
        if (!json_.contains(key)) return otherwise;
        if (!json_[key].is_number_unsigned() || json_[key].get<std::uint64_t>() > most) {
            fail(fmt::format("expected '{}' to be a number from 0 to {}", key, most));
        }
        return json_[key].get<std::uint64_t>();
    }

    int of_hosts(const char* key, bool between_hosts) const {
        if (json_.contains(key) && !between_hosts) {
            fail(fmt::format("'{}' is for rules with 'between_hosts'", key));
        }
        return static_cast<int>(number(key, kMaxRanks, kMaxRanks));
    }

    const std::string& origin_;
    const Json& json_;
    std::size_t index_;
};

constexpr Spread kWidest{kMaxRanks, kMaxRanks};

void require_complete(const Table& table) {
    for (const Rule& rule : built_in_table().rules) {
        const Spread spread = rule.where == Where::hosts ? kWidest : Spread{};
        const auto rules =
            collectives::fitting(table.rules, rule.kind, rule.where, Rule::kAny, kMaxRanks, spread);
        if (std::all_of(rules.begin(), rules.end(), [](const Rule* r) { return r->reach; })) {
            reject(table.origin, fmt::format("no rule for {}{} of any size on any number of ranks",
                                             name(rule.kind),
                                             rule.where == Where::window  ? " on a window"
                                             : rule.where == Where::hosts ? " between hosts"
                                                                          : ""));
        }
    }
}

// Profiles of one machine say nothing of others.
void add_rules_of_hosts(Table& table) {
    const auto is_one = [](const Rule& rule) { return rule.where == Where::hosts; };
    if (std::any_of(table.rules.begin(), table.rules.end(), is_one)) return;
    const Table built_in = built_in_table();
    std::copy_if(built_in.rules.begin(), built_in.rules.end(), std::back_inserter(table.rules),
                 is_one);
}

}  // namespace

std::vector<const Rule*> Table::choices(CollectiveKind kind, bool on_window, std::uint64_t bytes,
                                        int nranks, const Spread& spread) const {
    const Where where = spread.hosts > 1 ? Where::hosts : where_of(on_window);
    return collectives::fitting(rules, kind, where, bytes, nranks, spread);
}

Table built_in_table() {
    Table table{"built in", {}};
    for (const Rule& rule : collectives::rules()) {
        if (rule.where != Where::target) table.rules.push_back(rule);
    }
    return table;
}

std::string to_json(const Table& table) {
    Json rules = Json::array();
    for (const Rule& rule : table.rules) rules.push_back(json_of(rule));
    std::string text = "{\"peal_profile\": 1, \"rules\": [\n";
    for (std::size_t i = 0; i < rules.size(); ++i) {
        text += "  " + rules[i].dump() + (i + 1 < rules.size() ? ",\n" : "\n");
    }
    return text + "]}\n";
}

Table table_from_json(std::string_view text, std::string origin) {
    const Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded()) reject(origin, "it is not JSON");
    if (!json.is_object() || !json.contains("peal_profile") || json["peal_profile"] != 1) {
        reject(origin, "expected an object with \"peal_profile\": 1");
    }
    if (!json.contains("rules") || !json["rules"].is_array()) reject(origin, "expected 'rules'");
    Table table{std::move(origin), {}};
    for (std::size_t i = 0; i < json["rules"].size(); ++i) {
        table.rules.push_back(RuleReader(table.origin, json["rules"][i], i).read());
    }
    add_rules_of_hosts(table);
    require_complete(table);
    return table;
}

Table table_in(const std::string& path) {
    constexpr std::uint64_t kMostBytes = 16 << 20;
    return table_from_json(base::read_text(path, kMostBytes, "profile"), path);
}

std::string profile_path() {
    const char* config = std::getenv("XDG_CONFIG_HOME");
    if (config != nullptr && *config != '\0') return fmt::format("{}/peal/profile.json", config);
    const std::filesystem::path home = base::home_directory();
    if (home.empty()) return {};
    return home / ".config" / "peal" / "profile.json";
}

Table applicable_table() {
    if (const char* path = std::getenv(kProfileVariable)) {
        return *path == '\0' ? built_in_table() : table_in(path);
    }
    const std::string path = profile_path();
    return access(path.c_str(), R_OK) == 0 ? table_in(path) : built_in_table();
}

}  // namespace peal::comm
