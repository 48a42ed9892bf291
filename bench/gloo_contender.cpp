// SPDX-License-Identifier: Apache-2.0
// Gloo over TCP on an interface as a contender, in its two ways: `calls` are the
// functions of its current interface; `sync` are the older algorithm objects on pairs that poll.
// `sync` works in place, so what is out of place is copied first.
#include <gloo/algorithm.h>
#include <gloo/allgather.h>
#include <gloo/allgather_ring.h>
#include <gloo/allreduce.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/alltoall.h>
#include <gloo/barrier.h>
#include <gloo/barrier_all_to_all.h>
#include <gloo/broadcast.h>
#include <gloo/broadcast_one_to_all.h>
#include <gloo/math.h>
#include <gloo/reduce_scatter.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/rendezvous/prefix_store.h>
#include <gloo/transport/tcp/device.h>

#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "contender_main.hpp"

namespace peal::bench {
namespace {

using Context = std::shared_ptr<gloo::Context>;

Context connect(const std::string& directory, const std::string& interface,
                const std::string& prefix, int rank, int nranks) {
    gloo::transport::tcp::attr where;
    where.iface = interface;
    auto device = gloo::transport::tcp::CreateDevice(where);
    gloo::rendezvous::FileStore files(directory);
    gloo::rendezvous::PrefixStore store(prefix, files);
    auto context = std::make_shared<gloo::rendezvous::Context>(rank, nranks);
    context->connectFullMesh(store, device);
    return context;
}

class GlooContender final : public Contender {
public:
    GlooContender(const std::string& directory, const std::string& interface, int rank, int nranks)
        : rank_(rank),
          nranks_(nranks),
          waiting_(connect(directory, interface, "waiting", rank, nranks)),
          polling_(connect(directory, interface, "polling", rank, nranks)) {
        for (int peer = 0; peer < nranks; ++peer) {
            if (peer != rank) polling_->getPair(peer)->setSync(true, true);
        }
    }
    int rank() const override { return rank_; }
    int nranks() const override { return nranks_; }
    Operation bind(const Job& job) override {
        if (job.way == "calls") return bind_calls(job);
        return bind_object(job, job.way == "sync" ? polling_ : waiting_);
    }

private:
    Operation bind_calls(const Job& job);
    Operation bind_object(const Job& job, const Context& context);
    Operation bind_reduce_scatter(const Job& job, const Context& context);
    Operation bind_broadcast(const Job& job, const Context& context);
    int rank_;
    int nranks_;
    Context waiting_;
    Context polling_;
};

// std::function wants what it holds to be copyable; the options are not.
template <class Options>
std::shared_ptr<Options> options(const Context& context) {
    return std::make_shared<Options>(context);
}

Operation GlooContender::bind_calls(const Job& job) {
    const Shape shape = job.shape;
    switch (job.task) {
        case Task::allreduce: {
            auto opts = options<gloo::AllreduceOptions>(waiting_);
            opts->setInput(job.input, shape.input);
            opts->setOutput(job.output, shape.output);
            opts->setReduceFunction(
                static_cast<void (*)(void*, const void*, const void*, size_t)>(&gloo::sum<float>));
            return [opts](std::uint64_t) { gloo::allreduce(*opts); };
        }
        case Task::allgather: {
            auto opts = options<gloo::AllgatherOptions>(waiting_);
            opts->setInput(job.input, shape.input);
            opts->setOutput(job.output, shape.output);
            return [opts](std::uint64_t) { gloo::allgather(*opts); };
        }
        case Task::broadcast: {
            auto send = options<gloo::BroadcastOptions>(waiting_);
            send->setOutput(job.input, shape.input);
            send->setRoot(rank_);
            auto receive = options<gloo::BroadcastOptions>(waiting_);
            receive->setOutput(job.output, shape.output);
            return [=, this](std::uint64_t iteration) {
                const int root = root_of(iteration, nranks_);
                receive->setRoot(root);
                gloo::broadcast(root == rank_ ? *send : *receive);
            };
        }
        case Task::all_to_all: {
            auto opts = options<gloo::AlltoallOptions>(waiting_);
            opts->setInput(job.input, shape.input);
            opts->setOutput(job.output, shape.output);
            return [opts](std::uint64_t) { gloo::alltoall(*opts); };
        }
        case Task::barrier: {
            auto opts = options<gloo::BarrierOptions>(waiting_);
            return [opts](std::uint64_t) { gloo::barrier(*opts); };
        }
        default: throw std::runtime_error("not among Gloo's calls: " + std::string(name(job.task)));
    }
}

Operation GlooContender::bind_object(const Job& job, const Context& context) {
    const int count = static_cast<int>(job.shape.block);
    switch (job.task) {
        case Task::allreduce: {
            auto algorithm = std::make_shared<gloo::AllreduceHalvingDoubling<float>>(
                context, std::vector<float*>{job.output}, count);
            return [=](std::uint64_t) {
                std::memcpy(job.output, job.input, job.shape.input * sizeof(float));
                algorithm->run();
            };
        }
        case Task::allgather: {
            auto algorithm = std::make_shared<gloo::AllgatherRing<float>>(
                context, std::vector<const float*>{job.input}, job.output, count);
            return [algorithm](std::uint64_t) { algorithm->run(); };
        }
        case Task::reduce_scatter: return bind_reduce_scatter(job, context);
        case Task::broadcast: return bind_broadcast(job, context);
        case Task::barrier: {
            auto algorithm = std::make_shared<gloo::BarrierAllToAll>(context);
            return [algorithm](std::uint64_t) { algorithm->run(); };
        }
        default:
            throw std::runtime_error("not among Gloo's algorithms: " + std::string(name(job.task)));
    }
}

Operation GlooContender::bind_reduce_scatter(const Job& job, const Context& context) {
    auto scratch = pages(job.shape.input);
    auto algorithm = std::make_shared<gloo::ReduceScatterHalvingDoubling<float>>(
        context, std::vector<float*>{scratch.get()}, static_cast<int>(job.shape.input),
        std::vector<int>(static_cast<std::size_t>(nranks_), static_cast<int>(job.shape.block)));
    return [=](std::uint64_t) {
        std::memcpy(scratch.get(), job.input, job.shape.input * sizeof(float));
        algorithm->run();
        std::memcpy(job.output, scratch.get(), job.shape.output * sizeof(float));
    };
}

Operation GlooContender::bind_broadcast(const Job& job, const Context& context) {
    std::vector<std::shared_ptr<gloo::Algorithm>> from;
    for (int root = 0; root < nranks_; ++root) {
        float* buffer = root == rank_ ? job.input : job.output;
        from.push_back(std::make_shared<gloo::BroadcastOneToAll<float>>(
            context, std::vector<float*>{buffer}, job.shape.block, root));
    }
    return [=, this](std::uint64_t iteration) {
        from[static_cast<std::size_t>(root_of(iteration, nranks_))]->run();
    };
}

}  // namespace
}  // namespace peal::bench

// gloo_contender DIRECTORY INTERFACE RANK NRANKS
int main(int argc, char** argv) {
    if (argc != 5) return 2;
    peal::bench::GlooContender contender(argv[1], argv[2], std::atoi(argv[3]), std::atoi(argv[4]));
    return peal::bench::serve(contender, argv[1]);
}
