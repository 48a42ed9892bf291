// SPDX-License-Identifier: Apache-2.0
// peal show --after and --passes: the road from a program to its lowered form, pass by pass.
#include <gtest/gtest.h>

#include "cli/command.hpp"

namespace peal::test {
namespace show_test {

constexpr const char* kProgram = R"(
kernel meet(sig: window i32[nranks]) {
    barrier(sig, recipe=mesh)
}
kernel main(inp: in f32[4], out: out f32[4], sig: window i32[nranks]) {
    out = inp
    meet(sig)
}
)";

constexpr const char* kEveryPass = R"(# as written
kernel main(inp: in f32[4], out: out f32[4], sig: window i32[nranks]) {
    tensor.copy(out, 0, inp, 0, 4)
    meet(sig)
}

# InlineCalls
  kernel main(inp: in f32[4], out: out f32[4], sig: window i32[nranks]) {
      tensor.copy(out, 0, inp, 0, 4)
-     meet(sig)
+     pld.system.barrier(sig, recipe=mesh)
  }

# ConvertTensorToTileOps
- kernel main(inp: in f32[4], out: out f32[4], sig: window i32[nranks]) {
-     tensor.copy(out, 0, inp, 0, 4)
+ kernel main(inp: in f32[4], out: out f32[4], sig: inout window i32[nranks]) {
+     let tile = tile.load(inp, 0, 4)
+     tile.store(tile, out, 0)
      pld.system.barrier(sig, recipe=mesh)
  }

# LowerCompositeOps
  kernel main(inp: in f32[4], out: out f32[4], sig: inout window i32[nranks]) {
      let tile = tile.load(inp, 0, 4)
      tile.store(tile, out, 0)
-     pld.system.barrier(sig, recipe=mesh)
+     pld.system.require(1 * nranks, nranks, cmp=ge)
+     for peer in 0..nranks {
+         if peer != rank {
+             pld.system.notify(sig, peer, rank, pld.system.generation(sig) + 1, op=set)
+         }
+     }
+     for peer_1 in 0..nranks {
+         if peer_1 != rank {
+             pld.system.wait(sig, peer_1, pld.system.generation(sig) + 1, cmp=ge)
+         }
+     }
+     pld.system.advance(sig, 1)
  }

# Simplify
  kernel main(inp: in f32[4], out: out f32[4], sig: inout window i32[nranks]) {
      let tile = tile.load(inp, 0, 4)
      tile.store(tile, out, 0)
-     pld.system.require(1 * nranks, nranks, cmp=ge)
      for peer in 0..nranks {
          if peer != rank {
              pld.system.notify(sig, peer, rank, pld.system.generation(sig) + 1, op=set)
          }
      }
      for peer_1 in 0..nranks {
          if peer_1 != rank {
              pld.system.wait(sig, peer_1, pld.system.generation(sig) + 1, cmp=ge)
          }
      }
      pld.system.advance(sig, 1)
  }
)";

std::string shown(const std::vector<std::string>& options) {
    const TemporaryFile file("meet.peal", kProgram);
    std::vector<std::string> arguments = {"show", file.path() + ":main"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Ran ran = peal(arguments);
    EXPECT_EQ(ran.exit_code, 0);
    EXPECT_EQ(ran.err, "");
    return ran.out;
}

TEST(ShowPasses, EachPassShowsWhatItChanges) { EXPECT_EQ(shown({"--passes"}), kEveryPass); }

TEST(ShowPasses, AfterOnePass) {
    EXPECT_EQ(shown({"--after", "ConvertTensorToTileOps"}),
              R"(kernel main(inp: in f32[4], out: out f32[4], sig: inout window i32[nranks]) {
    let tile = tile.load(inp, 0, 4)
    tile.store(tile, out, 0)
    pld.system.barrier(sig, recipe=mesh)
}
)");
}

TEST(ShowPasses, OfALoweredProgramNoneChangesAnything) {
    const TemporaryFile file("lowered.peal", shown({"--lowered"}));
    const Ran ran = peal({"show", file.path(), "--passes"});
    EXPECT_EQ(ran.out, "# as written\n" + shown({"--lowered"}) + R"(
# InlineCalls: nothing changes

# ConvertTensorToTileOps: nothing changes

# LowerCompositeOps: nothing changes

# Simplify: nothing changes
)");
}

TEST(ShowPasses, AfterTheLastPassItIsLowered) {
    EXPECT_EQ(shown({"--after", "Simplify"}), shown({"--lowered"}));
}

}  // namespace show_test
}  // namespace peal::test
