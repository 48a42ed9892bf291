// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.hpp"

#include <algorithm>
#include <deque>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "language/names.hpp"
#include "peal/error.hpp"

namespace peal::cli {
namespace {

class ParsedOption final : public Option {
public:
    explicit ParsedOption(CLI::Option* option) : option_(option) {}

    Option* required() override {
        option_->required();
        return this;
    }
    Option* delimiter(char separator) override {
        option_->delimiter(separator);
        return this;
    }
    Option* one_value_each() override {
        option_->allow_extra_args(false);
        return this;
    }
    Option* group(const std::string& title) override {
        option_->group(title);
        return this;
    }
    Option* excludes(Option* other) override {
        option_->excludes(static_cast<ParsedOption*>(other)->option_);
        return this;
    }
    Option* when_given(std::function<void()> action) override {
        option_->each([action = std::move(action)](const std::string&) { action(); });
        return this;
    }

private:
    CLI::Option* option_;
};

OptionFacts facts_of(const CLI::Option& option) {
    OptionFacts facts;
    const bool is_argument = option.get_lnames().empty() && option.get_snames().empty();
    facts.name = option.get_name(is_argument);
    facts.key = facts.name.substr(facts.name.find_first_not_of('-'));
    for (const std::string& name : option.get_lnames()) facts.names.push_back("--" + name);
    for (const std::string& name : option.get_snames()) facts.names.push_back("-" + name);
    facts.group = option.get_group();
    facts.takes_list = option.get_expected_max() > 1;
    facts.is_given = option.count() > 0;
    const std::string type = option.get_type_name();
    if (option.get_items_expected_max() == 0) {
        facts.takes = OptionFacts::Takes::flag;
    } else if (type == "INT" || type == "UINT") {
        facts.takes = OptionFacts::Takes::integer;
    } else if (type == "FLOAT") {
        facts.takes = OptionFacts::Takes::number;
    }
    return facts;
}

class ParsedCommand final : public Command {
public:
    ParsedCommand(CLI::App* app, int* exit_code) : app_(app), exit_code_(exit_code) {}

    Option* add_flag(const std::string& name, bool& value,
                     const std::string& description) override {
        return keep(app_->add_flag(name, value, description));
    }
    Option* add_flag_callback(const std::string& name, std::function<void()> action,
                              const std::string& description) override {
        return keep(app_->add_flag_callback(name, std::move(action), description));
    }
    std::vector<OptionFacts> options() const override {
        std::vector<OptionFacts> facts;
        for (const CLI::Option* option : std::as_const(*app_).get_options()) {
            if (option != app_->get_help_ptr()) facts.push_back(facts_of(*option));
        }
        return facts;
    }
    void footer(const std::string& text) override { app_->footer(text); }
    void hide() override { app_->group(""); }
    void positionals_at_end() override { app_->positionals_at_end(); }
    void callback(std::function<int()> action) override {
        app_->callback(
            [action = std::move(action), exit_code = exit_code_] { *exit_code = action(); });
    }

private:
    Option* add(const std::string& name, OptionValue value,
                const std::string& description) override {
        return keep(std::visit(
            [&](auto* target) { return app_->add_option(name, *target, description); }, value));
    }
    Option* keep(CLI::Option* option) { return &options_.emplace_back(option); }

    CLI::App* app_;
    int* exit_code_;
    std::deque<ParsedOption> options_;  // they stay where they are
};

using Commands = std::vector<const CLI::App*>;

bool is_hidden(const CLI::App* command) { return command->get_group().empty(); }

// One line for each that is for people.
std::string list_of(Commands commands) {
    std::erase_if(commands, is_hidden);
    std::size_t width = 0;
    for (const CLI::App* command : commands) width = std::max(width, command->get_name().size());
    std::string text;
    for (const CLI::App* command : commands) {
        text += fmt::format("  peal {:<{}}  {}\n", command->get_name(), width,
                            command->get_description());
    }
    return text;
}

// Unless the first argument is a command or asks for help.
void expect_command(const Commands& commands, int argc, const char* const* argv) {
    std::string trouble = "expected a command";
    if (argc > 1) {
        const std::string_view word = argv[1];
        std::vector<std::string_view> names;
        for (const CLI::App* command : commands) {
            if (command->get_name() == word) return;
            if (!is_hidden(command)) names.push_back(command->get_name());
        }
        if (word == "-h" || word == "--help" || word == "--version") return;
        const std::string hint = language::did_you_mean(word, names);
        trouble = fmt::format("there is no command '{}'{}{}", word, hint.empty() ? "" : "; ", hint);
    }
    throw Error(Fault::usage, fmt::format("{}\n\n{}\n`peal COMMAND --help` has its options and "
                                          "examples",
                                          trouble, list_of(commands)));
}

[[noreturn]] void refuse(const CLI::App& app, const CLI::ParseError& error) {
    const Commands used = app.get_subcommands([](const CLI::App* each) { return each->parsed(); });
    const std::string name = used.empty() ? "COMMAND" : used.front()->get_name();
    throw Error(Fault::usage, fmt::format("{}: {}; `peal {} --help` has its options and examples",
                                          name, error.what(), name));
}

}  // namespace

int exit_code_for(Fault fault) {
    switch (fault) {
        case Fault::wrong: return kWrong;
        case Fault::bound: return kBoundReached;
        default: return kBadUsage;
    }
}

struct CommandLine::Parser {
    explicit Parser(const std::string& description) : app(description) {}
    CLI::App app;
    int exit_code = kFine;
    std::deque<ParsedCommand> commands;
};

CommandLine::CommandLine(const std::string& name, const std::string& version,
                         const std::string& description)
    : parser_(std::make_unique<Parser>(description)) {
    parser_->app.name(name);
    parser_->app.require_subcommand(1);
    parser_->app.set_version_flag("--version", version);
}

CommandLine::~CommandLine() = default;

Command* CommandLine::add_subcommand(const std::string& name, const std::string& description) {
    return &parser_->commands.emplace_back(parser_->app.add_subcommand(name, description),
                                           &parser_->exit_code);
}

int CommandLine::run(int argc, const char* const* argv) {
    CLI::App& app = parser_->app;
    expect_command(std::as_const(app).get_subcommands([](const CLI::App*) { return true; }), argc,
                   argv);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() != 0) refuse(app, error);
        std::ostringstream out;
        app.exit(error, out);
        fmt::print("{}", out.str());
        return kFine;
    }
    return parser_->exit_code;
}

int CommandLine::run_words(const std::vector<std::string>& words) {
    try {
        parser_->app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // last first
    } catch (const CLI::ParseError& error) {
        throw Error(Fault::usage, error.what());
    }
    return parser_->exit_code;
}

}  // namespace peal::cli
