// SPDX-License-Identifier: Apache-2.0
// peal check: prove a program over every interleaving, or show the shortest way it breaks.
#include <filesystem>

#include <fmt/format.h>

#include "base/file.hpp"
#include "cli/check_formats.hpp"
#include "cli/check_project.hpp"
#include "cli/check_run.hpp"
#include "cli/commands.hpp"
#include "cli/project.hpp"
#include "cli/proof.hpp"
#include "peal/error.hpp"

namespace peal::cli {
namespace {

struct CheckArguments {
    CheckRequest request;
    std::string svg, junit, sarif;  // files
    bool json = false;
    bool github = false;
};

void show_progress(const CheckProgress& progress) {
    const bool explores = progress.states > 0;
    const std::uint64_t done = explores ? progress.states : progress.events;
    fmt::print(stderr, "peal: {} {}, {:.0f}/s,{} {} MiB, {:.0f} s\n", done,
               explores ? "states" : "events", static_cast<double>(done) / progress.seconds,
               explores ? fmt::format(" frontier {},", progress.frontier) : "",
               progress.memory_bytes >> 20, progress.seconds);
}

int exit_code_for(const SubjectResult& result) {
    if (result.trouble) return kBadUsage;
    if (result.is_as_expected()) return kFine;
    return result.last.verdict == Verdict::bound ? kBoundReached : kWrong;
}

// For those who show it elsewhere.
void write_reports(const std::vector<Run>& runs, const CheckArguments& arguments,
                   const std::filesystem::path& from) {
    const auto write = [&](const std::string& file, const std::string& text, const char* what) {
        if (!file.empty()) base::write_text(from / file, text, what);
    };
    write(arguments.junit, to_junit(runs, from), "JUnit report");
    write(arguments.sarif, to_sarif(runs, from), "SARIF report");
    if (arguments.github) fmt::print("{}", to_annotations(runs, from));
}

// ---------------------------------------------------------------------------- one target

int check_target(CheckArguments arguments) {
    CheckRequest& request = arguments.request;
    request.options.progress = show_progress;
    prepare(request);
    const std::vector<CheckSubject> subjects = subjects_of(request.command);
    const TargetRuns checked = check_subjects(request, subjects);
    const Run& shown = checked.shown();
    if (arguments.json) {
        fmt::print("{}\n", to_json(results_of(checked.runs)));
    } else {
        const std::vector<SubjectResult> results = results_of(checked.runs);
        fmt::print("{}{}{}", summary_text(results), findings_text(shown, request),
                   redundant_text(results, request.full));
    }
    const std::string picture = arguments.svg.empty() ? "" : picture_of(shown, request.full);
    if (!picture.empty()) base::write_text(arguments.svg, picture, "picture");
    write_reports(checked.runs, arguments, std::filesystem::current_path());
    return exit_code_for(shown.result);
}

// ---------------------------------------------------------------------------- a project

// What is checked is for the project to say, and some reports are about one target.
void refuse_options(const Command& command) {
    for (const OptionFacts& option : command.options()) {
        if (!option.is_given || option.name == "target") continue;
        if (option.group != kReportGroup) {
            throw Error(Fault::usage, fmt::format("{} says what is checked: without a target, {} "
                                                  "does",
                                                  option.name, kProjectFile));
        }
        if (option.key == "svg" || option.key == "explain" || option.key == "redundant") {
            throw Error(Fault::usage, fmt::format("{} is for one target: name it", option.name));
        }
    }
}

std::filesystem::path project_of(const std::string& target) {
    if (!target.empty()) return target;
    if (const auto found = find_project(std::filesystem::current_path())) return *found;
    throw Error(Fault::usage,
                fmt::format("check: expected a target, or a {} here or in a directory above that "
                            "lists what to check",
                            kProjectFile));
}

void print_project(const ProjectResult& project) {
    std::size_t right = 0, from_store = 0;
    for (const Run& run : project.runs) {
        const SubjectResult& result = run.result;
        if (result.is_as_expected()) {
            ++right;
            from_store += result.from_store == result.checks ? 1 : 0;
            continue;
        }
        fmt::print("{}:{}: {}\n", result.asked_at->file, result.asked_at->line,
                   result.subject->what);
        fmt::print("{}\n", result.trouble ? fmt::format("{}\n", result.trouble->what())
                                          : findings_text(run, project.request_of(run)));
    }
    fmt::print("{}", summary_text(results_of(project.runs)));
    const std::size_t all = project.runs.size();
    fmt::print("{} check{}: {} as expected, {} of them from the store", all, all == 1 ? "" : "s",
               right, from_store);
    fmt::print("{}\n", right == all ? "" : fmt::format("; {} not", all - right));
}

int check_all_of_project(const Command& command, const CheckArguments& arguments) {
    refuse_options(command);
    const std::filesystem::path path = project_of(arguments.request.command.target.target);
    const std::filesystem::path from = std::filesystem::current_path();
    const ProjectResult project =
        check_project(path, arguments.request.full, arguments.request.command.bytes);
    if (arguments.json) {
        fmt::print("{}\n", to_json(results_of(project.runs)));
    } else {
        print_project(project);
    }
    write_reports(project.runs, arguments, from);
    int worst = kFine;  // bad usage, then wrong, then a bound
    for (const Run& run : project.runs) {
        const int code = exit_code_for(run.result);
        const auto weight = [](int each) { return each == kBoundReached ? 0.5 : each; };
        if (weight(code) > weight(worst)) worst = code;
    }
    return worst;
}

bool is_project(const std::string& target) {
    return target.empty() || std::filesystem::path(target).extension() == ".toml";
}

}  // namespace

void add_check(CommandLine& line) {
    Command* command =
        line.add_subcommand("check", "prove over every interleaving, or show how it breaks");
    auto arguments = std::make_shared<CheckArguments>();
    add_request_options(*command, arguments->request);
    add_store_option(*command)->group(kReportGroup);
    command->add_flag("--json", arguments->json, "the report as JSON")->group(kReportGroup);
    const auto add_file = [&](const char* name, std::string& file, const char* description) {
        command->add_option(name, file, description)->group(kReportGroup);
    };
    add_file("--svg", arguments->svg, "write the counterexample as a picture");
    add_file("--junit", arguments->junit, "write the results as a JUnit test suite");
    add_file("--sarif", arguments->sarif,
             "write the findings as SARIF 2.1.0, for code-scanning views");
    command
        ->add_flag("--github", arguments->github,
                   "print the findings as annotations of a GitHub workflow, too")
        ->group(kReportGroup);
    command->footer(
        "The target is a collective, file.peal[:kernel], a PTO kernel.cpp, plan.json, a plan of "
        "MSCCL\n"
        "(.xml) or MSCCL++ (.json), or all.\n"
        "Without one: everything that peal.toml lists, here or in a directory above.\n"
        "Exit codes: 0 proved, 1 violated, 2 bad usage or program, 3 bound reached.\n"
        "Examples:\n"
        "  peal check all --recipe all -n 2..16\n"
        "  peal check allreduce --recipe ring -n 8 --count 1000\n"
        "  peal check allreduce --after broadcast:tree -n 4\n"
        "  peal check mine.peal -n 2..4 --expect allreduce --svg race.svg\n"
        "  peal check examples/pto/allreduce_ring.cpp -n 2..16 --as allreduce --device a5");
    command->callback([command, arguments] {
        return is_project(arguments->request.command.target.target)
                   ? check_all_of_project(*command, *arguments)
                   : check_target(*arguments);
    });
}

}  // namespace peal::cli
