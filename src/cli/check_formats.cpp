// SPDX-License-Identifier: Apache-2.0
#include "cli/check_formats.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "plan/notes.hpp"

namespace peal::cli {
namespace {

using Json = nlohmann::ordered_json;

// One thing to say about a run.
struct Remark {
    bool is_error = true;  // or a warning
    std::string kind;      // "data race"
    std::string message;
    FileLine place;
    std::vector<std::pair<FileLine, std::string>> related;  // the other steps
};

// "a/b.peal:7" and the like; nothing if it does not end with a number.
std::optional<FileLine> file_line_of(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos || colon == 0) return std::nullopt;
    FileLine place{std::string(text.substr(0, colon)), 0};
    const char* end = text.data() + text.size();
    const auto [last, error] = std::from_chars(text.data() + colon + 1, end, place.line);
    if (error != std::errc{} || last != end) return std::nullopt;
    return place;
}

std::optional<FileLine> place_of(const Step& step, const std::vector<CheckStage>& stages) {
    if (step.index < 0) return std::nullopt;
    const auto& plans = *stages[static_cast<std::size_t>(step.stage)].plans;
    const Plan& plan = plans[static_cast<std::size_t>(step.rank)];
    const Instruction& instruction = plan.instructions[static_cast<std::size_t>(step.index)];
    const std::uint32_t line = plan::place_of(instruction, plan, step.range).line;
    if (!plan.source || line == 0) return std::nullopt;
    const std::optional<FileLine> place = file_line_of(plan.source->full_place(line));
    // What a built-in collective is made of is in no file.
    std::error_code ignored;
    const bool is_file = place && std::filesystem::exists(place->file, ignored);
    return is_file ? place : std::nullopt;
}

// Where a run as a whole is: in the project that asks for it, else its file.
FileLine place_of(const Run& run) {
    if (run.result.asked_at) return *run.result.asked_at;
    return {run.result.subject->options.target, 0};
}

Remark remark_of(const Violation& violation, const Run& run,
                 const std::vector<CheckStage>& stages) {
    Remark remark;
    remark.kind = name(violation.kind);
    remark.message = violation.message;
    bool is_placed = false;
    for (const Step& step : violation.steps) {
        const auto place = place_of(step, stages);
        if (!place) continue;
        if (!is_placed) remark.place = *place;
        if (is_placed) remark.related.emplace_back(*place, to_text(step, stages));
        is_placed = true;
    }
    if (!is_placed) remark.place = place_of(run);
    return remark;
}

// Errors in programs begin with their place: "mesh.peal:7:12: error: ...".
Remark remark_of(const Error& trouble, const Run& run) {
    Remark remark{true, "error", trouble.what(), place_of(run), {}};
    const std::size_t end = remark.message.find(": error: ");
    if (trouble.fault() != Fault::program || end == std::string::npos) return remark;
    const std::string_view place = std::string_view(remark.message).substr(0, end);
    const auto column = file_line_of(place);
    if (const auto line = column ? file_line_of(column->file) : std::nullopt) remark.place = *line;
    return remark;
}

// Names are as seen from where we are: the directory of a project, or where the command was given.
FileLine seen_from(const std::filesystem::path& from, const FileLine& place) {
    const std::filesystem::path file = place.file;
    if (file.is_absolute()) return place;
    return {(std::filesystem::current_path() / file).lexically_relative(from), place.line};
}

std::vector<Remark> remarks_here(const Run& run) {
    const SubjectResult& result = run.result;
    if (result.trouble) return {remark_of(*result.trouble, run)};
    std::vector<Remark> remarks;
    const std::vector<CheckStage> stages = run.stages();
    for (const Violation& warning : run.shown().warnings) {
        remarks.push_back(remark_of(warning, run, stages));
        remarks.back().is_error = false;
    }
    if (result.is_as_expected()) return remarks;
    for (const Violation& violation : run.shown().violations) {
        remarks.push_back(remark_of(violation, run, stages));
        remarks.back().message.insert(0, run.order_note());
    }
    if (result.last.verdict == Verdict::bound) {
        remarks.push_back(
            {true, "bound reached", "not proved: " + result.last.bound, place_of(run), {}});
    }
    if (result.last.verdict == Verdict::proved) {
        remarks.push_back(
            {true, "proved", "a violation is expected, and it is proved", place_of(run), {}});
    }
    return remarks;
}

std::vector<Remark> remarks_of(const Run& run, const std::filesystem::path& from) {
    std::vector<Remark> remarks = remarks_here(run);
    for (Remark& remark : remarks) {
        remark.place = seen_from(from, remark.place);
        for (auto& [place, text] : remark.related) place = seen_from(from, place);
    }
    return remarks;
}

// ---------------------------------------------------------------------------- JUnit

std::string xml(std::string_view text) {
    std::string escaped;
    for (const char c : text) {
        switch (c) {
            case '&': escaped += "&amp;"; break;
            case '<': escaped += "&lt;"; break;
            case '>': escaped += "&gt;"; break;
            case '"': escaped += "&quot;"; break;
            case '\n': escaped += "&#10;"; break;
            default: escaped += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
        }
    }
    return escaped;
}

// A check without an answer is an error, one with the wrong answer a failure.
bool could_not_tell(const SubjectResult& result) {
    return result.trouble || result.last.verdict == Verdict::bound;
}

std::string case_text(const Run& run, const std::filesystem::path& from) {
    const SubjectResult& result = run.result;
    const FileLine at = seen_from(from, place_of(run));
    std::string text =
        fmt::format("    <testcase classname=\"{}\" name=\"{}\" file=\"{}\"{} time=\"{:.6f}\"",
                    xml(result.subject->what), xml(case_name(*result.subject)), xml(at.file),
                    at.line > 0 ? fmt::format(" line=\"{}\"", at.line) : "", result.seconds);
    const std::vector<Remark> remarks = remarks_of(run, from);
    if (remarks.empty()) return text + "/>\n";
    text += ">\n";
    for (const Remark& remark : remarks) {
        const std::string_view tag = could_not_tell(result) ? "error" : "failure";
        const std::string where = remark.place.line > 0
                                      ? fmt::format("{}:{}: ", remark.place.file, remark.place.line)
                                      : fmt::format("{}: ", remark.place.file);
        if (!remark.is_error) {
            text += fmt::format("      <system-out>{}</system-out>\n",
                                xml(where + "warning: " + remark.message));
            continue;
        }
        text += fmt::format("      <{0} type=\"{1}\" message=\"{2}\">{3}</{0}>\n", tag,
                            xml(remark.kind), xml(remark.message), xml(where + remark.message));
    }
    return text + "    </testcase>\n";
}

// ---------------------------------------------------------------------------- SARIF

std::string rule_id(std::string_view kind) {
    std::string id(kind);
    std::replace(id.begin(), id.end(), ' ', '-');
    return id;
}

// A reference to a file as a URI: relative to the root of the sources, or absolute.
std::string uri_of(const std::string& file) {
    constexpr std::string_view kPlain = "-._~/+:@,";
    std::string uri = !file.empty() && file.front() == '/' ? "file://" : "";
    for (const char c : file) {
        const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                              (c >= '0' && c <= '9') || kPlain.find(c) != std::string_view::npos;
        uri += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return uri;
}

Json location_json(const FileLine& place) {
    Json physical = {{"artifactLocation", {{"uri", uri_of(place.file)}}}};
    if (place.line > 0) physical["region"] = {{"startLine", place.line}};
    return {{"physicalLocation", physical}};
}

Json result_json(const Remark& remark) {
    Json json = {{"ruleId", rule_id(remark.kind)},
                 {"level", remark.is_error ? "error" : "warning"},
                 {"message", {{"text", remark.message}}},
                 {"locations", Json::array({location_json(remark.place)})}};
    for (const auto& [place, text] : remark.related) {
        Json related = location_json(place);
        related["message"] = {{"text", text}};
        json["relatedLocations"].push_back(related);
    }
    return json;
}

// ---------------------------------------------------------------------------- GitHub

std::string escaped(std::string_view text, bool is_property) {
    std::string result;
    for (const char c : text) {
        const bool is_special =
            c == '%' || c == '\r' || c == '\n' || (is_property && (c == ':' || c == ','));
        result +=
            is_special ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
    }
    return result;
}

}  // namespace

std::string to_junit(const std::vector<Run>& runs, const std::filesystem::path& from) {
    std::size_t failures = 0, errors = 0;
    double seconds = 0;
    std::string cases;
    for (const Run& run : runs) {
        const SubjectResult& result = run.result;
        errors += could_not_tell(result) ? 1 : 0;
        failures += !could_not_tell(result) && !result.is_as_expected() ? 1 : 0;
        seconds += result.seconds;
        cases += case_text(run, from);
    }
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
        "  <testsuite name=\"peal check\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"0\" "
        "time=\"{:.6f}\">\n{}  </testsuite>\n</testsuites>\n",
        runs.size(), failures, errors, seconds, cases);
}

std::string to_sarif(const std::vector<Run>& runs, const std::filesystem::path& from) {
    Json results = Json::array();
    std::vector<std::string> kinds;
    for (const Run& run : runs) {
        for (const Remark& remark : remarks_of(run, from)) {
            results.push_back(result_json(remark));
            if (std::find(kinds.begin(), kinds.end(), remark.kind) == kinds.end()) {
                kinds.push_back(remark.kind);
            }
        }
    }
    Json rules = Json::array();
    for (const std::string& kind : kinds) {
        rules.push_back({{"id", rule_id(kind)}, {"shortDescription", {{"text", kind}}}});
    }
    const Json driver = {{"name", "peal"}, {"rules", rules}};
    const Json sarif = {
        {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
        {"version", "2.1.0"},
        {"runs", Json::array({{{"tool", {{"driver", driver}}}, {"results", results}}})}};
    return sarif.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string to_annotations(const std::vector<Run>& runs, const std::filesystem::path& from) {
    std::string text;
    for (const Run& run : runs) {
        for (const Remark& remark : remarks_of(run, from)) {
            text +=
                fmt::format("::{} file={}{},title={}::{}\n", remark.is_error ? "error" : "warning",
                            escaped(remark.place.file, true),
                            remark.place.line > 0 ? fmt::format(",line={}", remark.place.line) : "",
                            escaped(remark.kind, true), escaped(remark.message, false));
        }
    }
    return text;
}

}  // namespace peal::cli
