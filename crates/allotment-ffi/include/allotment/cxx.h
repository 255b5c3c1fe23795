/* allotment/cxx.h: scopes of C++. Included by allotment.h. */
#ifndef ALLOTMENT_CXX_H
#define ALLOTMENT_CXX_H

namespace al {

/* The calling thread is attached to a heap, to the end of the scope. If it cannot be, `code` says
 * why, and the mutator is NULL. */
class Attachment {
 public:
  explicit Attachment(al_heap *heap, al_error *error = nullptr)
      : mu_(nullptr), code_(al_attach(heap, &mu_, error)) {}
  ~Attachment() {
    if (mu_) al_detach(mu_);
  }
  Attachment(const Attachment &) = delete;
  Attachment &operator=(const Attachment &) = delete;
  al_code code() const { return code_; }
  operator al_mutator *() const { return mu_; }

 private:
  al_mutator *mu_;
  al_code code_;
};

/* The thread is blocked, to the end of the scope: it waits for a lock, a file or another thread. */
class Blocked {
 public:
  explicit Blocked(al_mutator *mu) : mu_(mu) { al_block_enter(mu); }
  ~Blocked() { al_block_leave(mu_); }
  Blocked(const Blocked &) = delete;
  Blocked &operator=(const Blocked &) = delete;

 private:
  al_mutator *mu_;
};

/* N variables that are always current, to the end of the scope. The scope ends on the thread that
 * began it. So a coroutine that another thread may resume keeps handles across co_await. */
template <size_t N>
class Locals {
 public:
  explicit Locals(al_mutator *mu_) : values_() { al_link(mu_, &frame_, values_, N); }
  ~Locals() { al_unlink(&frame_); }
  Locals(const Locals &) = delete;
  Locals &operator=(const Locals &) = delete;
  al_value &operator[](size_t index) { return values_[index]; }

  const al_value &operator[](size_t index) const { return values_[index]; }

 private:
  al_frame frame_;
  al_value values_[N];
};

/* An owned root. */
class Handle {
 public:
  Handle(al_mutator *mu, al_value value) : handle_(al_handle_new(mu, value)) {}
  Handle(const Handle &other)
      : handle_(other.handle_ ? al_handle_copy(other.handle_) : nullptr) {}
  Handle(Handle &&other) noexcept : handle_(other.handle_) { other.handle_ = nullptr; }
  ~Handle() { al_handle_free(handle_); }
  Handle &operator=(Handle other) noexcept {
    al_handle *own = handle_;
    handle_ = other.handle_;
    other.handle_ = own;
    return *this;
  }
  al_value get(al_mutator *mu) const { return al_handle_get(mu, handle_); }
  void set(al_mutator *mu, al_value value) { al_handle_set(mu, handle_, value); }

 private:
  al_handle *handle_;
};

/* An object that stays in place to the end of the scope. */
class Pin {
 public:
  Pin(al_mutator *mu, void *object) : pin_(al_pin_new(mu, object)) {}
  ~Pin() { al_pin_free(pin_); }
  Pin(const Pin &) = delete;
  Pin &operator=(const Pin &) = delete;
  void *address() const { return al_pin_address(pin_); }

 private:
  al_pin *pin_;
};

/* [N] The elements after the fixed part of an object, which C++ has no member for:
 * al::tail<al_slot>(vector)[0]. The structure is as large as the fixed part. */
template <typename Element, typename Object>
Element *tail(Object *object) {
  return reinterpret_cast<Element *>(object + 1);
}

} /* namespace al */

#endif /* ALLOTMENT_CXX_H */
