// SPDX-License-Identifier: Apache-2.0
#include "peal/communicator.hpp"

#include "comm/bootstrap.hpp"
#include "comm/pieces.hpp"
#include "comm/queue.hpp"
#include "shm/membership.hpp"
#include "shm/ranks.hpp"

namespace peal {

// ---------------------------------------------------------------------------- a place

namespace {

std::shared_ptr<comm::Queue> queue_for(std::unique_ptr<comm::Group> group) {
    return std::make_shared<comm::Queue>(std::move(group));
}

}  // namespace

Communicator::Communicator(std::shared_ptr<comm::Seat> seat, std::shared_ptr<comm::Queue> queue)
    : seat_(std::move(seat)), queue_(std::move(queue)) {}
Communicator::Communicator(Communicator&&) noexcept = default;
Communicator& Communicator::operator=(Communicator&&) noexcept = default;
Communicator::~Communicator() = default;

Communicator Communicator::connect() {
    const comm::Membership membership = comm::join_world();
    auto seat = std::make_shared<comm::Seat>(membership.world, membership.rank);
    return {std::move(seat), queue_for(comm::bootstrap(membership.world, membership.rank))};
}

int Communicator::fork(int n, const std::function<void(Communicator&)>& body) {
    return comm::fork_ranks(n, [&](std::shared_ptr<shm::World> world, int rank) {
        Communicator self(nullptr, queue_for(comm::bootstrap(std::move(world), rank)));
        body(self);
    });
}

void Communicator::threads(int n, const std::function<void(Communicator&)>& body) {
    comm::run_threads(n, [&](std::shared_ptr<shm::World> world, int rank) {
        Communicator self(nullptr, queue_for(comm::bootstrap(std::move(world), rank)));
        body(self);
    });
}

int Communicator::rank() const { return queue_->group().rank(); }
int Communicator::nranks() const { return queue_->group().nranks(); }
std::string_view Communicator::profile() const { return queue_->group().table()->origin; }
std::string Communicator::recipe(const Call& call) const {
    return queue_->group().routine_of(call)->collective.recipe;
}
void Communicator::set_timeout(std::chrono::milliseconds timeout) {
    queue_->group().progress().diagnosis().set_timeout(timeout);
}

Communicator Communicator::split(int colour, int key, CallSite at) {
    const comm::Queue::Use use(*queue_);
    queue_->drain();
    return {seat_, queue_for(comm::split(queue_->group(), colour, key, at))};
}

// ---------------------------------------------------------------------------- calls

void Communicator::run(const Call& call, CallSite at) {
    const comm::Queue::Use use(*queue_);
    queue_->drain();
    queue_->group().run(call, at);
}

Pending Communicator::start(const Call& call, CallSite at) {
    const comm::Queue::Use use(*queue_);
    const comm::RoutinePtr routine = queue_->group().routine_of(call);
    return {queue_, queue_->start(routine, queue_->group().request_of(call, at, *routine))};
}

Pending::Pending(std::shared_ptr<comm::Queue> queue, std::uint64_t ticket)
    : queue_(std::move(queue)), ticket_(ticket) {}
Pending::Pending(Pending&&) noexcept = default;

Pending& Pending::operator=(Pending&& other) noexcept {
    if (this != &other) {
        Pending old(std::move(*this));  // is waited for when it goes
        queue_ = std::move(other.queue_);
        ticket_ = other.ticket_;
    }
    return *this;
}

Pending::~Pending() {
    if (!queue_) return;
    try {
        wait();
    } catch (...) {  // the next call on the communicator says it again
    }
}

bool Pending::test() {
    const comm::Queue::Use use(*queue_);
    return queue_->test(ticket_);
}
void Pending::wait() {
    const comm::Queue::Use use(*queue_);
    queue_->wait(ticket_);
}

struct Prepared::State {
    std::shared_ptr<comm::Queue> queue;
    comm::RoutinePtr routine;
    comm::Request request;
};

Prepared Communicator::prepare(const Call& call, CallSite at) {
    const comm::Queue::Use use(*queue_);
    comm::RoutinePtr routine = queue_->group().routine_of(call);
    const comm::Request request = queue_->group().request_of(call, at, *routine);
    return Prepared(
        std::make_unique<Prepared::State>(Prepared::State{queue_, std::move(routine), request}));
}

// ---- of pieces that only this rank knows

void Communicator::all_to_all_v(ConstMemory input, Memory output, const Pieces& sent,
                                const Pieces& received, CallSite at) {
    prepare_all_to_all_v(input, output, sent, received, at).run();
}

Pending Communicator::start_all_to_all_v(ConstMemory input, Memory output, const Pieces& sent,
                                         const Pieces& received, CallSite at) {
    return prepare_all_to_all_v(input, output, sent, received, at).start();
}

Prepared Communicator::prepare_all_to_all_v(ConstMemory input, Memory output, const Pieces& sent,
                                            const Pieces& received, CallSite at) {
    const comm::Queue::Use use(*queue_);
    queue_->drain();
    comm::Placed placed = comm::place_pieces(queue_->group(), input, output, sent, received, at);
    return Prepared(std::make_unique<Prepared::State>(
        Prepared::State{queue_, std::move(placed.routine), placed.request}));
}

Prepared::Prepared(std::unique_ptr<State> state) : state_(std::move(state)) {}
Prepared::Prepared(Prepared&&) noexcept = default;
Prepared& Prepared::operator=(Prepared&&) noexcept = default;
Prepared::~Prepared() = default;

void Prepared::run() {
    const comm::Queue::Use use(*state_->queue);
    state_->queue->drain();
    state_->queue->group().progress().run(state_->request);
}

Pending Prepared::start() {
    const comm::Queue::Use use(*state_->queue);
    return {state_->queue, state_->queue->start(state_->routine, state_->request)};
}

}  // namespace peal
