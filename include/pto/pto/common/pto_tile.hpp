// SPDX-License-Identifier: Apache-2.0
// Tensors in global memory and tiles in tile memory, as kernels name them.
#pragma once

#include <cstdint>

#include "pto/common/issue.hpp"

namespace pto {

namespace detail {

template <class...>
inline constexpr bool kNever = false;

// Five numbers, each fixed by the type or (-1) given at run time.
template <int... kDims>
class Dims {
    static_assert(sizeof...(kDims) == 5, "shapes and strides have five dimensions");
    static constexpr int kDynamic = ((kDims == DYNAMIC ? 1 : 0) + ...);

public:
    // All five, or those that are dynamic, in order; without any, dynamic ones are 1.
    template <class... Numbers>
    Dims(Numbers... numbers) {  // NOLINT(google-explicit-constructor)
        constexpr int kGiven = sizeof...(Numbers);
        static_assert(kGiven == 0 || kGiven == 5 || kGiven == kDynamic,
                      "give no dimension, all five, or exactly the dynamic ones");
        const std::int64_t given[kGiven + 1] = {static_cast<std::int64_t>(numbers)..., 0};
        constexpr int kFixed[5] = {kDims...};
        int next = 0;
        for (int i = 0; i < 5; ++i) {
            if (kFixed[i] != DYNAMIC) {
                values_[i] = kFixed[i];
            } else if (kGiven == 0) {
                values_[i] = 1;
            } else {
                values_[i] = given[kGiven == 5 ? i : next++];
            }
        }
    }

    std::int64_t operator[](int dim) const { return values_[dim]; }

private:
    std::int64_t values_[5];
};

}  // namespace detail

// Elements in each dimension; the last two are rows and columns.
template <int k0 = DYNAMIC, int k1 = DYNAMIC, int k2 = DYNAMIC, int k3 = DYNAMIC, int k4 = DYNAMIC>
struct Shape : detail::Dims<k0, k1, k2, k3, k4> {
    using detail::Dims<k0, k1, k2, k3, k4>::Dims;
};

// Elements from one index to the next in each dimension.
template <int k0 = DYNAMIC, int k1 = DYNAMIC, int k2 = DYNAMIC, int k3 = DYNAMIC, int k4 = DYNAMIC>
struct Stride : detail::Dims<k0, k1, k2, k3, k4> {
    using detail::Dims<k0, k1, k2, k3, k4>::Dims;
};

template <class T, class ShapeType, class StrideType, Layout kLayout = Layout::ND>
class GlobalTensor {
    static_assert(kLayout == Layout::ND, "only Layout::ND is supported");

public:
    using DType = T;

    GlobalTensor(T* data, ShapeType shape = {}, StrideType stride = {})  // NOLINT
        : data_(data), shape_(shape), stride_(stride) {}

    T* data() const { return data_; }
    std::int64_t GetShape(int dim) const { return shape_[dim]; }
    std::int64_t GetStride(int dim) const { return stride_[dim]; }

private:
    T* data_;
    ShapeType shape_;
    StrideType stride_;
};

// A tile is rows x columns of elements in tile memory, of which the first valid rows and columns
// count. TASSIGN says where it is.
template <TileType kType, class T, int kRows, int kCols, BLayout kLayout = BLayout::RowMajor,
          int kValidRow = kRows, int kValidCol = kCols, auto... kMore>
class Tile {
    static_assert(kType == TileType::Vec, "only TileType::Vec is supported");
    static_assert(kLayout == BLayout::RowMajor, "only BLayout::RowMajor is supported");
    static_assert(kRows > 0 && kCols > 0, "a tile has at least one row and one column");
    static_assert(
        kCols * sizeof(T) % 32 == 0,
        "a row of a row-major tile is a multiple of 32 bytes: pad the columns and give the "
        "valid ones");
    static_assert(kValidRow == DYNAMIC || kValidRow <= kRows, "more valid rows than rows");
    static_assert(kValidCol == DYNAMIC || kValidCol <= kCols, "more valid columns than columns");
    static constexpr int kDynamic = (kValidRow == DYNAMIC ? 1 : 0) + (kValidCol == DYNAMIC ? 1 : 0);

public:
    using DType = T;
    static constexpr int Rows = kRows;
    static constexpr int Cols = kCols;

    // The valid rows and columns that are dynamic, in this order.
    template <class... Numbers>
    explicit Tile(Numbers... numbers) {
        static_assert(sizeof...(Numbers) == kDynamic || sizeof...(Numbers) == 0,
                      "give exactly the valid rows and columns that are dynamic");
        const int given[sizeof...(Numbers) + 1] = {static_cast<int>(numbers)..., 0};
        if constexpr (sizeof...(Numbers) == kDynamic) {
            if constexpr (kValidRow == DYNAMIC) rows_ = given[0];
            if constexpr (kValidCol == DYNAMIC) cols_ = given[kDynamic - 1];
        }
    }

    int GetValidRow() const { return rows_; }
    int GetValidCol() const { return cols_; }

    template <class Never = T>
    Never* data() const {
        static_assert(detail::kNever<Never>,
                      "Tile::data() is not supported: the contents of a tile are known to "
                      "instructions only");
        return nullptr;
    }

    void assign(std::uint64_t offset) {
        offset_ = offset;
        is_assigned_ = true;
    }
    trace::TileOperand operand() const {
        return {offset_, is_assigned_, trace::type_of<T>, kCols, kRows, rows_, cols_};
    }

private:
    std::uint64_t offset_ = 0;
    bool is_assigned_ = false;
    int rows_ = kValidRow == DYNAMIC ? kRows : kValidRow;
    int cols_ = kValidCol == DYNAMIC ? kCols : kValidCol;
};

namespace detail {

template <class Global>
trace::MemoryOperand memory_operand(const Global& global) {
    trace::MemoryOperand operand;
    operand.address = reinterpret_cast<std::uint64_t>(global.data());
    operand.type = trace::type_of<typename Global::DType>;
    for (int dim = 0; dim < 5; ++dim) {
        operand.shape[dim] = global.GetShape(dim);
        operand.stride[dim] = global.GetStride(dim);
    }
    return operand;
}

}  // namespace detail

}  // namespace pto
