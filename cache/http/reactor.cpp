#include "cache/http/reactor.h"

#include <curl/curl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "base/error.h"

namespace hf::cache {
namespace {

using std::chrono::milliseconds;

std::uint32_t events_of(int what) {
  return (what & CURL_POLL_IN ? EPOLLIN : 0u) | (what & CURL_POLL_OUT ? EPOLLOUT : 0u);
}

}  // namespace

// What libcurl calls; nothing here throws.
struct Reactor::Callbacks {
  // Interest is handed to the kernel just before waiting: most transfers end and begin on the same socket
  // in between, which then costs nothing. Sockets that libcurl opens and closes by itself cannot wait.
  static int on_socket(CURL*, curl_socket_t fd, int what, void* data, void*) {
    const auto& group = *static_cast<Group*>(data);
    Socket& socket = group.reactor->socket_of(fd);
    socket.multi = group.multi;
    socket.wanted = what == CURL_POLL_REMOVE ? 0 : events_of(what);
    if (!socket.ours)
      group.reactor->apply(fd);
    else if (!std::exchange(socket.changed, true))
      group.reactor->changed_.push_back(fd);
    return 0;
  }

  static int on_timer(CURLM*, long wait_ms, void* data) {
    auto& group = *static_cast<Group*>(data);
    group.deadline.reset();
    if (wait_ms >= 0) group.deadline = Clock::now() + milliseconds(wait_ms);
    return 0;
  }

  static curl_socket_t open(void* data, curlsocktype, curl_sockaddr* address) {
    const int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (fd < 0) return CURL_SOCKET_BAD;
    Socket& opened = static_cast<Reactor*>(data)->socket_of(fd);
    opened.ours = true;
    opened.registered = opened.wanted = 0;
    return fd;
  }

  static int close(void* data, curl_socket_t fd) {
    Socket& closed = static_cast<Reactor*>(data)->socket_of(fd);
    closed.ours = false;
    closed.registered = closed.wanted = 0;  // the kernel forgets it by itself
    return ::close(fd);
  }
};

Reactor::Reactor(std::size_t streams, std::size_t shared_connections, std::size_t idle_connections) {
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = wake_;
  if (epoll_ < 0 || wake_ < 0 || epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event) != 0)
    throw system_error("waiting for the network", errno);
  for (Group& group : groups_) {
    CURLM* multi = curl_multi_init();
    if (multi == nullptr) throw std::bad_alloc();
    group = {this, multi, {}};
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, &Callbacks::on_socket);
    curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, &group);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, &Callbacks::on_timer);
    curl_multi_setopt(multi, CURLMOPT_TIMERDATA, &group);
  }
  const auto set = [&](Set which, CURLMoption option, long value) {
    curl_multi_setopt(static_cast<CURLM*>(groups_[which].multi), option, value);
  };
  set(shared, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
  set(shared, CURLMOPT_MAX_CONCURRENT_STREAMS, static_cast<long>(streams));
  set(shared, CURLMOPT_MAX_HOST_CONNECTIONS, static_cast<long>(shared_connections));
  set(single, CURLMOPT_PIPELINING, CURLPIPE_NOTHING);
  set(single, CURLMOPT_MAXCONNECTS, static_cast<long>(idle_connections));
}

Reactor::~Reactor() {
  for (const Group& group : groups_) curl_multi_cleanup(group.multi);
  close(wake_);
  close(epoll_);
}

void Reactor::add(void* easy, Set set) {
  if (curl_multi_add_handle(groups_[set].multi, easy) != CURLM_OK)
    throw Error(ErrorKind::internal, "libcurl: does not take a transfer");
}

void Reactor::remove(void* easy, Set set) { curl_multi_remove_handle(groups_[set].multi, easy); }

void Reactor::watch(void* easy) {
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, &Callbacks::open);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, this);
  curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, &Callbacks::close);
  curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, this);
}

bool Reactor::take_ended(void*& easy, int& code) {
  for (const Group& group : groups_) {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(group.multi, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      easy = message->easy_handle;
      code = message->data.result;
      return true;
    }
  }
  return false;
}

void Reactor::after(milliseconds wait, Work work) {
  const std::lock_guard lock(mutex_);
  timers_.emplace(Clock::now() + wait, std::move(work));
  wake();
}

void Reactor::post(Work work) {
  const std::lock_guard lock(mutex_);
  posted_.push_back(std::move(work));
  if (posted_.size() == 1) wake();
}

void Reactor::wake() {
  const std::uint64_t one = 1;
  if (write(wake_, &one, sizeof one) < 0) return;  // the counter is full: it is awake already
}

// What the work itself posts comes the next time.
bool Reactor::run_due() {
  bool any = false;
  std::unique_lock lock(mutex_);
  for (std::size_t left = posted_.size(); left > 0 && !posted_.empty(); --left) {
    const Work work = std::move(posted_.front());
    posted_.pop_front();
    lock.unlock();
    work();
    any = true;
    lock.lock();
  }
  const auto now = Clock::now();
  while (!timers_.empty() && timers_.begin()->first <= now) {
    const Work work = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
    lock.unlock();
    work();
    any = true;
    lock.lock();
  }
  return any;
}

void Reactor::kick() {
  const auto now = Clock::now();
  for (Group& group : groups_) {
    if (!group.deadline || *group.deadline > now) continue;
    group.deadline.reset();
    int running = 0;
    curl_multi_socket_action(group.multi, CURL_SOCKET_TIMEOUT, 0, &running);
  }
}

void Reactor::wait(Clock::time_point until) {
  for (const Group& group : groups_)
    if (group.deadline) until = std::min(until, *group.deadline);
  {
    const std::lock_guard lock(mutex_);
    if (!timers_.empty()) until = std::min(until, timers_.begin()->first);
    if (!posted_.empty()) until = Clock::time_point{};
  }
  apply_changes();
  const auto left = std::chrono::ceil<milliseconds>(until - Clock::now()).count();
  handle_events(static_cast<int>(std::max<std::int64_t>(left, 0)));
}

void Reactor::handle_events(int timeout_ms) {
  std::array<epoll_event, 64> events;
  const int count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), timeout_ms);
  for (int i = 0; i < count; ++i) {
    const auto& event = events[static_cast<std::size_t>(i)];
    const int fd = event.data.fd;
    if (fd == wake_) {
      drain_wake();
      continue;
    }
    const Socket& socket = socket_of(fd);
    if (socket.multi == nullptr || socket.wanted == 0) continue;  // an event before this one ended it
    const int what = (event.events & EPOLLIN ? CURL_CSELECT_IN : 0) |
                     (event.events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
                     (event.events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
    int running = 0;
    curl_multi_socket_action(socket.multi, fd, what, &running);
  }
}

void Reactor::drain_wake() {
  std::uint64_t count = 0;
  if (read(wake_, &count, sizeof count) < 0) return;  // another wake-up has taken it
}

Reactor::Socket& Reactor::socket_of(int fd) {
  const auto index = static_cast<std::size_t>(fd);
  if (index >= sockets_.size()) sockets_.resize(index + 64);
  return sockets_[index];
}

void Reactor::apply_changes() {
  for (const int fd : changed_) {
    socket_of(fd).changed = false;
    apply(fd);
  }
  changed_.clear();
}

void Reactor::apply(int fd) {
  Socket& socket = socket_of(fd);
  if (socket.wanted == socket.registered) return;
  epoll_event event{};
  event.events = socket.wanted;
  event.data.fd = fd;
  const int how = socket.wanted == 0 ? EPOLL_CTL_DEL : socket.registered == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  epoll_ctl(epoll_, how, fd, &event);
  socket.registered = socket.wanted;
}

}  // namespace hf::cache
