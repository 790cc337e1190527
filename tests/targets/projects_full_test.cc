// Emitted projects for the other boards: with ./dev test --full.
#include "projects.h"

namespace etch {
namespace {

std::vector<test::BoardRow> with_memories() {
  std::vector<test::BoardRow> rows = test::other_boards();
  std::erase_if(rows, [](const test::BoardRow& row) { return test::board_target(row.target).memories.empty(); });
  return rows;
}

INSTANTIATE_TEST_SUITE_P(Others, Board, testing::ValuesIn(test::other_boards()), test::BoardName());
INSTANTIATE_TEST_SUITE_P(Others, BoardMemory, testing::ValuesIn(with_memories()), test::BoardName());

}  // namespace
}  // namespace etch
