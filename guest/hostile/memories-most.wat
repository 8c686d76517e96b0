;; component: types world libc main instance exports
;; Has 4 memories, which is the most.
  (core module $small (memory 1))
  (core instance (instantiate $small))
  (core instance (instantiate $small))
  (core instance (instantiate $small))
