// Runs a Schedule by the reference, item after item.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "interp/interp.h"
#include "schedule/schedule.h"

namespace etch::test {

/// The outputs in order, given the inputs by name and the values of variables.
inline std::vector<Array> run_schedule(const Schedule& schedule, const std::map<std::string, Array>& inputs, const VarValues& vars = {}) {
  std::map<const LazyBuffer*, Array> memory;
  for (const LazyBuffer* b : schedule.inputs) memory.emplace(b, inputs.at(b->name));
  for (const ScheduleItem& item : schedule.items) {
    std::vector<const Array*> arrays;
    for (const LazyBuffer* b : item.inputs) arrays.push_back(b->kind == LazyKind::Data ? &b->data : &memory.at(b));
    memory[item.out] = interp_evaluate(item.ast, arrays, vars);
  }
  std::vector<Array> outputs;
  for (const ScheduledOutput& o : schedule.outputs) {
    std::vector<std::int64_t> shape;
    for (const Sint& d : o.shape) shape.push_back(evaluate(d, vars));
    const auto it = memory.find(o.buffer);
    outputs.push_back(it == memory.end() ? Array::filled(o.buffer->dtype, shape, Scalar::of_int(o.buffer->dtype, 0))
                                         : it->second.reshaped(shape));
  }
  return outputs;
}

}  // namespace etch::test
