// SPDX-License-Identifier: Apache-2.0
#include "peal/communicator.hpp"

#include <exception>
#include <optional>

#include "comm/bootstrap.hpp"
#include "comm/desk.hpp"
#include "comm/window.hpp"
#include "shm/membership.hpp"
#include "shm/ranks.hpp"

namespace peal {

// ---------------------------------------------------------------------------- a place

namespace {

std::shared_ptr<comm::Desk> desk_for(std::unique_ptr<comm::Group> group) {
    return std::make_shared<comm::Desk>(std::move(group));
}

// The queue of a communicator's collectives, which keeps the communicator.
std::shared_ptr<comm::Queue> collectives_of(const std::shared_ptr<comm::Desk>& desk) {
    return {desk, &desk->collectives()};
}

}  // namespace

Communicator::Communicator(std::shared_ptr<comm::WorldMember> member,
                           std::shared_ptr<comm::Desk> desk)
    : member_(std::move(member)), desk_(std::move(desk)) {}
Communicator::Communicator(Communicator&&) noexcept = default;
Communicator& Communicator::operator=(Communicator&&) noexcept = default;
Communicator::~Communicator() = default;

Communicator Communicator::connect() {
    if (const auto job = hosts::join()) return comm::Inside::connect(job);
    const shm::Membership membership = shm::join_world();
    auto member = std::make_shared<comm::WorldMember>(membership.world, membership.rank);
    return {std::move(member), desk_for(comm::bootstrap(membership.world, membership.rank))};
}

Communicator comm::Inside::connect(const std::shared_ptr<hosts::Job>& job) {
    auto member = std::make_shared<WorldMember>(job->world(), job->rank(), job);
    try {
        return {std::move(member), desk_for(bootstrap(job))};
    } catch (const std::exception& error) {
        job->fail(error.what());
        throw;
    }
}

int Communicator::fork(int n, const std::function<void(Communicator&)>& body,
                       const std::function<void()>& started) {
    const auto run = [&](std::shared_ptr<shm::World> world, int rank) {
        Communicator self(nullptr, desk_for(comm::bootstrap(std::move(world), rank)));
        body(self);
    };
    return shm::fork_ranks(n, run, started);
}

void Communicator::threads(int n, const std::function<void(Communicator&)>& body) {
    shm::run_threads(n, [&](std::shared_ptr<shm::World> world, int rank) {
        Communicator self(nullptr, desk_for(comm::bootstrap(std::move(world), rank)));
        body(self);
    });
}

int Communicator::rank() const { return desk_->group().rank(); }
int Communicator::nranks() const { return desk_->group().nranks(); }
std::string_view Communicator::profile() const { return desk_->group().table()->origin; }
std::string Communicator::recipe(const Call& call) const {
    const comm::Use use(desk_->under_way());
    comm::Group& group = desk_->group();
    return group.progress().usable(*group.routine_of(call)).collective.recipe;
}
void Communicator::set_timeout(std::chrono::milliseconds timeout) {
    std::optional<comm::Use> use;
    if (!desk_->under_way().is_asked_here()) use.emplace(desk_->under_way());
    desk_->under_way().timeout = timeout;
}

void Communicator::set_watch(std::function<void()> watch) {
    const comm::Use use(desk_->under_way());
    desk_->under_way().watch = std::move(watch);
}

Communicator Communicator::split(int colour, int key, CallSite at) {
    const comm::Use use(desk_->under_way());
    desk_->collectives().drain();
    return {member_, desk_for(comm::split(desk_->group(), colour, key, at))};
}

Communicator comm::Inside::choosing_by(Communicator& whole, std::shared_ptr<const Table> table,
                                       CallSite at) {
    const Use use(whole.desk_->under_way());
    whole.desk_->collectives().drain();
    return {whole.member_, desk_for(split(whole.desk_->group(), 0, 0, at, std::move(table)))};
}

// ---------------------------------------------------------------------------- calls

void Communicator::run(const Call& call, CallSite at) {
    const comm::Use use(desk_->under_way());
    desk_->collectives().drain();
    desk_->group().run(call, at);
}

Pending Communicator::start(const Call& call, CallSite at) {
    const comm::Use use(desk_->under_way());
    const comm::Request& request = desk_->group().usual_request_of(call, at);
    return {collectives_of(desk_), desk_->collectives().start(request)};
}

Pending::Pending(std::shared_ptr<comm::Queue> queue, std::uint64_t ticket)
    : first_{std::move(queue), ticket} {}
void Pending::add(std::shared_ptr<comm::Queue> queue, std::uint64_t ticket) {
    if (first_.queue == nullptr) {
        first_ = {std::move(queue), ticket};
    } else {
        rest_.push_back({std::move(queue), ticket});
    }
}
Pending::Pending(Pending&&) noexcept = default;

Pending& Pending::operator=(Pending&& other) noexcept {
    if (this != &other) {
        Pending old(std::move(*this));  // is waited for when it goes
        first_ = std::move(other.first_);
        rest_ = std::move(other.rest_);
    }
    return *this;
}

Pending::~Pending() {
    const auto end = [](const Part& part) {
        try {
            if (part.queue) part.wait();
        } catch (...) {  // the next call on the communicator says it again
        }
    };
    end(first_);
    for (const Part& part : rest_) end(part);
}

void Pending::Part::wait() const {
    const comm::Use use(queue->under_way());
    queue->wait(ticket);
}

bool Pending::Part::test() const {
    const comm::Use use(queue->under_way());
    return queue->test(ticket);
}

bool Pending::test() {
    bool is_done = !first_.queue || first_.test();
    for (const Part& part : rest_) is_done = part.test() && is_done;
    return is_done;
}

void Pending::wait() {
    if (first_.queue) first_.wait();
    for (const Part& part : rest_) part.wait();
}

struct Prepared::State {
    std::shared_ptr<comm::Desk> desk;
    comm::Request request;
};

Prepared Communicator::prepare(const Call& call, CallSite at) {
    const comm::Use use(desk_->under_way());
    return Prepared(std::make_unique<Prepared::State>(
        Prepared::State{desk_, desk_->group().request_of(call, at)}));
}

// ---- of pieces that only this rank knows

void Communicator::all_to_all_v(ConstMemory input, Memory output, const Pieces& sent,
                                const Pieces& received, CallSite at) {
    const comm::Use use(desk_->under_way());
    desk_->collectives().drain();
    const auto request = desk_->local_pieces().exchange({input, output, sent, received}, at);
    if (request) desk_->group().progress().run(*request);
}

Pending Communicator::start_all_to_all_v(ConstMemory input, Memory output, const Pieces& sent,
                                         const Pieces& received, CallSite at) {
    const comm::Use use(desk_->under_way());
    desk_->collectives().drain();
    const auto request = desk_->local_pieces().exchange({input, output, sent, received}, at);
    if (!request) return {};
    return {collectives_of(desk_), desk_->collectives().start(*request)};
}

Prepared Communicator::prepare_all_to_all_v(ConstMemory input, Memory output, const Pieces& sent,
                                            const Pieces& received, CallSite at) {
    const comm::Use use(desk_->under_way());
    desk_->collectives().drain();
    comm::Request request = desk_->local_pieces().prepare({input, output, sent, received}, at);
    return Prepared(std::make_unique<Prepared::State>(Prepared::State{desk_, std::move(request)}));
}

Prepared::Prepared(std::unique_ptr<State> state) : state_(std::move(state)) {}
Prepared::Prepared(Prepared&&) noexcept = default;
Prepared& Prepared::operator=(Prepared&&) noexcept = default;
Prepared::~Prepared() = default;

void Prepared::run() {
    const comm::Use use(state_->desk->under_way());
    state_->desk->collectives().drain();
    state_->desk->group().progress().run(state_->request);
}

Pending Prepared::start() {
    const comm::Use use(state_->desk->under_way());
    return {collectives_of(state_->desk), state_->desk->collectives().start(state_->request)};
}

}  // namespace peal
