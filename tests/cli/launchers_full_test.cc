// etch tune --launcher with engines that people have: GNU parallel, xargs, and Slurm with one node that is started for the test.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <random>
#include <thread>

#include "base/files.h"
#include "base/tempdir.h"
#include "quant/convs.h"
#include "support/boards.h"
#include "support/files.h"
#include "support/tool.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

class Engines : public testing::Test {
 protected:
  Engines() {
    std::mt19937 rng(1);
    const auto convs = test::convs::chain({test::convs::random_conv(rng, 4, 6, 4, 1), test::convs::random_conv(rng, 6, 4, 4, 1)});
    write_file(model_, test::convs::net_of(convs, "cortex-m4f").options.import.bytes);
  }
  void SetUp() override {
    if (const std::string missing = test::missing_tools(test::board_target("cortex-m4f")); !missing.empty()) GTEST_SKIP() << missing;
  }

  ProcessResult tune(const std::string& table, const std::vector<std::string>& more) const {
    std::vector<std::string> args{"tune", model_, "--target", "cortex-m4f", "--width", "1", "--rounds", "1", "-o", table};
    args.insert(args.end(), more.begin(), more.end());
    return etch_tool(args);
  }

  // What is found and what it costs are the same as with all units on this machine and without the engine.
  void expect_same(const std::string& launcher) const {
    const std::string here = (work_.path() / "here.opts").string(), there = (work_.path() / "there.opts").string();
    const ProcessResult without = tune(here, {}), with = tune(there, {"--launcher", launcher, "--shared", shared_});
    ASSERT_TRUE(without.ok()) << without.err;
    ASSERT_TRUE(with.ok()) << with.err;
    EXPECT_EQ(with.err, "");
    EXPECT_EQ(with.out.substr(0, with.out.rfind(" rows in ")), without.out.substr(0, without.out.rfind(" rows in ")));
    EXPECT_EQ(read_file(there), read_file(here));
    EXPECT_TRUE(fs::is_empty(shared_));
  }

  const TempDir work_{"etch-engines"};
  const std::string model_ = (work_.path() / "net.onnx").string(), shared_ = (work_.path() / "shared").string();
};

// The first of the programs that is absent, with what to do; empty if all are there.
std::string missing_program(const std::vector<std::string>& names, const std::string& packages) {
  for (const std::string& name : names)
    if (!find_program(name) && !find_program("/usr/sbin/" + name)) return name + " is not installed: apt-get install " + packages;
  return "";
}

TEST_F(Engines, gnu_parallel) {
  if (const std::string missing = missing_program({"parallel"}, "parallel"); !missing.empty()) GTEST_SKIP() << missing;
  const ProcessResult version = run_process({"parallel", "--version"});
  if (version.out.find("GNU parallel") == std::string::npos) GTEST_SKIP() << "the program parallel is not GNU's: apt-get install parallel";
  expect_same("parallel -j2");
}

TEST_F(Engines, xargs) { expect_same("xargs -d '\\n' -P 2 -I{} sh -c {}"); }

// A program that runs until its object ends.
class Daemon {
 public:
  Daemon(const std::string& program, std::vector<std::string> args, const fs::path& log) {
    args.insert(args.begin(), find_program(program) ? find_program(program)->string() : "/usr/sbin/" + program);
    pid_ = fork();
    if (pid_ != 0) return;
    std::vector<char*> argv;
    for (std::string& a : args) argv.push_back(a.data());
    argv.push_back(nullptr);
    if (freopen(log.c_str(), "w", stdout) == nullptr || dup2(1, 2) < 0) _exit(126);
    execv(argv[0], argv.data());
    _exit(127);
  }
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;
  ~Daemon() {
    kill(pid_, SIGTERM);
    for (int i = 0; i < 50 && waitpid(pid_, nullptr, WNOHANG) == 0; i++) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

 private:
  pid_t pid_;
};

// That nothing listens on; another program may take it until it is used.
int free_port() {
  const int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const bool good = bind(file, reinterpret_cast<const sockaddr*>(&address), size) == 0 &&
                    getsockname(file, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  close(file);
  return good ? ntohs(address.sin_port) : 0;
}

// A cluster of this machine alone, with a key, a folder and ports of its own.
class Slurm {
 public:
  explicit Slurm(const fs::path& dir) {
    for (const char* folder : {"state", "spool", "munge"}) fs::create_directories(dir / folder);
    fs::permissions(dir / "munge", fs::perms::owner_all);
    std::string key(1024, '\0');
    std::random_device random;
    for (char& c : key) c = static_cast<char>(random());
    write_file(dir / "munge/key", key);
    fs::permissions(dir / "munge/key", fs::perms::owner_read | fs::perms::owner_write);
    const std::string munge = (dir / "munge/").string();
    const std::string user = first_line({"id", "-un"}), host = first_line({"hostname", "-s"}), conf = (dir / "slurm.conf").string();
    write_file(conf, conf_text(dir.string(), user, host));
    setenv("SLURM_CONF", conf.c_str(), 1);
    start("munged",
          {"--foreground", "--force", "--key-file=" + munge + "key", "--socket=" + munge + "socket", "--pid-file=" + munge + "pid",
           "--log-file=" + munge + "log", "--seed-file=" + munge + "seed"},
          dir);
    start("slurmctld", {"-D", "-f", conf}, dir);
    start("slurmd", {"-D", "-f", conf}, dir);
  }
  ~Slurm() {
    while (!daemons_.empty()) daemons_.pop_back();
    unsetenv("SLURM_CONF");
  }
  Slurm(const Slurm&) = delete;
  Slurm& operator=(const Slurm&) = delete;

  /// Why it runs no job within half a minute; empty if it does.
  static std::string problem() {
    ProcessOptions options;
    options.timeout_s = 10;
    std::string said;
    for (int i = 0; i < 10; i++) {
      const ProcessResult job = run_process({"srun", "-n1", "-Q", "echo", "works"}, options);
      if (job.ok() && job.out == "works\n") return "";
      said = describe(job) + " " + job.err;
      std::this_thread::sleep_for(std::chrono::seconds(1));
    }
    return said;
  }

 private:
  static std::string first_line(const std::vector<std::string>& command) {
    const std::string out = run_process(command).out;
    return out.substr(0, out.find('\n'));
  }

  void start(const std::string& program, const std::vector<std::string>& args, const fs::path& dir) {
    daemons_.push_back(std::make_unique<Daemon>(program, args, dir / (program + ".log")));
  }

  static std::string conf_text(const std::string& dir, const std::string& user, const std::string& host) {
    const int ports[] = {free_port(), free_port()};
    std::string text = "ClusterName=etch\nSlurmctldHost=" + host + "(127.0.0.1)\nSlurmUser=" + user + "\nSlurmdUser=" + user + "\n";
    text += "AuthType=auth/munge\nCredType=cred/munge\nAuthInfo=socket=" + dir + "/munge/socket\n";
    text += fmt::format("SlurmctldPort={}\nSlurmdPort={}\n", ports[0], ports[1]);
    text += "StateSaveLocation=" + dir + "/state\nSlurmdSpoolDir=" + dir + "/spool\n";
    text += "SlurmctldPidFile=" + dir + "/slurmctld.pid\nSlurmdPidFile=" + dir + "/slurmd.pid\n";
    text += "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nMpiDefault=none\nJobAcctGatherType=jobacct_gather/none\n";
    text += "SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\nReturnToService=2\n";
    text += fmt::format("NodeName={} NodeAddr=127.0.0.1 CPUs={} State=UNKNOWN\n", host, std::max(1u, std::thread::hardware_concurrency()));
    return text + "PartitionName=etch Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n";
  }

  std::vector<std::unique_ptr<Daemon>> daemons_;
};

TEST_F(Engines, slurm) {
  const std::string missing = missing_program({"slurmctld", "slurmd", "munged", "srun"}, "slurmctld slurmd munge slurm-client");
  if (!missing.empty()) GTEST_SKIP() << missing;
  const Slurm slurm(work_.path() / "slurm");
  if (const std::string problem = Slurm::problem(); !problem.empty()) GTEST_SKIP() << "Slurm runs no job here: " << problem;
  expect_same("xargs -d '\\n' -P 4 -I{} srun -n1 -Q sh -c {}");
  // A job that Slurm refuses is lost, and told with Slurm's words.
  const ProcessResult refused = tune((work_.path() / "refused.opts").string(),
                                     {"--launcher", "xargs -d '\\n' -I{} srun -n1 -p nowhere sh -c {}", "--shared", shared_});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_NE(refused.err.find("units of work have no result, also not when started once more"), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("invalid partition specified: nowhere"), std::string::npos) << refused.err;
}

}  // namespace
}  // namespace etch
