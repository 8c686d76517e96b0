;; component: … types world libc main instance exports
;; Uses a memory with 64-bit addresses.
  (core module (memory i64 1))
