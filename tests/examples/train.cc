// train: a network from nothing to C. It is defined with layers, trained by recorded steps on pictures that this file draws, saved, loaded
// again, and emitted with its weights. nn/trainer.h is such a loop with labels checked, progress and checkpoints; this one is by hand.
//
//   pictures -> layers -> loss -> gradients -> optimiser, recorded once -> weights in a file -> ONNX -> C
#include <cstdio>
#include <cstdlib>

#include "etch.h"

using namespace etch;

// Every claim below is checked, and printed once it is. Figures are rounded: other machines sum in another order.
static void expect(bool holds, const char* claim) {
  std::printf("%s%s\n", holds ? "" : "this should hold: ", claim);
  if (!holds) std::exit(1);
}

static void title(const char* text) { std::printf("\n=== %s\n", text); }

// --- Pictures of 8 x 8: a bar that lies, stands, falls to the right or to the left, somewhere, in noise.

constexpr std::int64_t kSize = 8, kClasses = 4;

struct Batch {
  Array pictures, labels;  // float32 [N, 1, 8, 8], int32 [N]
};

static Batch draw(unsigned seed, std::int64_t count) {
  const auto below = [&seed](unsigned n) { return (seed = seed * 1664525u + 1013904223u) / 65536 % n; };
  std::vector<double> pixels;
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < count; i++) {
    const std::int64_t label = below(kClasses), place = 2 + below(4);
    for (std::int64_t y = 0; y < kSize; y++)
      for (std::int64_t x = 0; x < kSize; x++) {
        const bool on[] = {y == place, x == place, x - y == place - 4, x + y == place + 4};
        pixels.push_back((on[label] ? 0.8 : 0.0) + 0.01 * below(20));
      }
    labels.push_back(label);
  }
  return {Array::of_doubles(DType::Float32, {count, 1, kSize, kSize}, pixels), Array::of_ints(DType::Int32, {count}, labels)};
}

static void show(const Batch& batch, std::int64_t count) {
  for (std::int64_t y = 0; y < kSize; y++, std::printf("\n"))
    for (std::int64_t i = 0; i < count; i++, std::printf("  "))
      for (std::int64_t x = 0; x < kSize; x++) std::printf("%c", batch.pictures.double_at((i * kSize + y) * kSize + x) < 0.5 ? '.' : '#');
}

// --- The network: layers are structs that own tensors, a network is a struct of layers, and calling it adds to the graph.

struct Network {
  nn::Conv2d conv;
  nn::Linear out;

  explicit Network(Session& session) : conv(session, 1, 6, {3, 3}), out(session, 6 * 3 * 3, kClasses) {}

  Tensor operator()(const Tensor& x) const {
    const Window pool{.kernel = {2, 2}, .stride = {2, 2}};
    return out(conv(x).relu().max_pool(pool).flatten(1));
  }
  nn::StateDict state() const {
    nn::StateDict state;
    nn::add(state, "conv.", conv.members());
    nn::add(state, "out.", out.members());
    return state;
  }
};

static double accuracy(Session& session, const Network& network, const Batch& batch) {
  return session.values(nn::accuracy(network(session.from(batch.pictures)), session.from(batch.labels))).double_at(0);
}

// --- Training. backward() finds a gradient for each parameter, by rules of the functions that the loss was computed with; the optimiser
// assigns new values. A TinyJit records all that as a list of kernels in call 1; from then on a step is that list.

static void train(Session& session, const Network& network, int steps) {
  nn::Optimizer optimizer(session, nn::parameters(network.state()), nn::adam(), 0.01);
  TinyJit step(session, [&](const std::vector<Tensor>& in) {
    optimizer.zero_grad();
    const Tensor loss = nn::sparse_categorical_crossentropy(network(in[0]), in[1]);
    loss.backward();
    optimizer.step();
    return std::vector{loss};
  });
  double first = 0, last = 0;
  for (int i = 0; i < steps; i++) {
    const Batch batch = draw(static_cast<unsigned>(1000 + i), 32);
    const Tensor x = session.from(batch.pictures), labels = session.from(batch.labels), loss = step({x, labels}).at(0);
    last = session.values(loss).double_at(0);
    if (i == 0) first = last;
    for (const Tensor& t : {x, labels, loss}) session.release(t);
  }
  std::printf("%d steps of 32 pictures, of which 2 were traced\n", steps);
  std::int64_t kernels = 0;
  for (const JitItem& item : step.jit_cache().items) kernels += item.prg->kernels();  // the device may run many as one item
  expect(step.count() == steps && kernels > 10, "the others replayed a list of kernels");
  expect(first > 1.0 && first < 2.0, "the first loss is near log(4) = 1.39, as of guesses");
  expect(last < 0.1, "the last loss is below 0.1");
}

// --- The same network as an ONNX file, with the weights that it has now; and from there the way of every model.

static void write_onnx(Session& session, const Network& network, const std::filesystem::path& file) {
  using Ints = GraphBuilder::Ints;
  GraphBuilder g("bars", 17);
  for (const nn::NamedTensor& m : network.state()) g.initializer(m.name, session.values(m.tensor));
  const std::string x = g.input("picture", DType::Float32, {1, 1, kSize, kSize});
  const std::string seen = g.relu(g.node("Conv", {x, "conv.weight", "conv.bias"}, {}, "conv"));
  const std::string rows = g.node("Flatten", {g.node("MaxPool", {seen}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}}, "pool")});
  g.output(g.node("Gemm", {rows, "out.weight", "out.bias"}, {{"transB", 1}}, "logits"), DType::Float32, {1, kClasses});
  g.write(file);
}

static void emit(Session& session, const Network& network, const std::filesystem::path& folder) {
  write_onnx(session, network, folder / "bars.onnx");
  CompileOptions options;
  options.import.path = folder / "bars.onnx";
  options.target = find_target("c99", target_dirs());
  const Frontend frontend = read_model(options);
  const WrittenProject written = write_audited(folder / "out", compile_project(frontend, options), options);
  for (const std::string& name : written.report.files)
    if (name.starts_with("bars")) std::printf("%s\n", name.c_str());
  std::printf("%lld bytes of weights, %lld multiply-accumulates\n", static_cast<long long>(written.report.weights_bytes),
              static_cast<long long>(written.report.macs));
  expect(audit_directory(folder / "out").ok(), "the audit finds nothing in the emitted C");
  expect(run_on_target(folder / "out", options.target, "bars_run").ok, "built, it passes its self-test");

  // The program that was emitted, on a device, against the network in the session.
  const auto device = make_device("c");
  const Program program = lower_model(frontend, device->language(), options);
  const auto loaded = device->load(program);
  double furthest = 0;
  for (unsigned seed = 0; seed < 20; seed++) {
    const Batch one = draw(seed, 1);
    const Array emitted = loaded->run({one.pictures}).at(0), own = session.values(network(session.from(one.pictures)));
    for (std::int64_t i = 0; i < kClasses; i++) furthest = std::max(furthest, std::abs(emitted.double_at(i) - own.double_at(i)));
  }
  expect(furthest < 1e-4, "it computes the logits of the network that was trained");
}

int main() {
  const TempDir folder("etch-train");

  title("Pictures");
  show(draw(1, 6), 6);

  title("Training");
  Session session(make_device("c"));
  session.manual_seed(1);
  const Network network(session);
  const Batch fresh = draw(7, 400);
  train(session, network, 200);
  expect(accuracy(session, network, fresh) > 0.97, "of 400 fresh pictures more than 97 % are read right");

  title("A file of weights");
  nn::save(session, network.state(), folder.path() / "bars.safetensors");
  Session another(make_device("interp"));
  another.manual_seed(2);
  const Network empty(another);
  expect(accuracy(another, empty, fresh) < 0.6, "a new network guesses");
  nn::load(another, empty.state(), folder.path() / "bars.safetensors");
  expect(accuracy(another, empty, fresh) > 0.97, "with the weights of the file it reads, on another backend too");
  for (const auto& [name, array] : nn::read_safetensors(folder.path() / "bars.safetensors"))
    std::printf("%-12s %s %s\n", name.c_str(), std::string(name_of(array.dtype())).c_str(),
                shape_text(Shape(array.shape().begin(), array.shape().end())).c_str());

  title("C");
  emit(session, network, folder.path());
}
