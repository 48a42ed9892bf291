// SPDX-License-Identifier: Apache-2.0
// Algorithms of MSCCL, written out for any number of ranks.
#pragma once

#include <memory>
#include <string>

#include <fmt/format.h>

#include "peal/source.hpp"

namespace peal::test {

inline SourcePtr source_of(const std::string& name, const std::string& text) {
    return std::make_shared<const Source>(name, text);
}

inline std::string step_text(int number, const char* type, const char* src, int srcoff,
                             const char* dst, int dstoff, const char* rest = "") {
    return fmt::format(
        "<step s=\"{}\" type=\"{}\" srcbuf=\"{}\" srcoff=\"{}\" dstbuf=\"{}\" dstoff=\"{}\" "
        "cnt=\"1\"{}/>\n",
        number, type, src, srcoff, dst, dstoff, rest);
}

inline std::string algo_text(const char* coll, int nranks, int chunks, const std::string& gpus) {
    return fmt::format(
        "<algo name=\"made\" proto=\"Simple\" coll=\"{}\" ngpus=\"{}\" nchannels=\"1\" "
        "nchunksperloop=\"{}\" inplace=\"1\" "
        "outofplace=\"1\">\n{}</algo>\n",
        coll, nranks, chunks, gpus);
}

// An allreduce: a ring on each channel, with a thread block of its own on every rank.
inline std::string ring_allreduce(int nranks, int channels) {
    std::string gpus;
    const int all = nranks * channels;
    for (int rank = 0; rank < nranks; ++rank) {
        gpus += fmt::format("<gpu id=\"{}\" i_chunks=\"{}\" o_chunks=\"{}\" s_chunks=\"0\">\n",
                            rank, all, all);
        for (int channel = 0; channel < channels; ++channel) {
            gpus += fmt::format("<tb id=\"{}\" send=\"{}\" recv=\"{}\" chan=\"{}\">\n", channel,
                                (rank + 1) % nranks, (rank + nranks - 1) % nranks, channel);
            for (int k = 0; k <= 2 * nranks - 2; ++k) {
                const int chunk = channel * nranks + (rank + 2 * nranks - k) % nranks;
                const char* type = k == 0               ? "s"
                                   : k < nranks - 1     ? "rrs"
                                   : k == nranks - 1    ? "rrcs"
                                   : k < 2 * nranks - 2 ? "rcs"
                                                        : "r";
                gpus += step_text(k, type, "i", chunk, "o", chunk);
            }
            gpus += "</tb>\n";
        }
        gpus += "</gpu>\n";
    }
    return algo_text("allreduce", nranks, all, gpus);
}

// A broadcast: a chain from rank 0 on each channel, with so many chunks one after another.
inline std::string chain_broadcast(int nranks, int channels, int chunks) {
    std::string gpus;
    const int all = channels * chunks;
    for (int rank = 0; rank < nranks; ++rank) {
        gpus += fmt::format("<gpu id=\"{}\" i_chunks=\"{}\" o_chunks=\"{}\" s_chunks=\"0\">\n",
                            rank, all, all);
        const int last = nranks - 1;
        for (int channel = 0; channel < channels; ++channel) {
            gpus += fmt::format("<tb id=\"{}\" send=\"{}\" recv=\"{}\" chan=\"{}\">\n", channel,
                                rank < last ? rank + 1 : -1, rank - 1, channel);
            for (int k = 0; k < chunks; ++k) {
                const int chunk = channel * chunks + k;
                const char* type = rank == 0 ? "s" : rank < last ? "rcs" : "r";
                gpus += step_text(k, type, "i", chunk, "o", chunk);
            }
            gpus += "</tb>\n";
        }
        // The root keeps a copy.
        if (rank == 0) {
            gpus += fmt::format(
                "<tb id=\"{}\" send=\"-1\" recv=\"-1\"><step s=\"0\" type=\"cpy\" srcbuf=\"i\" "
                "srcoff=\"0\" dstbuf=\"o\" dstoff=\"0\" cnt=\"{}\"/></tb>\n",
                channels, all);
        }
        gpus += "</gpu>\n";
    }
    return algo_text("broadcast", nranks, all, gpus);
}

}  // namespace peal::test
