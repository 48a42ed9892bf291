// SPDX-License-Identifier: Apache-2.0
#include "pto/transcribe.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>

#include <fmt/format.h>

#include "peal/error.hpp"

namespace peal::pto {
namespace {

namespace device = ::pto::trace;
using device::MemoryOperand;
using device::Op;
using device::Operation;
using device::TileOperand;

constexpr std::int64_t kMaxRowsPerTransfer = 4096;

Element element_of(device::Type type) {
    constexpr std::array kOf = {Element::f32, Element::f16, Element::bf16, Element::i32,
                                Element::i16, Element::i8,  Element::u8};
    return kOf[static_cast<std::size_t>(type)];
}
std::uint64_t size_of(device::Type type) { return bytes_of(element_of(type)); }

// Ranges of equal length in up to three memories, each from its own offset on.
struct Stretch {
    std::array<std::uint64_t, 3> at{};
    std::uint64_t bytes = 0;
};

class Transcriber {
public:
    Transcriber(const Recording& recording, const KernelRun& run)
        : recording_(recording), run_(run) {}

    Transcript transcribe() && {
        for (std::size_t i = 0; i < recording_.operations.size(); ++i) {
            const std::uint32_t launch = recording_.operations[i].launch;
            if (launch != launch_) end_launch();
            launch_ = launch;
            number_ = static_cast<std::uint32_t>(i);
            is_first_ = true;
            write(operation());
        }
        if (!result_.turns.shifts.empty()) result_.turns.count = recording_.turns;
        return std::move(result_);
    }

private:
    std::string given() const { return given_text(run_.frame->arguments); }
    const Operation& operation() const { return recording_.operations[number_].operation; }

    template <class... Args>
    [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
        const std::string& file = recording_.files[recording_.operations[number_].file];
        throw Error(Fault::program, fmt::format("{}:{}, {}: {}: {}",
                                                std::filesystem::path(file).filename().string(),
                                                operation().line, run_.who(), operation().name,
                                                fmt::format(format, std::forward<Args>(args)...)));
    }

    void emit(Action action, Pipe pipe, std::uint16_t group = 0) {
        Instruction instruction;
        instruction.action = std::move(action);
        instruction.pipe = pipe;
        instruction.line = operation().line;
        instruction.joined = !std::exchange(is_first_, false);
        instruction.group = group;
        result_.instructions.push_back(std::move(instruction));
        result_.origins.push_back(number_);
    }

    // A kernel's end: all that it began is done and seen by the next.
    void end_launch() {
        is_first_ = true;
        emit(PipeBarrier{Pipe::all}, Pipe::none);
        for (std::uint16_t session = 1; session <= sessions_; ++session) {
            emit(Fence{session}, Pipe::scalar);
        }
        evict_all();
        emit(Fence{}, Pipe::scalar);
        sessions_ = 0;
        result_.launches.push_back(result_.instructions.size());
    }

    void write(const Operation& op) {
        switch (op.op) {
            case Op::load: return load(op);
            case Op::store:
            case Op::store_add: return store(op);
            case Op::move: return move(op);
            case Op::add: return combine(op, ReduceOp::sum);
            case Op::max: return combine(op, ReduceOp::max);
            case Op::min: return combine(op, ReduceOp::min);
            case Op::mul: return combine(op, ReduceOp::prod);
            case Op::add_scalar: return with_scalar(op, MapOp::add_scalar);
            case Op::mul_scalar: return with_scalar(op, MapOp::mul_scalar);
            case Op::fill: return with_scalar(op, MapOp::fill);
            case Op::convert: return convert(op);
            case Op::row_sum: return row_sum(op);
            case Op::put:
            case Op::put_add: return put(op);
            case Op::notify_set: return notify(op, NotifyOp::set);
            case Op::notify_add: return notify(op, NotifyOp::add);
            case Op::wait: return wait(op);
            case Op::test:
                fail(
                    "not traceable: what follows depends on the moment it is asked; use TWAIT to "
                    "wait");
            case Op::set_flag:
                return emit(SetFlag{pipe(op.pipe[0]), pipe(op.pipe[1]), event(op)}, flag_pipe(op));
            case Op::wait_flag:
                return emit(WaitFlag{pipe(op.pipe[0]), pipe(op.pipe[1]), event(op)}, flag_pipe(op));
            case Op::pipe_barrier: return emit(PipeBarrier{pipe(op.pipe[0])}, Pipe::none);
            case Op::put_async: return put_async(op);
            case Op::wait_async: return emit(Fence{session(op)}, Pipe::scalar);
            case Op::scalar_store: return store_scalar(op);
            case Op::scalar_copy: return copy_scalar(op);
            case Op::evict: return evict(op);
            case Op::fence: return emit(Fence{}, Pipe::scalar);
        }
    }

    // ------------------------------------------------------------------------ operands

    void check(const TileOperand& tile) {
        if (!tile.is_assigned) fail("a tile is used before TASSIGN says where it is");
        if (tile.rows < 0 || tile.rows > tile.max_rows || tile.cols < 0 ||
            tile.cols > tile.columns) {
            fail("{} valid rows and {} columns in a tile of {}x{}", tile.rows, tile.cols,
                 tile.max_rows, tile.columns);
        }
        const std::uint64_t bytes = static_cast<std::uint64_t>(tile.max_rows) *
                                    static_cast<std::uint64_t>(tile.columns) * size_of(tile.type);
        result_.tile_bytes = std::max(result_.tile_bytes, tile.offset + bytes);
    }
    void check_same(const TileOperand& a, const TileOperand& b) const {
        if (a.type != b.type) {
            fail("a tile of {} meets one of {}", name(element_of(a.type)),
                 name(element_of(b.type)));
        }
        check_same_shape(a, b);
    }
    void check_same_shape(const TileOperand& a, const TileOperand& b) const {
        if (a.rows != b.rows || a.cols != b.cols) {
            fail("the valid shapes differ: {}x{} and {}x{}", a.rows, a.cols, b.rows, b.cols);
        }
    }
    Range tile_range(std::uint64_t offset, std::uint64_t bytes) const {
        return {kTile, run_.rank, offset, bytes};
    }
    static std::uint64_t row_at(const TileOperand& tile, std::int64_t row) {
        return tile.offset + static_cast<std::uint64_t>(row) *
                                 static_cast<std::uint64_t>(tile.columns) * size_of(tile.type);
    }

    // Where a tensor is, row by row.
    struct Rows {
        std::uint16_t buffer = 0;
        std::int32_t rank = 0;
        std::uint64_t begin = 0;  // offset in the buffer
        std::uint16_t shift = 0;
        const MemoryOperand* tensor = nullptr;
        std::int64_t count = 0, columns = 0;

        std::uint64_t at(std::int64_t row) const {
            std::int64_t elements = 0;
            for (int dim = 3; dim >= 0; --dim) {
                const std::int64_t size = std::max<std::int64_t>(tensor->shape[dim], 1);
                elements += row % size * tensor->stride[dim];
                row /= size;
            }
            return begin + static_cast<std::uint64_t>(elements) * size_of(tensor->type);
        }
        Range range(std::uint64_t offset, std::uint64_t bytes) const {
            return {buffer, rank, offset, bytes, shift};
        }
    };

    // Where the operand is in the turn in which it is first in memory, and how it moves from there.
    struct Found {
        Location location;
        std::uint16_t shift = 0;
    };
    Found find(const MemoryOperand& tensor) {
        const auto location_of = [&](std::uint64_t address) {
            const auto location = run_.addresses->find(address);
            if (location) return *location;
            fail(
                "{:#x} is no address of an argument or window: is an argument missing or in "
                "another "
                "place? {}",
                address, given());
        };
        Found found{location_of(tensor.address)};
        const std::uint32_t places =
            recording_.operations[number_].places[&tensor - operation().memory];
        if (places == 0) return found;
        Shift shift{found.location.placed->buffer, {}};
        std::uint64_t least = found.location.offset;
        for (const std::uint64_t address : recording_.places[places - 1]) {
            const auto location = location_of(address);
            if (location.placed != found.location.placed || location.rank != found.location.rank) {
                fail(
                    "from call to call it moves from one memory to another: only the place in one "
                    "memory may change");
            }
            least = std::min(least, location.offset);
            shift.by.push_back(location.offset);
        }
        for (std::uint64_t& by : shift.by) by -= least;
        found.location.offset = least;
        found.shift = number_of(std::move(shift));
        return found;
    }
    std::uint16_t number_of(Shift shift) {
        std::vector<Shift>& shifts = result_.turns.shifts;
        const auto known = std::find(shifts.begin(), shifts.end(), shift);
        const auto number = static_cast<std::size_t>(known - shifts.begin()) + 1;
        if (number > std::numeric_limits<std::uint16_t>::max()) {
            fail("too many places move with the generation");
        }
        if (known == shifts.end()) shifts.push_back(std::move(shift));
        return static_cast<std::uint16_t>(number);
    }

    Rows rows_of(const MemoryOperand& tensor) {
        const auto [location, shift] = find(tensor);
        require_type(tensor, run_.layout().buffers[location.placed->buffer]);
        const auto& shape = tensor.shape;
        if (shape[3] >= kMaxRowsPerTransfer) {
            fail("shape[3] is {}, at most {} rows can be moved at once", shape[3],
                 kMaxRowsPerTransfer - 1);
        }
        if (*std::min_element(shape, shape + 5) < 0) fail("a dimension of the tensor is negative");
        if (tensor.stride[4] != 1 && shape[4] > 1) {
            fail("columns are {} elements apart, only neighbouring ones can be moved",
                 tensor.stride[4]);
        }
        return {location.placed->buffer,
                location.rank,
                location.offset,
                shift,
                &tensor,
                shape[0] * shape[1] * shape[2] * shape[3],
                shape[4]};
    }

    // A window is scratch memory and holds what the kernel likes.
    void require_type(const MemoryOperand& tensor, const Buffer& buffer) const {
        const Element element = element_of(tensor.type);
        if (buffer.kind == BufferKind::window || buffer.element == element) return;
        fail("a tensor of {} is made from the argument '{}', which is of {}", name(element),
             buffer.name, name(buffer.element));
    }

    void check_transfer(const TileOperand& tile, const Rows& rows) const {
        if (tile.type != rows.tensor->type) {
            fail("the tile is of {}, the tensor of {}", name(element_of(tile.type)),
                 name(element_of(rows.tensor->type)));
        }
        if (tile.rows > rows.count || tile.cols > rows.columns) {
            fail("the tile has {}x{} valid elements, the tensor {}x{}", tile.rows, tile.cols,
                 rows.count, rows.columns);
        }
    }

    // Rows that follow each other everywhere are one stretch.
    template <class At, class Each>
    static void for_each_stretch(std::int64_t rows, std::uint64_t bytes, At&& at, Each&& each) {
        Stretch open;
        for (std::int64_t row = 0; row < rows; ++row) {
            const std::array<std::uint64_t, 3> next = at(row);
            bool continues = open.bytes != 0;
            for (std::size_t i = 0; i < next.size(); ++i) {
                continues = continues && next[i] == open.at[i] + open.bytes;
            }
            if (!continues) {
                if (open.bytes != 0) each(open);
                open = {next, 0};
            }
            open.bytes += bytes;
        }
        if (open.bytes != 0) each(open);
    }

    // ------------------------------------------------------------------------ memory

    template <class Each>
    void transfer(const Operation& op, Each&& each) {
        const TileOperand& tile = op.tile[0];
        check(tile);
        const Rows rows = rows_of(op.memory[0]);
        check_transfer(tile, rows);
        const std::uint64_t bytes = static_cast<std::uint64_t>(tile.cols) * size_of(tile.type);
        for_each_stretch(
            tile.rows, bytes,
            [&](std::int64_t row) {
                // The third memory is not used: it follows the first.
                return std::array{row_at(tile, row), rows.at(row), row_at(tile, row)};
            },
            [&](const Stretch& stretch) {
                each(tile_range(stretch.at[0], stretch.bytes),
                     rows.range(stretch.at[1], stretch.bytes));
            });
    }

    void load(const Operation& op) {
        transfer(op, [&](const Range& tile, const Range& memory) {
            emit(Copy{tile, memory}, Pipe::load);
        });
    }
    void store(const Operation& op) {
        transfer(op, [&](const Range& tile, const Range& memory) {
            if (op.op == Op::store) {
                emit(Copy{memory, tile}, Pipe::store);
            } else {
                emit(Accumulate{element_of(op.tile[0].type), memory, tile}, Pipe::store);
            }
        });
    }

    // In pieces that fit into the tile, each stored before the next one is loaded. A put consists
    // of the instructions that a kernel could have issued itself, flags of event 0 included: a
    // kernel that has such a flag set at this moment sets it twice. On return the load pipe waits
    // for the last store. Nobody else does: not the scalar unit, whose notify may overtake the
    // data.
    void put(const Operation& op) {
        const TileOperand& tile = op.tile[0];
        check(tile);
        const Rows to = rows_of(op.memory[0]);
        const Rows from = rows_of(op.memory[1]);
        if (to.tensor->type != from.tensor->type || tile.type != to.tensor->type) {
            fail("source, destination and tile differ in type");
        }
        if (to.count != from.count || to.columns != from.columns) {
            fail("the shapes differ: {}x{} and {}x{}", to.count, to.columns, from.count,
                 from.columns);
        }
        const bool is_dense = tile.cols == tile.columns;
        const std::uint64_t room = size_of(tile.type) * static_cast<std::uint64_t>(tile.cols) *
                                   static_cast<std::uint64_t>(is_dense ? tile.rows : 1);
        if (room == 0) fail("the tile has no valid element to put data through");
        const std::uint64_t bytes = static_cast<std::uint64_t>(to.columns) * size_of(tile.type);
        for_each_stretch(
            to.count, bytes,
            [&](std::int64_t row) {
                return std::array{to.at(row), from.at(row), to.at(row)};
            },
            [&](const Stretch& stretch) {
                for (std::uint64_t done = 0; done < stretch.bytes; done += room) {
                    const std::uint64_t piece = std::min(room, stretch.bytes - done);
                    emit(Copy{tile_range(tile.offset, piece),
                              from.range(stretch.at[1] + done, piece)},
                         Pipe::load);
                    hand_over(Pipe::load, Pipe::store);
                    put_piece(op, to.range(stretch.at[0] + done, piece),
                              tile_range(tile.offset, piece));
                    hand_over(Pipe::store, Pipe::load);
                }
            });
    }
    void put_piece(const Operation& op, const Range& to, const Range& tile) {
        if (op.op == Op::put) {
            emit(Copy{to, tile}, Pipe::store);
        } else {
            emit(Accumulate{element_of(op.tile[0].type), to, tile}, Pipe::store);
        }
    }
    void hand_over(Pipe from, Pipe to) {
        constexpr std::uint8_t kEventOfPuts = 0;
        emit(SetFlag{from, to, kEventOfPuts}, Pipe::none);
        emit(WaitFlag{from, to, kEventOfPuts}, Pipe::none);
    }

    // An engine of its own moves the bytes, at any time until the session is waited for.
    void put_async(const Operation& op) {
        const Rows to = rows_of(op.memory[0]);
        const Rows from = rows_of(op.memory[1]);
        if (to.tensor->type != from.tensor->type) fail("source and destination differ in type");
        if (to.count != from.count || to.columns != from.columns) {
            fail("the shapes differ: {}x{} and {}x{}", to.count, to.columns, from.count,
                 from.columns);
        }
        const std::uint64_t bytes =
            static_cast<std::uint64_t>(to.columns) * size_of(to.tensor->type);
        int stretches = 0;
        for_each_stretch(
            to.count, bytes,
            [&](std::int64_t row) {
                return std::array{to.at(row), from.at(row), to.at(row)};
            },
            [&](const Stretch& stretch) {
                if (++stretches > 1) fail("an asynchronous transfer is one stretch of memory");
                emit(Copy{to.range(stretch.at[0], stretch.bytes),
                          from.range(stretch.at[1], stretch.bytes)},
                     Pipe::scalar, session(op));
            });
    }
    std::uint16_t session(const Operation& op) {
        if (op.event <= 0) fail("the session was not opened: BuildAsyncSession comes first");
        if (op.event >= kCached) fail("at most {} sessions can be opened in a call", kCached - 1);
        sessions_ = std::max(sessions_, static_cast<std::uint16_t>(op.event));
        return static_cast<std::uint16_t>(op.event);
    }

    // ------------------------------------------------------------------------ scalar unit

    Range element_at(const MemoryOperand& operand) {
        const Rows rows = rows_of(operand);
        return rows.range(rows.begin, size_of(operand.type));
    }
    void store_scalar(const Operation& op) {
        const Element element = element_of(op.memory[0].type);
        emit(Map{MapOp::fill, element, op.scalar, element_at(op.memory[0]), {}, element},
             Pipe::scalar, kCached);
    }
    void copy_scalar(const Operation& op) {
        emit(Copy{element_at(op.memory[0]), element_at(op.memory[1])}, Pipe::scalar, kCached);
    }

    // Lines of signals are the business of TNOTIFY and TWAIT, and of the kernel's own memory there
    // is no second view.
    void evict(const Operation& op) {
        if (op.cell == 0) return evict_all();
        const auto location = run_.addresses->find(op.cell);
        if (!location || location->placed->buffer == kNoBuffer) return;
        const std::uint64_t begin = location->offset / kCacheLineBytes * kCacheLineBytes;
        evict_range(*location->placed, location->rank, begin, begin + kCacheLineBytes);
    }
    void evict_all() {
        for (const Placed& placed : run_.layout().placed) {
            if (placed.buffer == kNoBuffer) continue;
            const bool is_window = run_.layout().buffers[placed.buffer].kind == BufferKind::window;
            const std::int32_t first = is_window ? 0 : run_.rank;
            const std::int32_t last = is_window ? run_.nranks - 1 : run_.rank;
            for (std::int32_t rank = first; rank <= last; ++rank) {
                const bool is_there =
                    !is_window || run_.layout().domains[placed.domain].rank_of(rank) >= 0;
                if (is_there) evict_range(placed, rank, 0, placed.data_bytes);
            }
        }
    }
    void evict_range(const Placed& placed, std::int32_t rank, std::uint64_t begin,
                     std::uint64_t end) {
        end = std::min(end, placed.data_bytes);
        if (begin < end) emit(Evict{{placed.buffer, rank, begin, end - begin}}, Pipe::scalar);
    }

    // ------------------------------------------------------------------------ vector work

    // Calls each(dst, a, b) for rows of the first `count` tiles, which have the same valid shape.
    template <class Each>
    void element_wise(const Operation& op, int count, Each&& each) {
        const TileOperand& first = op.tile[0];
        for (int i = 0; i < count; ++i) {
            check(op.tile[i]);
            check_same_shape(first, op.tile[i]);
        }
        const auto offset = [&](int i, std::int64_t row) {
            return row_at(op.tile[i < count ? i : 0], row);
        };
        const std::uint64_t bytes = static_cast<std::uint64_t>(first.cols) * size_of(first.type);
        for_each_stretch(
            first.rows, bytes,
            [&](std::int64_t row) {
                return std::array{offset(0, row), offset(1, row), offset(2, row)};
            },
            [&](const Stretch& stretch) {
                each(tile_range(stretch.at[0], stretch.bytes),
                     tile_range(stretch.at[1], stretch.bytes),
                     tile_range(stretch.at[2], stretch.bytes));
            });
    }

    void combine(const Operation& op, ReduceOp reduce) {
        check_same(op.tile[0], op.tile[1]);
        check_same(op.tile[0], op.tile[2]);
        element_wise(op, 3, [&](const Range& dst, const Range& a, const Range& b) {
            emit(Reduce{reduce, element_of(op.tile[0].type), dst, {a, b}}, Pipe::vector);
        });
    }
    void with_scalar(const Operation& op, MapOp map) {
        check_same(op.tile[0], op.tile[1]);
        element_wise(op, 2, [&](const Range& dst, const Range& src, const Range&) {
            const Element element = element_of(op.tile[0].type);
            emit(Map{map, element, op.scalar, dst, map == MapOp::fill ? Range{} : src, element},
                 Pipe::vector);
        });
    }
    void move(const Operation& op) {
        check_same(op.tile[0], op.tile[1]);
        element_wise(op, 2, [&](const Range& dst, const Range& src, const Range&) {
            if (dst != src) emit(Copy{dst, src}, Pipe::vector);
        });
    }

    void convert(const Operation& op) {
        const TileOperand& dst = op.tile[0];
        const TileOperand& src = op.tile[1];
        check(dst);
        check(src);
        check_same_shape(dst, src);
        const auto columns = static_cast<std::uint64_t>(dst.cols);
        for (std::int64_t row = 0; row < dst.rows && columns > 0; ++row) {
            emit(Map{MapOp::convert, element_of(dst.type), 0,
                     tile_range(row_at(dst, row), columns * size_of(dst.type)),
                     tile_range(row_at(src, row), columns * size_of(src.type)),
                     element_of(src.type)},
                 Pipe::vector);
        }
    }

    void row_sum(const Operation& op) {
        const TileOperand& dst = op.tile[0];
        const TileOperand& src = op.tile[1];
        check(dst);
        check(src);
        if (dst.type != src.type) fail("the tiles differ in type");
        if (dst.rows != src.rows || dst.cols != 1) {
            fail("the result of {} rows is {} rows of one column, found {}x{}", src.rows, src.rows,
                 dst.rows, dst.cols);
        }
        if (op.tile[2].max_rows > 0) write_scratch(op.tile[2]);
        const std::uint64_t size = size_of(src.type);
        // What the sum of no columns is, nobody says.
        const MapOp map = src.cols > 0 ? MapOp::row_sum : MapOp::clobber;
        for (std::int64_t row = 0; row < src.rows; ++row) {
            emit(Map{map, element_of(dst.type), 0, tile_range(row_at(dst, row), size),
                     tile_range(row_at(src, row), static_cast<std::uint64_t>(src.cols) * size),
                     element_of(src.type)},
                 Pipe::vector);
        }
    }
    // What it leaves there is nobody's business.
    void write_scratch(const TileOperand& tile) {
        check(tile);
        const std::uint64_t bytes = static_cast<std::uint64_t>(tile.rows) *
                                    static_cast<std::uint64_t>(tile.columns) * size_of(tile.type);
        if (bytes == 0) return;
        const Element element = element_of(tile.type);
        emit(Map{MapOp::clobber, element, 0, tile_range(tile.offset, bytes), {}, element},
             Pipe::vector);
    }

    // ------------------------------------------------------------------------ signals and pipes

    Cell cell_of(const Operation& op) const {
        const auto location = run_.addresses->find(op.cell);
        if (!location) {
            fail("{:#x} is no address of a window: is an argument missing or in another place? {}",
                 op.cell, given());
        }
        const Placed& placed = *location->placed;
        if (placed.signals == kNoBuffer || location->offset < placed.signals_at) {
            const std::string where = text_of(*location, kSignalBytes, run_.layout());
            if (placed.signals == kNoBuffer) {
                fail("the kernel keeps signals at {}: signals are in windows", where);
            }
            fail(
                "the kernel keeps signals at {}, but those of {} begin at byte {}, behind its "
                "data: does the kernel expect another size? Without +signals any word of a window "
                "can be one",
                where, placed.argument, placed.signals_at);
        }
        const std::uint64_t offset = location->offset - placed.signals_at;
        if (offset % kSignalBytes != 0) fail("a signal is not aligned to 4 bytes");
        return {placed.signals, location->rank, offset / kSignalBytes};
    }
    void notify(const Operation& op, NotifyOp how) {
        emit(Notify{how, cell_of(op), value()}, Pipe::scalar);
    }
    void wait(const Operation& op) {
        constexpr std::array kCompare = {Compare::eq, Compare::ne, Compare::gt,
                                         Compare::ge, Compare::lt, Compare::le};
        const Cell cell = cell_of(op);
        if (cell.rank != run_.rank) {
            fail("the cell is rank {}'s; a rank can poll its own cells only", cell.rank);
        }
        if (op.compare < 0 || static_cast<std::size_t>(op.compare) >= kCompare.size()) {
            fail("there is no comparison {}", op.compare);
        }
        emit(Wait{kCompare[static_cast<std::size_t>(op.compare)], cell, value()}, Pipe::scalar);
    }
    Value value() const {
        return {operation().value, recording_.operations[number_].per_generation};
    }

    Pipe pipe(std::int32_t number) const {
        switch (number) {
            case 0: return Pipe::scalar;
            case 1: return Pipe::vector;
            case 2: return Pipe::cube;
            case 3: return Pipe::cube_load;
            case 4: return Pipe::load;
            case 5: return Pipe::store;
            case 6: return Pipe::all;
            case 10: return Pipe::cube_store;
            default: fail("there is no pipe {}", number);
        }
    }
    Pipe flag_pipe(const Operation& op) const {
        const Pipe from = pipe(op.pipe[0]);
        const Pipe to = pipe(op.pipe[1]);
        if (from == to || from == Pipe::all || to == Pipe::all) {
            fail("a flag goes from one pipe to another");
        }
        return Pipe::none;
    }
    // What is out of range stays out of range.
    static std::uint8_t event(const Operation& op) {
        constexpr std::int32_t kMost = 0xff;
        return static_cast<std::uint8_t>(op.event < 0 ? kMost : std::min(op.event, kMost));
    }

    const Recording& recording_;
    const KernelRun& run_;
    Transcript result_;
    std::uint32_t number_ = 0;
    std::uint32_t launch_ = 0;
    std::uint16_t sessions_ = 0;  // of this launch
    bool is_first_ = true;
};

}  // namespace

Transcript transcribe(const Recording& recording, const KernelRun& run) {
    return Transcriber(recording, run).transcribe();
}

}  // namespace peal::pto
