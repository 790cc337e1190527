// Session: Tensors whose values are computed on a device when they are wanted (tinygrad's Tensor.realize). A Tensor that has been realized
// keeps its values in the device's memory, and whatever is computed from it reads them there.
//
//   Session session(make_device("c"));
//   Tensor x = session.from(array);          // its values are copied to the device
//   Tensor y = session.realize(x.exp().sum({0}));
//   Array values = session.values(y + 1);
//   session.assign(x, x - y);                // x has new values in the same memory
//
// A session and its tensors belong to one thread. Sizes may hold Variables: bind() gives them values, and so does an array that is
// copied into a tensor of such a shape. What is realized keeps its memory until it is released; constants of expressions and the graph's
// nodes stay until the session ends. So what is done again and again is recorded (jit/tinyjit.h): a replay adds a node for each result.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "device/buffer.h"
#include "device/device.h"
#include "interp/interp.h"
#include "ir/array.h"
#include "lazy/graph.h"
#include "lazy/tensor.h"
#include "program/program.h"

namespace etch {

class CacheCollector;

/// Where the values of a realized Tensor are.
class RealizedBuffer : public Realized {
 public:
  RealizedBuffer(std::shared_ptr<Buffer> memory, VarValues values) : buffer(std::move(memory)), vars(std::move(values)) {}
  std::shared_ptr<Buffer> buffer;  // null: it was released
  VarValues vars;                  // of the Variables in its shape
};

class Session {
 public:
  /// A null `device` is the default one. Throws DeviceError if it is not available.
  explicit Session(std::shared_ptr<const Device> device = nullptr);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const Device& device() const { return *device_; }
  LazyGraph& graph() { return *graph_; }
  /// A size that may be any of min to max; an identifier of C that no loop's counter has. A name that is known gives the same variable.
  /// Throws DeviceError, also for a known name with another range.
  Sint variable(const std::string& name, std::int64_t min, std::int64_t max);
  /// From now on the variable has that value in everything that is realized; unbind takes it away.
  void bind(Sint variable, std::int64_t value);
  void unbind(Sint variable);
  const VarValues& bound() const { return bound_; }

  /// A realized tensor with these values. `shape`, if it is given, may hold Variables, each as a size of its own: their values are those of
  /// the array's sizes, and the memory holds the largest. Throws DeviceError.
  Tensor from(const Array& values);
  Tensor from(const Array& values, const Shape& shape);
  /// A realized tensor with any values.
  Tensor empty(DType dtype, const Shape& shape);
  /// Uniform numbers of [0, 1) in a float type. Each call, also of a recorded function, draws the next ones of the sequence that
  /// manual_seed begins.
  Tensor rand(const Shape& shape, DType dtype = DType::Float32);
  void manual_seed(std::uint64_t seed);
  /// What rand() draws from next, a realized tensor of uint32 [4]: the seed in two words, the lower first, and how many numbers were drawn
  /// of its sequence, likewise. Whoever sets its values (set_values) goes on from there, also in recorded functions.
  const Tensor& random_state();

  /// Computes tensors, all in one schedule. The results have the same values and are realized; a tensor that is the whole of what was
  /// computed is so itself. Throws DeviceError.
  std::vector<Tensor> realize(const std::vector<Tensor>& tensors);
  Tensor realize(const Tensor& tensor) { return realize(std::vector<Tensor>{tensor}).front(); }
  /// The values, which are realized first, on the host. What has no other name keeps its memory until the session ends.
  Array values(const Tensor& tensor);

  struct Assignment {
    Tensor target, value;
  };
  /// Gives realized tensors new values of their shape and type, in the memory that they have. All values are computed from what the
  /// targets were before. A value that was not realized is its target's memory from then on. Throws DeviceError.
  void assign(const std::vector<Assignment>& assignments);
  void assign(const Tensor& target, const Tensor& value) { assign(std::vector<Assignment>{{target, value}}); }
  /// Gives a realized tensor, whose sizes are numbers, the values of an array of its shape and type. Throws DeviceError.
  void set_values(const Tensor& target, const Array& values);
  /// Returns the memory of a realized tensor, which can't be read any more.
  void release(const Tensor& tensor);

  /// The memory of a tensor that is realized as a whole, in order; null for all others. Throws DeviceError if it was released.
  static const RealizedBuffer* realized(const Tensor& tensor);
  /// A realized tensor over memory.
  Tensor over(std::shared_ptr<Buffer> buffer, const Shape& shape, VarValues vars);
  /// While it is not null, whatever runs is recorded there too.
  void collect(CacheCollector* collector) { collector_ = collector; }
  bool is_recorded() const { return collector_ != nullptr; }
  /// Memory of realized tensors.
  struct MemoryLog {
    std::set<std::shared_ptr<Buffer>> made, assigned;
  };
  /// While it is not null, memory is listed there when it is made or assigned; returns what was set before.
  MemoryLog* log_memory(MemoryLog* log) { return std::exchange(log_, log); }

 private:
  friend class SessionRun;
  using Memory = std::shared_ptr<Buffer>;

  /// Realizes into `memory`, where it is given; `vars`: values that the Variables have there.
  std::vector<Tensor> realize(const std::vector<Tensor>& tensors, const std::vector<Memory>& memory, const std::vector<VarValues>& vars);
  Array first_random_state() const;
  Memory constant(const Array& data);
  std::shared_ptr<JITRunner> runner(const ProgramKernel& kernel);
  void check_own(const Tensor& tensor) const;
  void forbid_host(const std::string& what) const;

  std::shared_ptr<const Device> device_;
  std::shared_ptr<LazyGraph> graph_;
  VarValues bound_;
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> ranges_;       // of variables, by name
  std::map<std::uint64_t, std::vector<std::pair<Array, Memory>>> constants_;  // by the hash of their content
  std::map<const LazyOp*, std::shared_ptr<JITRunner>> runners_;               // look-up only
  std::uint64_t seed_ = 0;
  Tensor random_state_;  // key and counter, two words each
  CacheCollector* collector_ = nullptr;
  MemoryLog* log_ = nullptr;
};

}  // namespace etch
