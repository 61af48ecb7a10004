// A fixed set of threads that run the same function together.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace aligner {

class ThreadPool {
 public:
  /// `threads` counts the calling thread.
  explicit ThreadPool(unsigned threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  unsigned size() const { return static_cast<unsigned>(workers_.size()) + 1; }

  /// Runs task(0) … task(size() - 1) at the same time, and returns when all have ended.
  void run(const std::function<void(unsigned)>& task);

  /// Runs task(thread, begin, end) for pieces of `step` out of 0 … count - 1, whoever is free
  /// taking the next: for work whose result does not depend on who does it.
  void for_each_range(std::uint64_t count, std::uint64_t step,
                      const std::function<void(unsigned, std::uint64_t, std::uint64_t)>& task);

 private:
  void work(unsigned thread);
  void call(unsigned thread);

  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable start_;
  std::condition_variable done_;
  const std::function<void(unsigned)>* task_ = nullptr;
  std::uint64_t round_ = 0;
  unsigned running_ = 0;
  std::exception_ptr failure_;
  bool stopping_ = false;
};

}  // namespace aligner
