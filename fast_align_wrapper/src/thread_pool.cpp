#include "thread_pool.hpp"

#include <algorithm>
#include <utility>

namespace aligner {

ThreadPool::ThreadPool(unsigned threads) {
  for (unsigned thread = 1; thread < threads; ++thread) {
    workers_.emplace_back([this, thread] { work(thread); });
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  start_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::call(unsigned thread) {
  try {
    (*task_)(thread);
  } catch (...) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
}

void ThreadPool::work(unsigned thread) {
  std::uint64_t seen = 0;
  for (;;) {
    {
      std::unique_lock<std::mutex> lock(mutex_);
      start_.wait(lock, [&] { return stopping_ || round_ != seen; });
      if (stopping_) return;
      seen = round_;
    }
    call(thread);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (--running_ == 0) done_.notify_one();
  }
}

void ThreadPool::run(const std::function<void(unsigned)>& task) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    task_ = &task;
    running_ = size() - 1;
    ++round_;
  }
  start_.notify_all();
  call(0);
  std::unique_lock<std::mutex> lock(mutex_);
  done_.wait(lock, [&] { return running_ == 0; });
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void ThreadPool::for_each_range(
    std::uint64_t count, std::uint64_t step,
    const std::function<void(unsigned, std::uint64_t, std::uint64_t)>& task) {
  std::atomic<std::uint64_t> next{0};
  run([&](unsigned thread) {
    for (;;) {
      const std::uint64_t begin = next.fetch_add(step);
      if (begin >= count) return;
      task(thread, begin, std::min(count, begin + step));
    }
  });
}

}  // namespace aligner
