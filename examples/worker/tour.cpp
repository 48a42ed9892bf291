// SPDX-License-Identifier: Apache-2.0
// What docs/worker.md shows, as one program.
//
//   tour -d 0-3
#include <cstdint>
#include <cstdio>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "driver.hpp"
#include "peal/program.hpp"
#include "peal/worker.hpp"

namespace {

using namespace peal;

// The tour stops where a result is wrong.
void expect(bool right, const char* what) {
    if (!right) throw Error(Fault::wrong, std::string("wrong: ") + what);
}

constexpr const char* kScale = R"(
kernel scale(inp: in f32[n], out: out f32[n], by: f32) {
    out = inp * by
}
)";
const DeviceKernel& scale_kernel() {
    static const DeviceKernel kernel(parse(std::make_shared<Source>("scale.peal", kScale)));
    return kernel;
}

void one_kernel() {
    Worker worker({.ranks = 2});

    const auto text = std::make_shared<Source>("scale.peal", kScale);
    const DeviceKernel scale(parse(text));  // or parse_file("scale.peal")
    std::vector<float> numbers = {1, 2, 3}, doubled(3);
    worker.submit(scale, 0, {Tensor(numbers), Tensor(doubled), 2.0}).wait();

    expect(doubled[2] == 6, "scale");
}

void tensors(Worker& worker) {
    std::vector<float> values(1000, 1.0F), results(1000);
    const Tensor all(values);               // f32[1000], a view of the vector
    const Tensor table(values, {10, 100});  // the same memory as f32[10, 100]
    const Tensor rows = table.slice(2, 4);  // f32[2, 100]
    const std::vector<Tensor> halves = all.split(2);

    const Tensor resident = worker.alloc<float>(1, {1000});  // on device 1, zeroed
    worker.upload(all, resident);
    worker.submit(scale_kernel(), 1, {resident.slice(0, 500), Tensor(results).slice(0, 500), 3.0});
    worker.download(resident.slice(500, 1000), Tensor(results).slice(500, 1000));
    worker.wait();

    expect(rows.count() == 200 && halves[1].count() == 500, "slices");
    expect(results[499] == 3 && results[500] == 1, "slices of results");
}

void sharded(Worker& worker) {
    const auto ranks = static_cast<std::uint64_t>(worker.ranks());
    std::vector<float> values(100 * ranks, 1.0F);
    const Tensor table(values, {10 * ranks, 10});

    const ShardedTensor parts = worker.alloc_sharded(Element::f32, {10 * ranks, 10});
    worker.upload(table, parts);  // parts[r] is f32[10, 10] on device r
    for (const Tensor& part : parts) {
        const Tensor flat = part.reshaped({100});
        const Tensor scaled = worker.alloc<float>(part.rank(), {100});
        worker.submit(scale_kernel(), part.rank(), {flat, scaled, 2.0});
        worker.copy(scaled, flat);
    }
    worker.download(parts, table);
    worker.wait();

    expect(
        std::accumulate(values.begin(), values.end(), 0.0F) == 200.0F * static_cast<float>(ranks),
        "sharded");
}

constexpr const char* kShift = R"(
kernel shift(inp: in f32[n], out: out f32[n], data: window f32[n], sig: window i32[nranks]) {
    data = inp
    barrier(sig)
    out = data@((rank + 1) % nranks)
    barrier(sig)
}
)";

void domains(Worker& worker) {
    const DeviceKernel shift(parse(std::make_shared<Source>("shift.peal", kShift)));
    std::vector<float> first(100, 1.0F), second(100, 2.0F), from_second(100), from_first(100);

    const Domain pair = worker.allocate_domain(
        {.name = "pair",
         .ranks = {1, 0},  // device 1 is its rank 0
         .windows = {{.name = "data", .element = Element::f32, .shape = {100}},
                     {.name = "sig", .element = Element::i32, .cells = 2}}});
    worker.submit_group(shift, pair,
                        {{Tensor(first), Tensor(from_second), pair["data"], pair["sig"]},
                         {Tensor(second), Tensor(from_first), pair["data"], pair["sig"]}});
    worker.wait();

    expect(from_second[99] == 2 && from_first[99] == 1, "shift");
    expect(pair.rank_of(1) == 0, "ranks of a domain");
    expect(pair.view("data", 0).span<float>()[0] == 2, "a view of a window");
}

void dependencies(Worker& worker) {
    std::vector<float> a(100, 1.0F), b(100), c(100);
    const DeviceKernel& scale = scale_kernel();

    const Task first = worker.submit(scale, 0, {Tensor(a), Tensor(b), 2.0});
    const Task second = worker.submit(scale, 1, {Tensor(b), Tensor(c), 3.0});  // reads b: RAW
    const Task third =
        worker.submit_host([&] { a.assign(100, 7.0F); }, {out(Tensor(a))});    // first reads a: WAR
    const Task fourth = worker.submit(scale, 0, {Tensor(a), Tensor(b), 1.0});  // WAR with second
    fourth.wait();

    expect(first.is_over() && second.is_over() && third.is_over(), "the order");
    expect(c[0] == 6 && b[0] == 7, "dependencies");
}

void explicit_order(Worker& worker) {
    std::string log;
    const Task late = worker.submit_host([&] { log += "a"; });
    worker.submit_host([&] { log += "b"; }, {}, {.name = "log b", .after = {late}});
    worker.wait();

    expect(log == "ab", "after");
}

void failures(Worker& worker) {
    std::vector<float> a(100), b(100), c(100, 1.0F), d(100);
    const Task bad = worker.submit_host([] { throw std::runtime_error("no such file"); },
                                        {out(Tensor(a))}, {.name = "read"});
    const Task dependant = worker.submit(scale_kernel(), 0, {Tensor(a), Tensor(b), 2.0});
    const Task other = worker.submit(scale_kernel(), 0, {Tensor(c), Tensor(d), 2.0});
    other.wait();  // is done
    try {
        dependant.wait();
    } catch (const Error& error) {
        std::printf("%s\n", error.what());
    }

    try {
        bad.wait();
        expect(false, "a task that fails");
    } catch (const std::runtime_error& error) {
        expect(std::string(error.what()) == "no such file", "what a host task throws");
    }
    expect(d[0] == 2, "the other task");
}

bool run(const examples::Options& options) {
    one_kernel();
    Worker worker = examples::start_worker(options);
    tensors(worker);
    sharded(worker);
    domains(worker);
    dependencies(worker);
    explicit_order(worker);
    failures(worker);
    examples::report(worker, options);
    std::printf("%d ranks: all as expected\n", worker.ranks());
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    return examples::drive(argc, argv, "What docs/worker.md shows.", run);
}
