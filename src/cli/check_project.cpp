// SPDX-License-Identifier: Apache-2.0
#include "cli/check_project.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "base/thread.hpp"
#include "cli/option_words.hpp"
#include "cli/project.hpp"
#include "peal/diagnostic.hpp"
#include "shm/machine.hpp"

namespace peal::cli {
namespace {

constexpr const char* kVerdict = "verdict";

// ---------------------------------------------------------------------------- from keys to options

// A command of its own for each check, so that its words fill in one request.
class RequestLine {
public:
    explicit RequestLine(CheckRequest& request) {
        add_request_options(command_, request);
        command_.callback([] { return kFine; });
    }

    std::vector<OptionFacts> options() const { return command_.options(); }
    void read(const std::vector<std::string>& words) {
        std::vector<std::string> all = {"check"};
        all.insert(all.end(), words.begin(), words.end());
        line_.run_words(all);
    }

private:
    CommandLine line_{"peal", "", ""};
    Command& command_ = *line_.add_subcommand("check", "");
};

// The options that say what is checked are what a check of a project may say.
std::vector<OptionFacts> project_keys() {
    CheckRequest request;
    std::vector<OptionFacts> keys = RequestLine(request).options();
    const auto is_shown_only = [](const OptionFacts& key) { return key.group == kReportGroup; };
    keys.erase(std::remove_if(keys.begin(), keys.end(), is_shown_only), keys.end());
    OptionFacts verdict;
    verdict.key = kVerdict;
    keys.push_back(verdict);
    return keys;
}

// As on the command line; the target comes first, since options may take several words.
std::vector<std::string> words_of(const ProjectCheck& check, const std::vector<OptionFacts>& keys) {
    OptionValues values;
    for (const ProjectSetting& setting : check.settings) {
        if (setting.key == "target" || setting.key == kVerdict) continue;
        for (const std::string& value : setting.values) values.emplace_back(setting.key, value);
    }
    std::vector<std::string> words = {*check.value_of("target")};
    for (std::string& word : words_of(values, keys)) words.push_back(std::move(word));
    return words;
}

[[noreturn]] void refuse(const Project& project, std::uint32_t line, const std::string& message) {
    Diagnostic diagnostic;
    diagnostic.span = {line, 1, 1};
    diagnostic.message = message;
    throw ProgramError({diagnostic}, project.source.get());
}

Verdict expected_verdict(const Project& project, const ProjectCheck& check) {
    const std::string text = check.value_of(kVerdict).value_or("proved");
    if (text == name(Verdict::proved)) return Verdict::proved;
    if (text == name(Verdict::violated)) return Verdict::violated;
    refuse(project, check.line,
           fmt::format("verdict: expected 'proved' or 'violated', found '{}'", text));
}

ProjectPart part_of(const Project& project, const ProjectCheck& check,
                    const std::vector<OptionFacts>& keys) {
    ProjectPart part;
    part.at = {project.source->name(), check.line};
    part.expected = expected_verdict(project, check);
    try {
        RequestLine(part.request).read(words_of(check, keys));
    } catch (const Error& error) {
        refuse(project, check.line, error.what());
    }
    part.request.take_proofs = true;
    return part;
}

// ---------------------------------------------------------------------------- on all cores

// How far it is, on a terminal.
class Meter {
public:
    explicit Meter(std::size_t all) : all_(all), shows_(isatty(STDERR_FILENO) == 1) {}
    ~Meter() { show(""); }
    Meter(const Meter&) = delete;
    Meter& operator=(const Meter&) = delete;

    void done(const std::string& what) {
        const std::lock_guard lock(mutex_);
        ++done_;
        show(fmt::format("[{}/{}] {}", done_, all_, what));
    }

private:
    void show(const std::string& text) const {
        if (shows_) fmt::print(stderr, "\r\x1b[K{}", text);
        if (shows_) std::fflush(stderr);
    }

    std::size_t all_;
    bool shows_;
    std::size_t done_ = 0;
    std::mutex mutex_;
};

// Calls `each` with 0 to count - 1. What one throws is thrown when all are done.
void on_all_cores(std::size_t count, const std::function<void(std::size_t)>& each) {
    std::atomic<std::size_t> next{0};
    std::vector<std::exception_ptr> thrown(count);
    const auto work = [&] {
        for (std::size_t i = next++; i < count; i = next++) {
            try {
                each(i);
            } catch (...) {
                thrown[i] = std::current_exception();
            }
        }
    };
    std::vector<std::thread> others;
    const auto cores = static_cast<std::size_t>(shm::available_cores());
    while (others.size() + 1 < std::min(cores, count)) {
        try {
            others.push_back(base::start_thread("a thread that checks", work));
        } catch (const Error&) {
            break;  // those that there are do it all
        }
    }
    work();
    for (std::thread& other : others) other.join();
    for (const std::exception_ptr& error : thrown) {
        if (error) std::rethrow_exception(error);
    }
}

Run run_of(const ProjectPart& part, const CheckSubject& subject) {
    Run run;
    try {
        run = check_subject(part.request, subject);
        if (run.result.last.verdict != part.expected) look_on_fewer(part.request, run);
    } catch (const Error& error) {
        run.result.trouble = error;
    }
    run.result.subject = &subject;
    run.result.asked_at = part.at;
    run.result.expected = part.expected;
    return run;
}

// What cannot even be made has a subject, too, for the table.
std::optional<Error> make_subjects(ProjectPart& part) {
    try {
        prepare(part.request);
        part.subjects = subjects_of(part.request.command);
        return std::nullopt;
    } catch (const Error& error) {
        CheckSubject subject;
        subject.what = part.request.command.target.target;
        subject.recipe = "-";
        subject.options = part.request.command.target;
        part.subjects = {std::move(subject)};
        return error;
    }
}

}  // namespace

const CheckRequest& ProjectResult::request_of(const Run& run) const {
    const auto part = std::find_if(parts.begin(), parts.end(), [&](const ProjectPart& each) {
        return std::any_of(each.subjects.begin(), each.subjects.end(),
                           [&](const CheckSubject& one) { return &one == run.result.subject; });
    });
    return part->request;
}

ProjectResult check_project(const std::filesystem::path& path, bool full, bool bytes) {
    const std::vector<OptionFacts> keys = project_keys();
    const Project project = read_project(path, keys);
    std::filesystem::current_path(std::filesystem::absolute(path).parent_path());
    ProjectResult result;
    std::vector<ProjectPart*> parts;
    for (const ProjectCheck& check : project.checks) {
        result.parts.push_back(part_of(project, check, keys));
        result.parts.back().request.full = full;
        result.parts.back().request.command.bytes = bytes;
        parts.push_back(&result.parts.back());
    }
    std::vector<std::optional<Error>> troubles(parts.size());
    on_all_cores(parts.size(), [&](std::size_t i) { troubles[i] = make_subjects(*parts[i]); });

    struct Item {
        std::size_t part;
        const CheckSubject* subject;
    };
    std::vector<Item> items;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        for (const CheckSubject& subject : parts[i]->subjects) items.push_back({i, &subject});
    }
    result.runs.resize(items.size());
    Meter meter(items.size());
    on_all_cores(items.size(), [&](std::size_t i) {
        const auto& [part, subject] = items[i];
        Run& run = result.runs[i];
        if (troubles[part]) {
            run.result.subject = subject;
            run.result.asked_at = parts[part]->at;
            run.result.expected = parts[part]->expected;
            run.result.trouble = troubles[part];
        } else {
            run = run_of(*parts[part], *subject);
        }
        meter.done(subject->what);
    });
    return result;
}

}  // namespace peal::cli
