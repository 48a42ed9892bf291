// SPDX-License-Identifier: Apache-2.0
// Peal as a contender, under `peal launch`. `private` buffers lie anywhere, as those of the others
// do; `unaligned` ones begin one element behind a page; `windows` lie in symmetric memory, where
// the result replaces the input.
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "contender_main.hpp"
#include "peal/communicator.hpp"

namespace peal::bench {
namespace {

class PrivateContender : public Contender {
public:
    int rank() const override { return comm_.rank(); }
    int nranks() const override { return comm_.nranks(); }
    Operation bind(const Job& job) override;

protected:
    // One for each rank, all the same.
    std::vector<std::int64_t> counts_of(const Job& job) const {
        return std::vector<std::int64_t>(static_cast<std::size_t>(nranks()),
                                         static_cast<std::int64_t>(job.shape.block));
    }
    Communicator comm_ = Communicator::connect();
};

Operation PrivateContender::bind(const Job& job) {
    const std::span<const float> in(job.input, job.shape.input);
    const std::span<float> out(job.output, job.shape.output);
    switch (job.task) {
        case Task::allreduce: return [=, this](std::uint64_t) { comm_.allreduce(in, out); };
        case Task::reduce_scatter:
            return [=, this](std::uint64_t) { comm_.reduce_scatter(in, out); };
        case Task::allgather: return [=, this](std::uint64_t) { comm_.allgather(in, out); };
        case Task::broadcast:
            return [=, this, own = std::span(job.input, job.shape.input)](std::uint64_t iteration) {
                const int root = root_of(iteration, nranks());
                comm_.broadcast(root == rank() ? own : out, root);
            };
        case Task::all_to_all: return [=, this](std::uint64_t) { comm_.all_to_all(in, out); };
        case Task::scan: return [=, this](std::uint64_t) { comm_.scan(in, out); };
        case Task::exscan: return [=, this](std::uint64_t) { comm_.exscan(in, out); };
        case Task::allgather_v:
            return [=, this, counts = counts_of(job)](std::uint64_t) {
                comm_.allgather_v(in, out, counts);
            };
        case Task::reduce_scatter_v:
            return [=, this, counts = counts_of(job)](std::uint64_t) {
                comm_.reduce_scatter_v(in, out, counts);
            };
        case Task::all_to_all_v:
            return [=, this, counts = counts_of(job)](std::uint64_t) {
                comm_.all_to_all_v(in, out, Pieces{counts}, Pieces{counts});
            };
        case Task::ping_pong:
            return [=, this, peer = partner_of(rank())](std::uint64_t) {
                if (rank() < peer) comm_.send(in, peer);
                comm_.recv(out, peer);
                if (rank() > peer) comm_.send(in, peer);
            };
        case Task::stream:
            return [=, this, peer = partner_of(rank())](std::uint64_t) {
                rank() < peer ? comm_.send(in, peer) : comm_.recv(out, peer);
            };
        case Task::neighbours:
            return [=, this](std::uint64_t) {
                const auto from_left = out.first(in.size()), from_right = out.last(in.size());
                comm_.exchange({{left_of(rank(), nranks()), in, from_left},
                                {right_of(rank(), nranks()), in, from_right}});
            };
        case Task::barrier: return [this](std::uint64_t) { comm_.barrier(); };
        default: throw std::runtime_error("not a collective: " + std::string(name(job.task)));
    }
}

class UnalignedContender final : public PrivateContender {
public:
    std::shared_ptr<float[]> memory(std::size_t count) override {
        const std::shared_ptr<float[]> whole = PrivateContender::memory(count + 1);
        return {whole, whole.get() + 1};
    }
};

class WindowsContender final : public PrivateContender {
public:
    bool in_place() const override { return true; }
    std::shared_ptr<float[]> memory(std::size_t count) override {
        window_ = std::make_shared<Window<float>>(comm_.window<float>(count));
        return {window_, window_->span().data()};
    }
    Operation bind(const Job& job) override {
        if (job.task != Task::allreduce) {
            throw std::runtime_error("windows are measured with allreduce only");
        }
        return [this, window = window_](std::uint64_t) { comm_.allreduce(*window); };
    }

private:
    std::shared_ptr<Window<float>> window_;
};

int run(const std::string& directory, const std::string& buffers) {
    std::unique_ptr<Contender> contender;
    if (buffers == "windows") {
        contender = std::make_unique<WindowsContender>();
    } else if (buffers == "unaligned") {
        contender = std::make_unique<UnalignedContender>();
    } else {
        contender = std::make_unique<PrivateContender>();
    }
    return serve(*contender, directory);
}

}  // namespace
}  // namespace peal::bench

// peal_contender DIRECTORY private|unaligned|windows
int main(int argc, char** argv) { return argc == 3 ? peal::bench::run(argv[1], argv[2]) : 2; }
