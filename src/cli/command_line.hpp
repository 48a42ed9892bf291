// SPDX-License-Identifier: Apache-2.0
// The command line: which subcommands there are, what each takes and who carries it out. The
// library that parses it stays behind this header, because every file that includes it takes
// seconds more to compile.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "peal/error.hpp"

namespace peal::cli {

// Exit codes.
enum : int { kFine = 0, kWrong = 1, kBadUsage = 2, kBoundReached = 3 };
int exit_code_for(Fault fault);

class Option {
public:
    virtual ~Option() = default;
    virtual Option* required() = 0;
    virtual Option* delimiter(char separator) = 0;        // of the values of a list
    virtual Option* one_value_each() = 0;                 // a list has one for each mention
    virtual Option* group(const std::string& title) = 0;  // of the help
    virtual Option* excludes(Option* other) = 0;
    virtual Option* when_given(std::function<void()> action) = 0;
};

// What an option is, for those who do not read it from a command line.
struct OptionFacts {
    enum class Takes : std::uint8_t { flag, integer, number, text };
    std::string name;                // "--ranks", "-I", or "target" of an argument
    std::string key;                 // the same without dashes
    std::vector<std::string> names;  // all that it has: "--ranks", "-n"
    std::string group;               // of the help
    Takes takes = Takes::text;
    bool takes_list = false;
    bool is_given = false;
};

// Where the value of an option goes.
using OptionValue =
    std::variant<std::string*, int*, std::uint32_t*, std::uint64_t*, std::int64_t*, double*,
                 std::optional<int>*, std::optional<std::string>*, std::optional<std::uint64_t>*,
                 std::vector<std::string>*, std::vector<std::uint64_t>*>;

// What a subcommand takes. Names are "-n,--ranks"; one without dashes is a positional argument.
class Command {
public:
    virtual ~Command() = default;
    template <class T>
    Option* add_option(const std::string& name, T& value, const std::string& description) {
        return add(name, OptionValue(&value), description);
    }
    virtual Option* add_flag(const std::string& name, bool& value,
                             const std::string& description) = 0;
    virtual Option* add_flag_callback(const std::string& name, std::function<void()> action,
                                      const std::string& description) = 0;
    virtual std::vector<OptionFacts> options() const = 0;  // without --help
    virtual void footer(const std::string& text) = 0;      // examples, at the end of its help
    virtual void hide() = 0;                               // from the list of all
    virtual void positionals_at_end() = 0;                 // what follows them is no option of ours
    virtual void callback(std::function<int()> action) = 0;  // returns the exit code

private:
    virtual Option* add(const std::string& name, OptionValue value,
                        const std::string& description) = 0;
};

class CommandLine {
public:
    CommandLine(const std::string& name, const std::string& version,
                const std::string& description);
    ~CommandLine();
    CommandLine(const CommandLine&) = delete;
    CommandLine& operator=(const CommandLine&) = delete;

    Command* add_subcommand(const std::string& name, const std::string& description);

    // Carries out the subcommand that the arguments name, and returns its exit code. Throws
    // Error(usage) with the nearest name and the list of all when there is none of that name.
    int run(int argc, const char* const* argv);

    // The same with words from elsewhere, the subcommand first. Nothing is printed: words that
    // cannot be are thrown as Error(usage).
    int run_words(const std::vector<std::string>& words);

private:
    struct Parser;
    std::unique_ptr<Parser> parser_;
};

}  // namespace peal::cli
