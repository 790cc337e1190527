// A table of rows for the whole process: etch's own rows, and those that a program which uses etch adds (a language, a device).
#pragma once

#include <algorithm>
#include <initializer_list>
#include <utility>
#include <vector>

namespace etch {

template <class Row>
class Table {
 public:
  /// Keeps a row in the table for as long as it lives. The Row itself has to live as long.
  class Added {
   public:
    Added(Table& table, const Row& row) : table_(&table), row_(&row) { table.rows_.push_back(&row); }
    ~Added() { std::erase(table_->rows_, row_); }
    Added(const Added&) = delete;
    Added& operator=(const Added&) = delete;

   private:
    Table* table_;
    const Row* row_;
  };

  Table(std::initializer_list<const Row*> rows) : rows_(rows) {}
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  /// In the order in which they were added, etch's own first. Add rows only at the start of a program: no other thread may read
  /// the table meanwhile.
  const std::vector<const Row*>& rows() const { return rows_; }
  [[nodiscard]] Added add(const Row& row) { return Added(*this, row); }
  /// The first row whose `member` is `value`; null if there is none.
  template <class Member, class Value>
  const Row* find(Member Row::* member, const Value& value) const {
    const auto it = std::ranges::find_if(rows_, [&](const Row* row) { return row->*member == value; });
    return it == rows_.end() ? nullptr : *it;
  }

 private:
  std::vector<const Row*> rows_;
};

}  // namespace etch
