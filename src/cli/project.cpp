// SPDX-License-Identifier: Apache-2.0
#include "cli/project.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include "base/file.hpp"
#include "language/names.hpp"
#include "peal/diagnostic.hpp"

namespace peal::cli {
namespace {

constexpr std::uint64_t kMostBytes = 1 << 20;
constexpr std::size_t kMostChecks = 10'000;
constexpr const char* kTarget = "target";

Span span_of(const toml::source_region& region) {
    const bool is_one_line = region.begin.line == region.end.line;
    const std::uint32_t columns = is_one_line ? region.end.column - region.begin.column : 1;
    return {region.begin.line, region.begin.column, std::max(columns, 1U)};
}

std::string found(const toml::node& node) {
    switch (node.type()) {
        case toml::node_type::table: return "a table";
        case toml::node_type::array: return "a list";
        case toml::node_type::string: return fmt::format("'{}'", node.as_string()->get());
        case toml::node_type::integer: return fmt::format("{}", node.as_integer()->get());
        case toml::node_type::floating_point: return "a number with a fraction";
        case toml::node_type::boolean: return node.as_boolean()->get() ? "true" : "false";
        default: return "a date or time";
    }
}

std::string_view expected(const OptionFacts& key) {
    switch (key.takes) {
        case OptionFacts::Takes::flag: return "true or false";
        case OptionFacts::Takes::integer: return "an integer";
        case OptionFacts::Takes::number: return "a number";
        case OptionFacts::Takes::text: return "text";
    }
    return "";
}

std::optional<std::string> text_of(const toml::node& node, OptionFacts::Takes takes) {
    if (const auto* flag = node.as_boolean(); flag && takes == OptionFacts::Takes::flag) {
        return flag->get() ? "true" : "false";
    }
    if (takes == OptionFacts::Takes::flag) return std::nullopt;
    if (const auto* integer = node.as_integer()) return std::to_string(integer->get());
    if (takes == OptionFacts::Takes::integer) return std::nullopt;
    if (const auto* number = node.as_floating_point();
        number && takes != OptionFacts::Takes::text) {
        return fmt::format("{}", number->get());
    }
    const auto* text = node.as_string();
    if (!text || takes != OptionFacts::Takes::text) return std::nullopt;
    return text->get();
}

class Reader {
public:
    Reader(SourcePtr source, const std::vector<OptionFacts>& keys)
        : source_(std::move(source)), keys_(keys) {}

    Project read() {
        const toml::table root = parsed();
        for (const auto& [key, node] : root) {
            if (key.str() == "defaults") {
                defaults_ = choices_of(node);
            } else if (key.str() != "check") {
                unknown(key, {"defaults", "check"});
            }
        }
        read_checks(root.get("check"));
        if (!errors_.empty()) {
            std::stable_sort(errors_.begin(), errors_.end(), [](const auto& a, const auto& b) {
                return a.span.line < b.span.line;
            });
            throw ProgramError(std::move(errors_), source_.get());
        }
        return {source_, std::move(checks_)};
    }

private:
    // Of a key: each entry makes a check of its own.
    using Choices = std::map<std::string, std::vector<std::vector<std::string>>>;

    toml::table parsed() const {
        try {
            return toml::parse(source_->text(), source_->name());
        } catch (const toml::parse_error& error) {
            Diagnostic diagnostic;
            diagnostic.span = span_of(error.source());
            diagnostic.message = error.description();
            throw ProgramError({diagnostic}, source_.get());
        }
    }

    void error(const toml::source_region& at, std::string message, std::string hint = {}) {
        errors_.push_back(
            {Diagnostic::Severity::error, span_of(at), std::move(message), std::move(hint)});
    }

    void unknown(const toml::key& key, const std::vector<std::string_view>& known) {
        const std::string nearest = language::did_you_mean(key.str(), known);
        error(key.source(), fmt::format("there is no key '{}'", key.str()),
              nearest.empty() ? fmt::format("the keys are {}", fmt::join(known, ", ")) : nearest);
    }

    Choices choices_of(const toml::node& node) {
        Choices choices;
        const toml::table* table = node.as_table();
        if (!table) {
            error(node.source(), fmt::format("expected a table of keys, found {}", found(node)));
            return choices;
        }
        for (const auto& [name, value] : *table) {
            const auto key = std::find_if(
                keys_.begin(), keys_.end(),
                [word = name.str()](const OptionFacts& each) { return each.key == word; });
            if (key != keys_.end()) {
                choices[key->key] = values_of(*key, value);
                continue;
            }
            std::vector<std::string_view> names;
            for (const OptionFacts& each : keys_) names.push_back(each.key);
            unknown(name, names);
        }
        return choices;
    }

    std::vector<std::vector<std::string>> values_of(const OptionFacts& key,
                                                    const toml::node& node) {
        std::vector<std::string> values;
        const auto add = [&](const toml::node& each) {
            const auto value = text_of(each, key.takes);
            if (value) return values.push_back(*value);
            error(each.source(), fmt::format("{}: expected {}{}, found {}", key.key, expected(key),
                                             &each == &node ? " or a list" : "", found(each)));
        };
        const toml::array* list = node.as_array();
        if (list) {
            for (const toml::node& each : *list) add(each);
        } else {
            add(node);
        }
        if (list && list->empty() && !key.takes_list) {
            error(node.source(),
                  fmt::format("{}: expected {}, found an empty list", key.key, expected(key)));
        }
        if (key.takes_list) return {values};
        std::vector<std::vector<std::string>> choices;
        for (std::string& value : values) choices.push_back({std::move(value)});
        return choices;
    }

    void read_checks(const toml::node* node) {
        const toml::array* list = node ? node->as_array() : nullptr;
        if (!list || list->empty()) {
            const toml::source_region nowhere{{1, 1}, {1, 1}, nullptr};
            return error(node ? node->source() : nowhere,
                         "expected what is to be checked: [[check]], and below it target = ...");
        }
        for (const toml::node& each : *list) {
            Choices choices = choices_of(each);
            for (const auto& [key, values] : defaults_) choices.try_emplace(key, values);
            if (each.is_table() && !choices.contains(kTarget)) {
                error(each.source(), "expected target = a collective or a file");
            }
            if (errors_.empty()) expand(each.source().begin.line, choices);
        }
    }

    // Every combination of the choices.
    void expand(std::uint32_t line, const Choices& choices) {
        std::vector<ProjectCheck> made = {{line, {}}};
        for (const auto& [key, values] : choices) {
            std::vector<ProjectCheck> longer;
            for (const ProjectCheck& check : made) {
                for (const std::vector<std::string>& value : values) {
                    longer.push_back(check);
                    longer.back().settings.push_back({key, value});
                    if (checks_.size() + longer.size() > kMostChecks) {
                        const toml::source_region at{{line, 1}, {line, 1}, nullptr};
                        return error(at, fmt::format("more than {} checks", kMostChecks));
                    }
                }
            }
            made = std::move(longer);
        }
        std::move(made.begin(), made.end(), std::back_inserter(checks_));
    }

    SourcePtr source_;
    const std::vector<OptionFacts>& keys_;
    Choices defaults_;
    std::vector<ProjectCheck> checks_;
    std::vector<Diagnostic> errors_;
};

}  // namespace

std::optional<std::string> ProjectCheck::value_of(const std::string& key) const {
    for (const ProjectSetting& setting : settings) {
        if (setting.key == key) return setting.values.front();
    }
    return std::nullopt;
}

std::optional<std::filesystem::path> find_project(const std::filesystem::path& directory) {
    std::error_code ignored;
    for (std::filesystem::path here = directory;; here = here.parent_path()) {
        if (std::filesystem::exists(here / kProjectFile, ignored)) return here / kProjectFile;
        if (!here.has_relative_path()) return std::nullopt;
    }
}

Project read_project(const std::filesystem::path& path, const std::vector<OptionFacts>& keys) {
    const auto source = std::make_shared<const Source>(
        path.filename().string(), base::read_text(path, kMostBytes, "project"));
    return Reader(source, keys).read();
}

}  // namespace peal::cli
