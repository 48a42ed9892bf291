// SPDX-License-Identifier: Apache-2.0
#include "season.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>

#include "crews.hpp"
#include "load.hpp"
#include "noise.hpp"

namespace peal::bench {
namespace {

constexpr double kHopeless = 3;
constexpr double kShortestTurn = 0.004;
constexpr double kLongestTurn = 0.05;
constexpr double kShortestNoisyTurn = 0.03;  // several time slices of a stranger
constexpr double kOverdraft = 2.5;           // times its share of the budget that a point may take
constexpr int kFewestRounds = 2;
constexpr int kExtraRounds = 2;  // for those not yet seen in the state that counts

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// One contender in one way at the point that is being measured.
struct Lane {
    const Entry* entry = nullptr;
    std::string way;
    std::map<State, std::vector<double>> batches_ns;
    bool rests = false;
    bool failed = false;

    bool plays() const { return !rests && !failed; }
};

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

class Season {
public:
    Season(const std::vector<Entry>& entries, const std::vector<Point>& points,
           const SeasonOptions& options)
        : entries_(entries), points_(points), options_(options) {}

    Results run(const std::function<void(const std::vector<Row>&)>& finished);

private:
    std::vector<Lane> lanes_of(const Point& point) const;
    std::vector<Row> measure_point(const Point& point);
    void play_round(const Point& point, std::vector<Lane>& lanes, int round);
    void take_turn(const Point& point, Lane& lane);
    void make_noise(int processes);
    State bring_near(const Point& point);
    State look(const Point& point);
    double share_seconds() const;
    std::vector<Row> rows_of(const Point& point, const std::vector<Lane>& lanes) const;
    void tell(const Point& point, std::size_t index, const std::vector<Row>& rows) const;

    const std::vector<Entry>& entries_;
    const std::vector<Point>& points_;
    const SeasonOptions& options_;
    Placement placement_;
    std::unique_ptr<Crews> crews_;
    std::optional<Noise> noise_;
    std::optional<ForeignLoad> load_;
    std::size_t points_left_ = 0;
    double turn_ = kShortestTurn;
    Results results_;
    Clock::time_point start_ = Clock::now();
};

Results Season::run(const std::function<void(const std::vector<Row>&)>& finished) {
    for (std::size_t i = 0; i < points_.size(); ++i) {
        const Point& point = points_[i];
        points_left_ = points_.size() - i;
        if (!crews_ || crews_->nranks() != point.nranks) {
            crews_.reset();
            crews_ = std::make_unique<Crews>(point.nranks, options_.directory);
        }
        make_noise(point.noise);
        const std::vector<Row> rows = measure_point(point);
        results_.add(rows);
        finished(rows);
        tell(point, i, rows);
    }
    return std::move(results_);
}

void Season::make_noise(int processes) {
    if (noise_ && noise_->processes() == processes) return;
    noise_.reset();
    noise_.emplace(processes, options_.pins_noise);
}

// Beside strangers a look at the placement tells about the strangers.
State Season::bring_near(const Point& point) {
    return point.noise > 0 ? State::near : placement_.bring_near();
}
State Season::look(const Point& point) { return point.noise > 0 ? State::near : placement_.look(); }

std::vector<Lane> Season::lanes_of(const Point& point) const {
    std::vector<Lane> lanes;
    for (const Entry& entry : entries_) {
        for (const std::string& way : ways(entry, point)) {
            if (crews_->is_willing(entry, way, point))
                lanes.push_back({&entry, way, {}, false, false});
        }
    }
    return lanes;
}

// Of what is left of the budget, for each point that is left.
double Season::share_seconds() const {
    const double left = std::max(0.0, options_.budget_seconds - seconds_since(start_));
    return left / static_cast<double>(points_left_);
}

bool has_quicker_peer(State state, double ns, const std::vector<Lane>& lanes) {
    return std::any_of(lanes.begin(), lanes.end(), [&](const Lane& other) {
        const auto same = other.batches_ns.find(state);
        return other.entry->team != Team::ours && same != other.batches_ns.end() &&
               ns > kHopeless * median(same->second);
    });
}

// Only what was measured in the same state is compared.
bool is_hopeless(const Lane& lane, const std::vector<Lane>& lanes) {
    if (lane.entry->team == Team::ours) return false;
    return std::any_of(lane.batches_ns.begin(), lane.batches_ns.end(), [&](const auto& measured) {
        return measured.first != State::mixed &&
               has_quicker_peer(measured.first, median(measured.second), lanes);
    });
}

void rest_the_hopeless(std::vector<Lane>& lanes) {
    for (Lane& lane : lanes) lane.rests = is_hopeless(lane, lanes);
}

// Who has been seen in the state that counts rests.
void rest_the_seen(std::vector<Lane>& lanes) {
    const auto seen = [&](State state) {
        return std::count_if(lanes.begin(), lanes.end(),
                             [&](const Lane& lane) { return lane.batches_ns.count(state) != 0; });
    };
    const State common = seen(State::near) >= seen(State::far) ? State::near : State::far;
    for (Lane& lane : lanes) lane.rests = lane.batches_ns.count(common) != 0;
}

std::vector<Row> Season::measure_point(const Point& point) {
    std::vector<Lane> lanes = lanes_of(point);
    const double share = share_seconds();
    const auto turns = static_cast<double>(lanes.size()) * options_.rounds;
    turn_ = std::clamp(share / std::max(turns, 1.0),
                       point.noise > 0 ? kShortestNoisyTurn : kShortestTurn, kLongestTurn);
    load_.emplace();
    const auto start = Clock::now();
    for (int round = 0; round < options_.rounds; ++round) {
        play_round(point, lanes, round);
        if (round == 0) rest_the_hopeless(lanes);
        if (round + 1 >= kFewestRounds && seconds_since(start) > kOverdraft * share) break;
    }
    for (int extra = 0; extra < kExtraRounds; ++extra) {
        rest_the_seen(lanes);
        play_round(point, lanes, extra);
    }
    return rows_of(point, lanes);
}

// Each round begins with another contender.
void Season::play_round(const Point& point, std::vector<Lane>& lanes, int round) {
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        Lane& lane = lanes[(i + static_cast<std::size_t>(round)) % lanes.size()];
        if (lane.plays()) take_turn(point, lane);
    }
}

void Season::take_turn(const Point& point, Lane& lane) {
    try {
        Crew& crew = crews_->crew_of(*lane.entry);
        const State before = bring_near(point);
        const Measurement measured =
            crew.measure({point.task, point.bytes, lane.way, point.cold, turn_});
        const State state = between(before, look(point));
        load_->add_own(measured.cpu_seconds);
        std::vector<double>& batches = lane.batches_ns[state];
        batches.insert(batches.end(), measured.batches_ns.begin(), measured.batches_ns.end());
    } catch (const CrewTrouble& trouble) {
        lane.failed = true;
        crews_->dismiss(*lane.entry, lane.way, point);
        results_.add(Trouble{point, lane.entry->name, lane.way, trouble.what()});
        fmt::print(stderr, "{}: {} {}: {}\n", print(point), lane.entry->name, lane.way,
                   trouble.what());
    }
}

std::vector<Row> Season::rows_of(const Point& point, const std::vector<Lane>& lanes) const {
    std::vector<Row> rows;
    for (const Lane& lane : lanes) {
        for (const auto& [state, batches] : lane.batches_ns) {
            Row row;
            row.point = point;
            row.contender = lane.entry->name;
            row.family = lane.entry->family;
            row.team = lane.entry->team;
            row.way = lane.way;
            row.state = state;
            row.foreign_cores = load_->cores();
            rows.push_back(summarise(row, batches));
        }
    }
    mark_counting(rows);
    return rows;
}

void Season::tell(const Point& point, std::size_t index, const std::vector<Row>& rows) const {
    std::string best = "nothing counts";
    double shortest = 0;
    for (const Row& row : rows) {
        if (!row.counts || (shortest != 0 && row.median_us >= shortest)) continue;
        shortest = row.median_us;
        best = fmt::format("{:.3f} us {} {}", row.median_us, row.contender, name(row.state));
    }
    fmt::print(stderr, "[{:4.0f} s] {}/{} {}: {}\n", seconds_since(start_), index + 1,
               points_.size(), print(point), best);
}

}  // namespace

Results run_season(const std::vector<Entry>& entries, const std::vector<Point>& points,
                   const SeasonOptions& options,
                   const std::function<void(const std::vector<Row>&)>& finished) {
    return Season(entries, points, options).run(finished);
}

}  // namespace peal::bench
