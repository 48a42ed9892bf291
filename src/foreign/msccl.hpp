// SPDX-License-Identifier: Apache-2.0
// An algorithm of MSCCL: what its XML says, checked for itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "foreign/foreign.hpp"

namespace peal::foreign {

enum class MscclBuffer : std::uint8_t { input, output, scratch };

struct MscclPlace {
    MscclBuffer buffer = MscclBuffer::input;
    std::int64_t offset = 0;  // chunks
};

enum class MscclType : std::uint8_t { nop, send, receive, copy, reduce, rcs, rrs, rrc, rrcs };

struct MscclStep {
    std::uint32_t line = 0;
    MscclType type = MscclType::nop;
    MscclPlace src, dst;
    std::int64_t chunks = 0;
    std::int64_t needs_block = -1;  // that has done its step `needs_step`; -1: none
    std::int64_t needs_step = -1;
    bool is_announced = false;

    bool receives() const {
        return type == MscclType::receive || type == MscclType::rcs || type == MscclType::rrs ||
               type == MscclType::rrc || type == MscclType::rrcs;
    }
    bool sends() const {
        return type == MscclType::send || type == MscclType::rcs || type == MscclType::rrs ||
               type == MscclType::rrcs;
    }
    bool reads() const {  // its source
        return type != MscclType::nop && type != MscclType::receive && type != MscclType::rcs;
    }
    bool writes() const {  // its destination
        return type != MscclType::nop && type != MscclType::send && type != MscclType::rrs;
    }
};

struct MscclBlock {
    std::uint32_t line = 0;
    std::int64_t id = 0;
    std::int64_t send = -1, receive = -1;  // ranks; -1: none
    std::int64_t channel = 0;
    std::vector<MscclStep> steps;
};

struct MscclGpu {
    std::uint32_t line = 0;
    std::int64_t id = 0;
    std::int64_t input = 0, output = 0, scratch = 0;  // chunks
    std::vector<MscclBlock> blocks;                   // block i has id i
};

struct MscclAlgorithm {
    SourcePtr source;
    std::uint32_t line = 0;
    std::string name;
    std::string collective;
    std::int64_t chunks = 0;  // of the larger side of the collective
    bool in_place = false, out_of_place = true;
    std::vector<MscclGpu> gpus;  // gpu i has id i
};

MscclAlgorithm read_msccl(const SourcePtr& source);

ForeignPlans plans_of(const MscclAlgorithm& algorithm, const ReadOptions& options);

}  // namespace peal::foreign
